"""The form of an experiment: tables, each line of which can be measured again, and a verdict on each statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pages.made import DOCS, fill, made, row
from thalweg.judging.statistics.claims import Answer, above, below
from thalweg.judging.statistics.quantiles import median_interval

HERE = DOCS / "evidence" / "experiments"
TRIALS = 20
Part = tuple[str, Callable[[], str]]
Numbers = npt.NDArray[np.float64]
"""One number of each trial."""


@dataclass(frozen=True)
class Table:
    """A table of a page: its mark, its head, how many columns are words, and its lines."""

    mark: str
    head: tuple[str, ...]
    words: int
    lines: Sequence[Part]

    def text(self) -> str:
        """The table in Markdown, measured."""
        return table(self.head, self.words, [line() for _, line in self.lines])


@dataclass(frozen=True)
class Claim:
    """A statement with the numbers of each trial that decide it: the median is above, or below, a margin."""

    statement: str
    numbers: Numbers
    margin: float
    shown: str
    """Format of a number, with its unit."""
    is_above: bool = True

    def line(self) -> str:
        """The statement with its verdict and the interval of 95 % of the median."""
        interval = median_interval(self.numbers)
        answer: Answer = (above if self.is_above else below)(interval, self.margin)
        value, low, high = (self.shown.format(x) for x in (interval.value, interval.low, interval.high))
        margin = f"{'above' if self.is_above else 'below'} {self.shown.format(self.margin)}"
        return row(self.statement, answer, f"{value} ({low} to {high})", margin)


def table(head: Sequence[str], words: int, lines: Sequence[str]) -> str:
    """A table in Markdown."""
    return "\n".join([row(*head), row(*[":--"] * words, *["--:"] * (len(head) - words)), *lines])


def median(numbers: Numbers, shown: str) -> str:
    """The median of the trials; `-` where most have no number."""
    value = float(np.median(numbers))
    return shown.format(value) if np.isfinite(value) else "-"


def write(name: str, tables: Sequence[Table], claims: Callable[[], Sequence[Claim]]) -> None:
    """Writes the tables and verdicts of a page."""
    page: Path = HERE / f"{name}.md"
    for part in tables:
        fill(page, part.mark, part.text())
    verdicts = table(("statement", "answer", "median of the trials", "holds"), 2, [c.line() for c in claims()])
    fill(page, "statements", f"{verdicts}\n\n{made(name)}")
