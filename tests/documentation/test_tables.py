"""Tables with numbers on pages are made by commands, or say in the source of the page why not.

What a command measures stands between `<!-- made: PART -->` and `<!-- end -->`, or on a page that is made as a
whole. Tables of options and keys, told by their headers, document constants. Any other table with numbers has a
note above it, `<!-- numbers: KIND; WHAT -->`, of one of the KINDS below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from documentation.blocks import ROOT, pages

KINDS = {
    "definition": "bounds, constants and examples that code or a formula fixes: nothing is measured",
    "published": "numbers of a document, which the note cites",
    "on a machine": "time, sockets or a profiler of a machine: WHAT has the command in backticks",
    "held": "WHAT is the test that holds the numbers, from the root of the repository",
}
HEADERS = {"option", "key", "default"}
"""A table with one of these describes parameters."""
_WHOLE = {"verdicts": "evidence", "fidelity": "evidence", "statistics": "explanation"}
"""Pages whose script writes all of them, and their folders."""
_LEAST_SHARE = 0.2
"""A table of words may have numbers in a few of its cells."""
_NUMBER = re.compile(r"[-+±~]?\d")
_NOTE = re.compile(r"<!-- numbers: (?P<kind>[a-z ]+); (?P<what>.+) -->")
_BEGINS = ("<!-- made: ", "<!-- measured -->")
_CODE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True)
class TableOfPage:
    """A table, where it begins, and what stands above it."""

    line: int
    header: list[str]
    cells: list[str]
    above: str
    is_made: bool

    @property
    def has_numbers(self) -> bool:
        """Whether at least a fifth of the cells behind the first column begin with a number."""
        numbers = sum(_NUMBER.match(cell) is not None for cell in self.cells)
        return numbers >= max(_LEAST_SHARE * len(self.cells), 1)

    @property
    def is_of_parameters(self) -> bool:
        """Whether its header says so."""
        return bool(HEADERS & set(self.header))


def tables(text: str) -> list[TableOfPage]:
    """The tables of a page outside of blocks of code."""
    found: list[TableOfPage] = []
    rows: list[str] = []
    above, is_made, is_code = "", False, False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        is_code ^= _CODE.match(line) is not None
        if line.startswith("|") and not is_code:
            rows.append(line)
            continue
        if rows:
            split = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
            cells = [cell for row in split[2:] for cell in row[1:]]
            found.append(TableOfPage(number - len(rows), split[0], cells, above, is_made))
            rows = []
        is_made = (is_made or line.startswith(_BEGINS)) and line != "<!-- end -->"
        above = line
    return found


def complaint(table: TableOfPage) -> str | None:
    """What is wrong with a table outside of marks; None if nothing is."""
    if table.is_made or not table.has_numbers or table.is_of_parameters:
        return None
    note = _NOTE.fullmatch(table.above)
    if note is None:
        return "numbers that no command makes, without a note"
    if note["kind"] not in KINDS:
        return f"unknown kind {note['kind']!r}; accepted: {', '.join(KINDS)}"
    if note["kind"] == "on a machine" and not re.search(r"`[^`]+`", note["what"]):
        return "no command in backticks"
    if note["kind"] == "held" and not (ROOT / note["what"]).is_file():
        return f"there is no test {note['what']}"
    return None


@pytest.mark.parametrize("page", [page for page in pages() if Path(page).stem not in _WHOLE])
def test_a_table_with_numbers_is_made_by_a_command_or_says_why_not(page: str) -> None:
    wrong = {
        f"{page}:{table.line}": said
        for table in tables((ROOT / page).read_text(encoding="utf-8"))
        if (said := complaint(table))
    }
    assert wrong == {}


@pytest.mark.parametrize("name", _WHOLE)
def test_a_page_that_is_made_as_a_whole_names_its_command(name: str) -> None:
    assert f"make pages PAGES={name}" in (ROOT / "docs" / _WHOLE[name] / f"{name}.md").read_text(encoding="utf-8")


HEAD = "| controller | rate |\n|---|--:|\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}| c4 | 12 Mbps |\n", "numbers that no command makes, without a note"),
        (f"<!-- made: x -->\n\n{HEAD}| c4 | 12 Mbps |\n<!-- end -->\n", None),
        (
            f"<!-- made: x -->\n<!-- end -->\n\n{HEAD}| c4 | -3 |\n",
            "numbers that no command makes, without a note",
        ),
        (f"{HEAD}| c4 | fast |\n", None),
        (f"<!-- numbers: published; RFC 9438 -->\n{HEAD}| c4 | 12 |\n", None),
        (f"<!-- numbers: by hand; no time -->\n{HEAD}| c4 | 12 |\n", "unknown kind"),
        (f"<!-- numbers: on a machine; once -->\n{HEAD}| c4 | 12 |\n", "no command in backticks"),
        (f"<!-- numbers: held; tests/nothing.py -->\n{HEAD}| c4 | 12 |\n", "there is no test tests/nothing.py"),
        ("| option | default |\n|---|---|\n| `c` | 0.4 |\n", None),
    ],
)
def test_the_rule_finds_what_it_is_for(text: str, said: str | None) -> None:
    (table,) = tables(text)
    found = complaint(table)
    assert found == said or (said and found and found.startswith(said))


def test_a_table_in_a_block_of_code_is_none() -> None:
    assert tables(f"```\n{HEAD}| c4 | 12 |\n```\n") == []
