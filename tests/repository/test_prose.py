"""Prose is wrapped at 110 columns: a diff shows the words that changed, and a terminal shows the whole line."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_COLUMNS = 110
MADE = ("docs/evidence/verdicts.md", "docs/evidence/fidelity.md", "docs/explanation/statistics.md")
"""Pages that a script of `pages` writes as a whole."""
_FENCE = re.compile(r"\s*(```+|~~~+)")
_MADE = ("<!-- made: ", "<!-- measured -->")
_NOT_PROSE = ("|", "!", "<!--")
"""How tables, images and comments begin, which have to be one line."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose of a page, with their numbers."""
    is_code, is_made = False, False
    for number, line in enumerate(text.splitlines(), start=1):
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        is_made = (is_made or line.startswith(_MADE)) and line != "<!-- end -->"
        if not (is_code or is_fence or is_made or line.lstrip().startswith(_NOT_PROSE)):
            yield number, line


def pages() -> list[str]:
    """What people have written: every page of the repository but the made ones."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [page for page in listed.stdout.splitlines() if page not in MADE]


@pytest.mark.parametrize("page", pages())
def test_a_line_of_prose_has_at_most_110_columns(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {f"{page}:{number}": line for number, line in prose(text) if len(line) > MOST_COLUMNS} == {}


def test_code_tables_and_made_parts_are_no_prose() -> None:
    long = "x" * (MOST_COLUMNS + 1)
    page = f"{long}\n```\n{long}\n```\n| {long} |\n<!-- made: x -->\n{long}\n<!-- end -->\n- {long}\n"
    assert [number for number, _ in prose(page)] == [1, 9]
