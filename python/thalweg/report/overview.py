"""The overview of a page: a row for each scenario, failures first, with a strip of its trials.

The row shows the deciding criterion that is held with the least margin. Its strip goes from the floor, or the
least value, to the target or the worst value; every trial is a line. Trials that did not finish have none: they
are counted among the failures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from thalweg.outcome import Outcomes
from thalweg.quantity import percent, text
from thalweg.statistics.interval import Values
from thalweg.verdict import Statistics, values_of

_ORDER = ("fail", "infeasible", "pass", "no criteria")
_WIDTH = 1000.0
"""Of the strip, in units of its own; lines closer than one of them are one."""
_HEIGHT = 20


@dataclass(frozen=True)
class Row:
    """What the overview says of one scenario."""

    name: str
    title: str
    answer: str
    criterion: str
    margin: str
    """Of the worst trial to the target, as a share of the target; negative if it is over."""
    failures: str
    strip: Markup


def rows(results: Sequence[Outcomes]) -> list[Row]:
    """A row for each scenario: what fails comes first, else in the order of the suite."""
    return sorted((_row(outcomes) for outcomes in results), key=lambda row: _ORDER.index(row.answer))


def _row(outcomes: Outcomes) -> Row:
    scenario, verdict = outcomes.scenario, outcomes.verdict()
    deciding = [one for one in verdict.criteria if not one.informative]
    if not deciding:
        return Row(scenario.name, scenario.title, "no criteria", "", "", "", Markup(""))
    least = min(deciding, key=margin)
    criterion = {"flow": least.flow, "metric": least.metric, "column": least.column}
    values = values_of(criterion, outcomes.flows, scenario.starts_s)["value"].to_numpy()
    return Row(
        scenario.name,
        scenario.title,
        verdict.answer or "no criteria",
        f"{least.subject} \N{LESS-THAN OR EQUAL TO} {text(least.at_most, least.unit)}",
        percent(margin(least)) if math.isfinite(least.worst) else "no value" if least.stream else "did not finish",
        f"{least.failures} of {least.n}",
        strip(least, values),
    )


def margin(statistics: Statistics) -> float:
    """How far the worst trial is below the target, as a share of the target; -inf if it did not finish.

    A target of 0 is either held without any margin or missed by far.
    """
    if statistics.at_most == 0:
        return 0.0 if statistics.worst <= 0 else -math.inf
    return (statistics.at_most - statistics.worst) / statistics.at_most


def strip(statistics: Statistics, values: Values) -> Markup:
    """A picture of the trials between floor and target, with words for those who do not see it."""
    finite = values[np.isfinite(values)]
    marks = [statistics.at_most, *([statistics.floor] if statistics.floor is not None else [])]
    low, high = float(min([*marks, *finite])), float(max([*marks, *finite]))
    room = 0.02 * ((high - low) or 1.0)

    def at(value: float) -> int:
        return round(_WIDTH * (value - low + room) / (high - low + 2 * room))

    def lines(places: Sequence[float], kind: str) -> Markup:
        path = "".join(f"M{place} 0V{_HEIGHT}" for place in sorted({at(value) for value in places}))
        return Markup('<path class="{}" d="{}"/>').format(kind, path) if path else Markup("")

    over = finite[finite > statistics.at_most]
    unit = statistics.unit
    words = f"{statistics.n} trials, median {text(statistics.median, unit)}, worst {text(statistics.worst, unit)}"
    if statistics.floor is not None:
        words += f", floor {text(statistics.floor, unit)}"
    words += f", target {text(statistics.at_most, unit)}"
    return Markup(
        '<svg class="strip" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        "<title>{}</title>{}{}{}{}</svg>"
    ).format(
        int(_WIDTH),
        _HEIGHT,
        words,
        words,
        lines([] if statistics.floor is None else [statistics.floor], "floor"),
        lines(finite[finite <= statistics.at_most].tolist(), "held"),
        lines(over.tolist(), "over"),
        lines([statistics.at_most], "target"),
    )
