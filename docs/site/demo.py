"""The lab within the site: the page that `make lab` has built, and links to it.

Pages link to it where the site is published, so that their links work anywhere; within the site they lead to the
lab that stands next to them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from thalweg.pages.lab_link import LAB

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = Path(__file__).parents[2] / "python" / "thalweg" / "lab" / "page"
_NAME = "lab"
_MISSING = (
    "<!doctype html><html lang=en><title>Thalweg lab</title><p>This build has no lab: make lab, then make site."
)


def beside(address: str, page: str) -> str:
    """The address of something in the published lab, as a page of the site reaches its own lab.

    >>> beside("https://thalweg.github.io/thalweg/lab/#lesson=marks", "docs/how-to/lab")
    '../../lab/index.html#lesson=marks'
    """
    return "../" * page.count("/") + f"{_NAME}/index.html" + address.removeprefix(LAB)


class Beside(SphinxPostTransform):
    """Applies this to all links to the lab."""

    default_priority = 900

    def run(self, **_: object) -> None:
        """For Sphinx."""
        for link in list(self.document.findall(nodes.reference)):
            if str(link.get("refuri", "")).startswith(LAB):
                link["refuri"] = beside(link["refuri"], self.env.docname)


def _copy(app: Sphinx, error: Exception | None) -> None:
    if error is not None:
        return
    target = Path(app.outdir) / _NAME
    shutil.rmtree(target, ignore_errors=True)
    if (PAGE / "index.html").is_file():
        shutil.copytree(PAGE, target)
        return
    assert "CI" not in os.environ, "the page of the lab is missing: make lab"
    target.mkdir()
    (target / "index.html").write_text(_MISSING, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """For Sphinx."""
    app.add_post_transform(Beside)
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
