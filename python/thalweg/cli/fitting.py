"""Tables that fit the terminal.

A table drops columns, in the order that its maker gives, until the rest fits; then it wraps words; then one of
groups has the names of these above their rows; then each row is a list of lines of `heading  value`. A cell is
never cut, and a number is never wrapped. The last line names what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

COMFORTABLE = 24
"""Words are wrapped to fewer columns than this only when there is nothing left to drop."""

_MANY = 500
"""More rows than these are lines without styles, which nobody reads one by one."""
_GAP = 2
"""Spaces between two columns."""


class FittingTable:
    """Rows under headers; the first `left` columns are words, the others numbers.

    `droppable` names the columns that a narrow terminal goes without, the first one first. With `grouped`, a first
    cell that repeats the one above is blank. An empty line sets it `apart` from what is above it. Words
    wrap below `comfortable` columns only when nothing is left to drop.
    """

    def __init__(
        self,
        headers: Sequence[str],
        left: int,
        droppable: Sequence[str] = (),
        grouped: bool = False,
        apart: bool = True,
        comfortable: int = COMFORTABLE,
    ) -> None:
        self._comfortable = comfortable
        self._headers = tuple(headers)
        self._left = left
        self._droppable = tuple(name for name in droppable if name in self._headers)
        self._grouped = grouped
        self._apart = apart
        self._rows: list[tuple[Text, ...]] = []

    def add_row(self, *cells: str | Text) -> None:
        """One more row, a cell for each header."""
        self._rows.append(tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The widest form that fits."""
        if self._apart:
            yield Text()
        most = len(self._droppable)
        forms = [(dropped, self._comfortable, False) for dropped in range(most + 1)]
        forms += [(most, COMFORTABLE, False), (most, 0, False)]
        many = len(self._rows) > _MANY
        forms += [(dropped, 0, True) for dropped in range(most + 1)] if self._grouped and not many else []
        dropped = most
        for dropped, comfortable, headed in forms:
            if widths := self._widths(dropped, comfortable, options.max_width, headed):
                if many:
                    yield from self._plain(dropped, widths)
                    break
                table = self._table(dropped, widths, headed)
                if options.is_terminal:
                    yield table
                else:
                    yield from _unpadded(console, table, options)
                break
        else:
            yield from self._records(dropped)
        if dropped:
            names = ", ".join(self._headers[column] for column in self._columns(dropped, shown=False))
            yield Text(f"not shown at {options.max_width} columns: {names}", "dim")

    def _columns(self, dropped: int, shown: bool = True, headed: bool = False) -> list[int]:
        """The columns that stay without the first `dropped` droppable ones, or these.

        The columns of a table with headings lack the first one.
        """
        gone = self._droppable[:dropped]
        columns = [column for column, header in enumerate(self._headers) if (header not in gone) == shown]
        return columns[1:] if headed else columns

    def _widths(self, dropped: int, comfortable: int, room: int, headed: bool) -> list[int]:
        """The width of each column that is shown; empty if they do not fit."""
        least, longest = [], []
        columns = self._columns(dropped, headed=headed)
        for column in columns:
            cells = [self._headers[column], *(row[column].plain for row in self._rows)]
            if headed and column == columns[0]:
                cells += [row[0].plain for row in self._rows]
            longest.append(max(map(cell_len, cells)))
            word = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
            words = column < self._left
            least.append(max(word, min(longest[-1], comfortable)) if words else longest[-1])
        left = room - sum(least) - _GAP * (len(least) - 1)
        if left < 0:
            return []
        widths = least[:]
        # What lacks the least is widened first: so most columns are as wide as they want.
        for column in sorted(range(len(least)), key=lambda column: longest[column] - least[column]):
            widths[column] = min(longest[column], least[column] + left)
            left -= widths[column] - least[column]
        return widths

    def _table(self, dropped: int, widths: Sequence[int], headed: bool) -> Table:
        table = Table(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="bold"
        )
        columns = self._columns(dropped, headed=headed)
        for column, width in zip(columns, widths, strict=True):
            words = column < self._left
            table.add_column(
                self._headers[column],
                justify="left" if words else "right",
                no_wrap=not words,
                overflow="fold",
                width=width,
            )
        above = None
        for row in self._rows:
            if headed and row[0] != above:
                table.add_row(Text(row[0].plain, "bold"))
            first = Text() if self._grouped and row[0] == above else row[0]
            above = row[0]
            table.add_row(*(first if column == 0 else row[column] for column in columns))
        return table

    def _plain(self, dropped: int, widths: Sequence[int]) -> Iterator[Segment]:
        """The same without styles, which take a millisecond a row; a cell that is too wide is not wrapped."""
        columns = self._columns(dropped)

        def line(cells: Sequence[str]) -> Segment:
            padded = []
            for column, width, cell in zip(columns, widths, cells, strict=True):
                room = " " * (width - cell_len(cell))
                padded.append(cell + room if column < self._left else room + cell)
            return Segment((" " * _GAP).join(padded).rstrip() + "\n")

        yield line([self._headers[column] for column in columns])
        yield Segment("─" * (sum(widths) + _GAP * (len(widths) - 1)) + "\n")
        for row in self._rows:
            yield line([row[column].plain for column in columns])

    def _records(self, dropped: int) -> list[Text]:
        """Each row as lines, its first cell as their heading."""
        columns = self._columns(dropped)
        widest = max(cell_len(self._headers[column]) for column in columns)
        lines = []
        for row in self._rows:
            lines.append(Text(row[0].plain, "bold"))
            lines += [
                Text.assemble("  ", self._headers[column].ljust(widest), "  ", row[column])
                for column in columns
                if column != 0
            ]
        return lines


def _unpadded(console: Console, table: Table, options: ConsoleOptions) -> Iterator[Segment]:
    """The same for a file or a pipe: no line ends in spaces."""
    for line in console.render_lines(table, options, pad=False):
        yield Segment("".join(segment.text for segment in line).rstrip() + "\n")


def plain_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int,
    apart: bool = True,
    droppable: Sequence[str] | None = None,
    comfortable: int = COMFORTABLE,
) -> FittingTable:
    """Any rows for a terminal; the first `left` columns are words.

    A narrow one goes without the numbers but the first, the last of them first, unless `droppable` says otherwise.
    """
    gone = headers[:left:-1] if droppable is None else droppable
    table = FittingTable(headers, left, gone, apart=apart, comfortable=comfortable)
    for row in rows:
        table.add_row(*row)
    return table
