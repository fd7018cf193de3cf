"""A link between pages leads to a file, and to a heading below which something stands.

The site tells broken links too, when Sphinx is there; here raw pages are read, as on GitHub and by `thalweg docs`.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from documentation.blocks import ROOT

LEAST_WORDS = 5
"""Below a heading, with the headings of its parts left out."""
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"(#+) +(.+)")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def pages() -> list[str]:
    """Every page of the repository."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [page for page in listed.stdout.splitlines() if (ROOT / page).exists()]


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")


def below(text: str) -> dict[str, int]:
    """The words below each heading, up to the next one that is as high, by anchor. Comments do not count."""
    open_: list[tuple[int, str]] = []
    words: dict[str, int] = {}
    is_code = False
    for line in _COMMENT.sub("", text).splitlines():
        is_code ^= _FENCE.match(line) is not None
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading is None:
            for _, anchor in open_:
                words[anchor] += len(line.split())
            continue
        level, anchor = len(heading[1]), anchor_of(heading[2])
        again = sum(
            name == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", name) is not None for name in words
        )
        anchor = f"{anchor}-{again}" if again else anchor
        open_ = [*((of, name) for of, name in open_ if of < level), (level, anchor)]
        words[anchor] = 0
    return words


@cache
def below_of(page: Path) -> dict[str, int]:
    """The same of a page."""
    return below(page.read_text(encoding="utf-8"))


def complaint(page: Path, target: str) -> str | None:
    """What is wrong with a link of a page; None if nothing is."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "there is no such file"
    if not anchor or file.suffix != ".md":
        return None
    if anchor not in below_of(file):
        return "there is no such heading"
    return None if below_of(file)[anchor] >= LEAST_WORDS else "nothing stands below the heading"


@pytest.mark.parametrize("page", pages())
def test_a_link_leads_to_a_file_and_to_a_heading_that_says_something(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target for target in _LINK.findall(text) if not re.match(r"[a-z]+:", target)]
    assert {target: said for target in targets if (said := complaint(ROOT / page, target))} == {}


@pytest.mark.parametrize("page", pages())
def test_something_stands_below_every_heading(page: str) -> None:
    assert [anchor for anchor, words in below_of(ROOT / page).items() if words == 0] == []


TEXT = """# `A` (b)

## Empty

<!-- made: x -->
<!-- end -->

## Full

### Part

One two three four five.
## Full
"""


def test_the_rule_finds_what_it_is_for(tmp_path: Path) -> None:
    assert below(TEXT) == {"a-b": 5, "empty": 0, "full": 5, "part": 5, "full-1": 0}
    assert below("```\n# no heading\n```\n") == {}
    page = tmp_path / "page.md"
    page.write_text(TEXT)
    for target in ("page.md#full", "#part", "page.md"):
        assert complaint(page, target) is None
    assert complaint(page, "page.md#empty") == "nothing stands below the heading"
    assert complaint(page, "#none") == "there is no such heading"
    assert complaint(page, "none.md") == "there is no such file"
