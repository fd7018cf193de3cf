"""The tables of `thalweg bench`."""

from __future__ import annotations

import math

from rich.text import Text

from thalweg.base.quantity import percent, text
from thalweg.cli.console import stdout
from thalweg.cli.fitting import FittingTable
from thalweg.experiments.bench import Bench
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.interval import Interval

_STYLES = {"worse": "bold red", "better": "green"}


def print_bench(done: Bench, suite: str, width: float) -> None:
    """Prints what was measured, and how long it took to tell."""
    console = stdout()
    names = [side.name for side in done.sides]
    console.print(f"{' against '.join(reversed(names))}  (suite {suite}, in real time)", soft_wrap=True)
    two = len(names) > 1
    between = (names[1], "by", "answer") if two else ()
    table = FittingTable(
        ("condition", "metric", names[0], *between[:1], *between[1:2], "95 % interval", *between[2:], "rounds"),
        2,
        ("rounds",),
        grouped=True,
    )
    for condition in done.conditions:
        for effect in condition.effects:
            metric = effect.measure.name
            if effect.flow == condition.neighbour:
                metric = f"{metric} of {effect.flow}"
            table.add_row(condition.name, metric, *_cells(effect, two), str(effect.n))
    console.print(table)
    measured = [condition for condition in done.conditions if condition.taken]
    for condition in measured:
        for name in names:
            taken = condition.taken_by(name)
            console.print(
                f"taken by {name} from {condition.neighbour} ({condition.name}): {percent(taken.value)}"
                f"{_bracketed_share(taken)} of what it gets next to the kernel's CUBIC",
                soft_wrap=True,
            )
    open_ones = [condition.name for condition in done.conditions if not condition.is_decided(width)]
    decided = len(done.conditions) - len(open_ones)
    rest = f"; not so after all rounds: {', '.join(open_ones)}" if open_ones else ""
    console.print(
        f"{decided} of {len(done.conditions)} conditions have an interval of the goodput of at most "
        f"+-{percent(width)}{rest}",
        soft_wrap=True,
    )


def _cells(effect: Pairs, two: bool) -> list[str | Text]:
    a, b = effect.medians
    unit, interval = effect.measure.unit, effect.interval
    if not two:
        return [text(a, unit), _bracketed(interval, unit)]
    by, shown = _by(effect, interval)
    answer = effect.answer
    return [text(a, unit), text(b, unit), by, shown, Text(answer, _STYLES.get(answer, "dim"))]


def _by(effect: Pairs, interval: Interval) -> tuple[str, str]:
    """How much more b is, and the interval of that."""
    if not effect.is_ratio:
        return _signed(interval.value, effect.measure.unit), _bracketed(interval, effect.measure.unit)
    shares = [value - 1 for value in (interval.value, interval.low, interval.high)]
    value, low, high = (f"{100 * share:+.1f} %" if math.isfinite(share) else "-" for share in shares)
    return value, f"[{low}, {high}]" if interval.is_bounded else "too few rounds"


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else '-' if value < 0 else ''}{text(abs(value), unit)}"


def _bracketed(interval: Interval, unit: str) -> str:
    if not interval.is_bounded:
        return "too few rounds"
    return f"[{_plain(interval.low, unit)}, {_plain(interval.high, unit)}]"


def _plain(value: float, unit: str) -> str:
    return f"-{text(-value, unit)}" if value < 0 else text(value, unit)


def _bracketed_share(interval: Interval) -> str:
    if not interval.is_bounded:
        return ""
    return f" [{percent(interval.low)}, {percent(interval.high)}]"
