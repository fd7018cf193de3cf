"""The tables of a page, as they stand there, and the numbers of their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pages.made import DOCS

_PART = re.compile(r"<!-- made: (.+) -->")
_HEADING = re.compile(r"#+ +(.+)")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?: \d{3}\b)*(?:\.\d+)?")
_AFTER = " > "


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
        r"""A number of a cell: of a part, a heading or a first header the row that begins so, and the column.

        `row` has the beginning cells that tell the row, with ` | ` between them. `number` counts within the cell.
        Of columns with one name the first counts, or with `median > harm` the first behind `median`.

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
        return [found[number - 1] for text in self.texts(where, column) if len(found := _numbers(text)) >= number]

    def texts(self, where: str, column: str) -> list[str]:
        """What stands in this column."""
        return [row[at] for table in self._of(where) for at in _at(table, column) for row in table.rows]

    def _of(self, where: str) -> list[PageTable]:
        found = [table for table in self.tables if where in (table.part, table.heading, table.head[0])]
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


@dataclass(frozen=True)
class Source:
    """A page of docs, by its path from there, whose tables are read when a value is asked for."""

    page: str

    @property
    def now(self) -> PageTables:
        """Its tables as they are."""
        return _of_page(self.page)

    def cell(self, where: str, row: str, column: str, number: int = 1) -> Callable[[], float]:
        """A number of a cell, later."""
        return lambda: self.now.cell(where, row, column, number)

    def least(self, where: str, rows: Sequence[str], column: str, number: int = 1) -> Callable[[], float]:
        """The least of a number of several rows, later."""
        return lambda: min(self.now.cells(where, rows, column, number))

    def most(self, where: str, rows: Sequence[str], column: str, number: int = 1) -> Callable[[], float]:
        """The largest one."""
        return lambda: max(self.now.cells(where, rows, column, number))

    def count(self, where: str, column: str, text: str) -> Callable[[], float]:
        """How many rows have this text in a column, later."""
        return lambda: float(self.now.texts(where, column).count(text))


@cache
def _of_page(page: str) -> PageTables:
    return PageTables(page, (DOCS / page).read_text(encoding="utf-8"))


def forget() -> None:
    """Reads pages anew: one has been made."""
    _of_page.cache_clear()


def _at(table: PageTable, column: str) -> list[int]:
    at = 0
    for name in column.split(_AFTER):
        if name not in table.head[at:]:
            return []
        at = table.head.index(name, at)
    return [at]


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
