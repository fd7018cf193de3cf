"""The tables of a page, as they stand there, and the numbers of their cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pages.made import DOCS

_PART = re.compile(r"<!-- made: (.+) -->")
_HEADING = re.compile(r"#+ +(.+)")
_NUMBER = re.compile(r"[-+]?\d+(?: \d{3}\b)*(?:\.\d+)?")


@dataclass(frozen=True)
class PageTable:
    """One table: the made part and the heading that it stands below, its head and its rows."""

    part: str
    heading: str
    head: list[str]
    rows: list[list[str]]


class PageTables:
    """The tables of a page."""

    def __init__(self, page: str, text: str) -> None:
        self.page = page
        self.tables = list(_tables(text))

    def cell(self, where: str, row: str, column: str, number: int = 1) -> float:
        r"""A number of a cell: in the tables of a part or below a heading, the row that begins so, the column.

        `row` has the beginning cells that tell the row, with ` | ` between them. `number` counts within the cell.
        Of columns with one name the first counts.

        >>> text = "## T\n| test | ours |\n|--|--|\n| a | 4.5 s (-0.7 %) |\n"
        >>> PageTables("p.md", text).cell("T", "a", "ours"), PageTables("p.md", text).cell("T", "a", "ours", 2)
        (4.5, -0.7)
        """
        return self.cells(where, [row], column, number)[0]

    def cells(self, where: str, rows: Sequence[str], column: str, number: int = 1) -> list[float]:
        """The same number of several rows."""
        return [_number(self._text(where, row, column), number, f"{self.page}: {where}: {row}") for row in rows]

    def column(self, where: str, column: str, number: int = 1) -> list[float]:
        """A number of each row that has one in this column."""
        texts = [row[at] for table in self._of(where) for at in _at(table, column) for row in table.rows]
        return [found[number - 1] for text in texts if len(found := _numbers(text)) >= number]

    def _of(self, where: str) -> list[PageTable]:
        found = [table for table in self.tables if where in (table.part, table.heading)]
        if not found:
            raise LookupError(f"{self.page} has no table in {where!r}")
        return found

    def _text(self, where: str, row: str, column: str) -> str:
        begin = row.split(" | ")
        found = {
            cells[at]
            for table in self._of(where)
            for at in _at(table, column)
            for cells in table.rows
            if cells[: len(begin)] == begin
        }
        if len(found) != 1:
            raise LookupError(f"{self.page}: {where}: {row} has {len(found)} cells below {column!r}")
        return found.pop()


@cache
def of_page(page: str) -> PageTables:
    """The tables of a page of docs, by its path from there."""
    return PageTables(page, (DOCS / page).read_text(encoding="utf-8"))


def forget() -> None:
    """Reads pages anew: one has been made."""
    of_page.cache_clear()


def page_of(file: Path) -> str:
    """The name of a page here."""
    return file.relative_to(DOCS).as_posix()


def _at(table: PageTable, column: str) -> list[int]:
    return [table.head.index(column)] if column in table.head else []


def _numbers(text: str) -> list[float]:
    return [float(number.replace(" ", "")) for number in _NUMBER.findall(text)]


def _number(text: str, number: int, where: str) -> float:
    found = _numbers(text)
    if len(found) < number:
        raise LookupError(f"{where} is {text!r}, which has no number {number}")
    return found[number - 1]


def _tables(text: str) -> Iterator[PageTable]:
    part = heading = ""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")])
            continue
        if len(rows) > 2:
            yield PageTable(part, heading, rows[0], rows[2:])
        rows = []
        if begins := _PART.fullmatch(line):
            part = begins[1]
        elif line == "<!-- end -->":
            part = ""
        elif title := _HEADING.fullmatch(line):
            heading = title[1]
