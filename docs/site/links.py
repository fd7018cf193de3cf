"""Links of pages to what is not a page of the site: to folders and pages elsewhere in the repository.

Sphinx carries files along that pages link to. A folder, or a page that belongs to code, is a link to where the
repository is published.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLISHED = "https://github.com/thalweg/thalweg/tree/main"
"""Where Cargo.toml says that the repository is."""
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def outward(text: str, page: Path, carried: frozenset[str]) -> str:
    """A page whose links to what is not `carried` lead out; links to nothing stay, for Sphinx to complain.

    >>> outward("[code](../crates) [page](index.md)", ROOT / "docs/index.md", frozenset({"docs/index.md"}))
    '[code](https://github.com/thalweg/thalweg/tree/main/crates) [page](index.md)'
    """

    def led(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / link[1]))
        if not target.is_relative_to(ROOT) or not target.exists():
            return link[1]
        place = target.relative_to(ROOT).as_posix()
        leads_out = target.is_dir() or (target.suffix == ".md" and place not in carried)
        return f"{PUBLISHED}/{place}" if leads_out else link[1]

    return _LINK.sub(led, text)
