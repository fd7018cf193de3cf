"""The part of the page of fidelity that says why a value is not inside its tolerance.

`fidelity.toml` has the reasons. Each value that is not inside needs one, and each reason such a value; a reason
may name settings, whose trials the page shows next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pages.made import row
from pages.peer.agreement import Agreement
from thalweg.judging.statistics.digits import ranged
from thalweg.judging.statistics.interval import Interval

SECTION = "Where we differ, and why"
MOST_TRIALS = 100_000
Numbers = tuple[str, str]
"""Completion and drops of trials, in words."""


@dataclass(frozen=True)
class OpenValue:
    """A value of which not the whole interval is within its tolerance."""

    spec: str
    what: str
    ratio: Interval
    """Ours over the peer's."""
    tolerance: float
    """In percent."""
    answer: Agreement


@dataclass(frozen=True)
class Reason:
    """Why some values are not inside."""

    title: str
    specs: list[str]
    text: str
    varied: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By spec the keys that are set to other values, one at a time."""


def reasons_of(plan: Mapping[str, Any]) -> list[Reason]:
    """The reasons of fidelity.toml."""
    return [Reason(**reason) for reason in plan["reason"]]


def trials_that_tell(ratio: Interval, tolerance: float) -> int | None:
    """How many trials of each side would tell, if ratio and spread stayed; None above `MOST_TRIALS`.

    The width of an interval falls with the root of the trials:

    >>> trials_that_tell(Interval(1.0, 0.8, 1.2, 100), 10)
    400
    >>> trials_that_tell(Interval(1.2, 1.0, 1.3, 100), 10)
    400
    >>> trials_that_tell(Interval(1.1, 1.0, 1.3, 100), 10) is None
    True
    """
    least, most = 1 - tolerance / 100, 1 + tolerance / 100
    below, above = ratio.value - ratio.low, ratio.high - ratio.value
    if ratio.value > most:
        widths = [(below, ratio.value - most)]
    elif ratio.value < least:
        widths = [(above, least - ratio.value)]
    else:
        widths = [(below, ratio.value - least), (above, most - ratio.value)]
    if any(width > room * (MOST_TRIALS / ratio.n) ** 0.5 for width, room in widths):
        return None
    return round(ratio.n * max(width / room for width, room in widths) ** 2)


def complaints(reasons: Sequence[Reason], values: Iterable[OpenValue]) -> Iterator[str]:
    """Values without a reason, and reasons without a value.

    >>> value = OpenValue("a", "closed median", Interval(1.2, 1.0, 1.3, 100), 10, "undecided")
    >>> list(complaints([Reason("Chance", ["b"], "")], [value]))
    ['a is not inside, without a reason', 'Chance: b is inside']
    """
    needed = {value.spec for value in values}
    given = {spec for reason in reasons for spec in reason.specs}
    yield from (f"{spec} is not inside, without a reason" for spec in sorted(needed - given))
    for reason in reasons:
        yield from (f"{reason.title}: {spec} is inside" for spec in reason.specs if spec not in needed)


def section(
    reasons: Sequence[Reason],
    values: Sequence[OpenValue],
    peers: Callable[[str], Numbers],
    ours: Callable[[str, dict[str, str]], Numbers],
) -> list[str]:
    """The paragraphs of the section; `peers` and `ours` have the numbers of a spec, ours with settings."""
    lines = [
        row("spec", "value", "ours over peer", "tolerance", "answer", "trials of each that would tell", "reason")
    ]
    lines.append(row(":--", ":--", ":--", "--:", ":--", "--:", ":--"))
    lines += [line(value, reasons) for value in values]
    parts = [f"## {SECTION}", "\n".join(lines)]
    for reason in reasons:
        parts += [
            f"### {reason.title}",
            f"{', '.join(f'`{spec}`' for spec in reason.specs)}. {reason.text.strip()}",
        ]
        if reason.varied:
            parts.append(_varied(reason.varied, peers, ours))
    return parts


def line(value: OpenValue, reasons: Sequence[Reason]) -> str:
    """A value in the table, with the title of its reason."""
    answer = f"**{value.answer}**" if value.answer == "outside" else value.answer
    needed = "-"
    if value.answer == "undecided":
        trials = trials_that_tell(value.ratio, value.tolerance)
        needed = f"more than {MOST_TRIALS}" if trials is None else f"{trials}"
    titles = [reason.title for reason in reasons if value.spec in reason.specs]
    return row(value.spec, value.what, ranged(value.ratio), f"{value.tolerance:g} %", answer, needed, *titles)


def _varied(
    varied: Mapping[str, Mapping[str, Sequence[str]]],
    peers: Callable[[str], Numbers],
    ours: Callable[[str, dict[str, str]], Numbers],
) -> str:
    lines = [row("spec", "trials", "closed", "drops"), row(":--", ":--", "--:", "--:")]
    for spec, keys in varied.items():
        lines += [row(spec, "the peer's", *peers(spec)), row(spec, "ours", *ours(spec, {}))]
        for key, settings in keys.items():
            lines += [row(spec, f"`{key}={value}`", *ours(spec, {key: value})) for value in settings]
    return "\n".join(lines)
