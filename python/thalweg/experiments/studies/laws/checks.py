"""From quantities to checks: one for each law, controller and stack, which holds if all its cases do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.base.quantity import text
from thalweg.experiments.studies.laws.experiment import Quantity
from thalweg.experiments.studies.runner.result import Check, Finding
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED, each_of, every, within
from thalweg.judging.statistics.digits import digits, high_bound, low_bound
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.means import mean_interval

AGREEMENT = 0.05
"""Between the modelled endpoint and the real stack."""
STACKS = {"model": "modelled endpoint", "quic": "QUIC stack"}


def checks(quantities: Sequence[Quantity]) -> list[Check]:
    """All checks: the laws, then the agreement of the stacks."""
    return [*(_law(group) for group in groups(quantities)), *_agreement(quantities)]


def findings(quantities: Sequence[Quantity]) -> list[Finding]:
    """Values that are shown without deciding, with the reason."""
    return [
        Finding(
            f"{quantity.law}, {quantity.controller}, {STACKS[quantity.stack]}: {quantity.case}",
            quantity.source,
            f"{quantity_text(quantity.low, quantity.unit)} to {quantity_text(quantity.high, quantity.unit)}",
            _interval(quantity.interval(), quantity.unit),
            quantity.answer(),
            quantity.reason,
        )
        for quantity in quantities
        if not quantity.judged
    ]


def groups(quantities: Sequence[Quantity]) -> list[list[Quantity]]:
    """The judged quantities of each law, controller and stack."""
    found: dict[tuple[str, str, str], list[Quantity]] = {}
    for quantity in quantities:
        if quantity.judged:
            found.setdefault((quantity.law, quantity.controller, quantity.stack), []).append(quantity)
    return list(found.values())


def quantity_text(value: float, unit: str) -> str:
    """A number as tables have it.

    >>> quantity_text(0.9123, "%"), quantity_text(40.51, "packets"), quantity_text(0.015, "s")
    ('91.2 %', '40.5', '15 ms')
    """
    if unit == "%":
        return f"{value:.1%}".replace("%", " %")
    return text(value, "s", 3) if unit == "s" else text(value, digits=3)


def _law(group: Sequence[Quantity]) -> Check:
    first = group[0]
    confidence = each_of(len(group))
    answers = [quantity.answer(confidence) for quantity in group]
    order = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}
    worst = min(range(len(group)), key=lambda at: (order[answers[at]], _room(group[at])))
    quantity = group[worst]
    cases = f"{len(group)} cases, the closest: " if len(group) > 1 else ""
    return Check(
        f"{first.law}: {first.controller}, {STACKS[first.stack]}",
        first.source,
        every(answers),
        f"{cases}{quantity.case}: {_interval(quantity.interval(confidence), quantity.unit)}, "
        f"bounds {quantity_text(quantity.low, quantity.unit)} to {quantity_text(quantity.high, quantity.unit)}",
    )


def _room(quantity: Quantity) -> float:
    """How far the mean is from the nearer bound, as a share of the width."""
    mean = float(quantity.values.mean())
    width = quantity.high - quantity.low
    return min(mean - quantity.low, quantity.high - mean) / width if width > 0 else 0.0


def _agreement(quantities: Sequence[Quantity]) -> list[Check]:
    compared = [quantity for quantity in quantities if quantity.compared]
    real = {
        (quantity.law, quantity.controller, quantity.case): quantity
        for quantity in compared
        if quantity.stack == "quic"
    }
    pairs: dict[tuple[str, str], list[tuple[Quantity, Quantity]]] = {}
    for quantity in compared:
        other = real.get((quantity.law, quantity.controller, quantity.case))
        if quantity.stack == "model" and other is not None:
            pairs.setdefault((quantity.law, quantity.controller), []).append((quantity, other))
    return [_agree(law, controller, both) for (law, controller), both in pairs.items()]


def _agree(law: str, controller: str, both: Sequence[tuple[Quantity, Quantity]]) -> Check:
    # Trials with one seed meet the same losses: they are compared one by one.
    apart = [mean_interval(real.values / model.values - 1, each_of(len(both))) for model, real in both]
    answers = [within(difference, -AGREEMENT, AGREEMENT) for difference in apart]
    widest = max(range(len(both)), key=lambda at: max(abs(apart[at].low), abs(apart[at].high)))
    difference = apart[widest]
    return Check(
        f"{law}: {controller}, stack and model within {AGREEMENT:.0%}",
        "the two stacks, on one path and with one controller",
        every(answers),
        f"{len(both)} cases, the widest: {both[widest][0].case}: {difference.value:+.1%} "
        f"({_signed(difference.low)} to {_signed(difference.high)})",
    )


def _signed(share: float) -> str:
    return f"{share:+.1%}" if math.isfinite(share) else "unbounded"


def _interval(interval: Interval, unit: str) -> str:
    if not math.isfinite(interval.value):
        return "-"
    if unit == "%":
        return f"{interval.value:.1%} ({interval.low:.1%} to {interval.high:.1%})".replace("%", " %")
    base = "s" if unit == "s" else ""
    known = digits(interval)
    low, high = low_bound(interval.low, base, known), high_bound(interval.high, base, known)
    return f"{text(interval.value, base, known)} ({low} to {high})"
