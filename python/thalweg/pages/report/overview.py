"""The overview of a page: a row for each scenario, failures first, with a strip of its trials.

The row shows the deciding criterion with the smallest margin. Its strip runs from the floor, or the least value,
to the target or the worst value; every trial is a line. Trials that did not finish have none: they
are counted among the failures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from thalweg.base.quantity import percent, text
from thalweg.engine.outcome import Outcomes
from thalweg.judging.verdict import Statistics
from thalweg.pages.report.strip import Strip

_ORDER = ("fails", "infeasible", "holds")
HEADERS = (
    ("scenario", "name"),
    ("answer", "answer"),
    ("criterion", "criterion"),
    ("floor, trials, target", "trials"),
    ("margin", "margin"),
    ("failures", "failures"),
)
"""The headers of the columns, and their kinds, by which the page sorts them."""


@dataclass(frozen=True)
class Row:
    """What the overview says about one scenario."""

    name: str
    title: str
    answer: str
    criterion: str
    margin: str
    """The margin from the worst trial to the target, as a share of the target; negative if it is over."""
    failures: str
    strip: Markup


def rows(results: Sequence[Outcomes]) -> list[Row]:
    """A row for each scenario with criteria: what fails comes first, else in the order of the suite."""
    found = [_row(outcomes) for outcomes in results if outcomes.verdict().answer is not None]
    return sorted(found, key=lambda row: _ORDER.index(row.answer))


def _row(outcomes: Outcomes) -> Row:
    scenario, verdict = outcomes.scenario, outcomes.verdict()
    deciding = [criterion for criterion in verdict.criteria if not criterion.informative]
    least = min(deciding, key=margin)
    return Row(
        scenario.name,
        scenario.title,
        str(verdict.answer),
        criterion_text(least),
        percent(margin(least)) if math.isfinite(least.worst) else "no value" if least.stream else "did not finish",
        f"{least.failures} of {least.n}",
        strip(least),
    )


def criterion_text(statistics: Statistics) -> str:
    """A criterion in words, with the sign of its side."""
    sign = "\N{LESS-THAN OR EQUAL TO}" if statistics.side == "at_most" else "\N{GREATER-THAN OR EQUAL TO}"
    share = f" in {text(statistics.within, 'share')}" if statistics.within < 1 else ""
    return f"{statistics.subject} {sign} {text(statistics.bound, statistics.unit)}{share}"


def margin(statistics: Statistics) -> float:
    """How far the worst trial is from the target, as a share of the target; -inf if it did not finish.

    A target of 0 is either met without margin or missed by far.
    """
    bound, worst = statistics.bound, statistics.worst
    if bound == 0:
        return -math.inf if statistics.is_worse(worst, bound) else 0.0
    return (bound - worst) / bound if statistics.side == "at_most" else (worst - bound) / bound


def strip(statistics: Statistics) -> Markup:
    """A picture of the trials between floor and target, with a text for screen readers."""
    unit = statistics.unit
    words = f"{statistics.n} trials, median {text(statistics.median, unit)}, worst {text(statistics.worst, unit)}"
    if statistics.floor is not None:
        words += f", floor {text(statistics.floor, unit)}"
    words += f", target {text(statistics.bound, unit)}"
    values = statistics.values["value"].to_numpy()
    least, most = (statistics.bound if statistics.side == side else None for side in ("at_least", "at_most"))
    return Strip(values, unit, least, most, judged=True, floor=statistics.floor, words=words).markup
