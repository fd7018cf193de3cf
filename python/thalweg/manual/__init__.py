"""The pages of the manual: in a checkout the repository's, in a wheel copies, by `make manual`."""

from __future__ import annotations

import re
from pathlib import Path

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.manual.names import with_names

_HERE = Path(__file__).parent
_NOTE = re.compile(r"^<!--(?!=).*?-->\n|<!--=[\w.-]*-->", re.MULTILINE | re.DOTALL)
"""What pages tell tests, and the names of values in prose."""


def folder() -> Path:
    """Where the pages are."""
    repository = _HERE.parents[2]
    return repository / "docs" if (repository / "docs" / "site").is_dir() else _HERE / "pages"


def titles() -> dict[str, str]:
    """Each page with its first heading: `scenarios`, `how-to/ci`. The front page is the first."""
    at = folder()
    found = {file.relative_to(at).with_suffix("").as_posix(): _title(file) for file in sorted(at.rglob("*.md"))}
    if not found:
        raise RequestError(
            f"there are no pages in {at}; the manual requires a checkout, or a wheel of `make wheels`"
        )
    return {"index": found.pop("index"), **found}


def page(name: str) -> str:
    """The text of a page by its name, or by the last part of it: `ci`, `how-to/ci`, `docs/how-to/ci.md`.

    Raises RequestError.
    """
    known = titles()
    wanted = name.removeprefix("docs/").removesuffix(".md")
    named = [one for one in known if one == wanted] or [one for one in known if one.endswith(f"/{wanted}")]
    if len(named) != 1:
        all_ = f"; all {len(known)} pages: thalweg docs"
        near = did_you_mean(wanted, [*known, *(one.rpartition("/")[2] for one in known)])
        hint = f"; accepted: {', '.join(named)}" if named else near if near.startswith("; did") else all_
        raise RequestError(f"no page {name!r}{hint}")
    return with_names(_NOTE.sub("", (folder() / f"{named[0]}.md").read_text(encoding="utf-8")))


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), "")
