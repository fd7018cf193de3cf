"""From quantities to checks: one for each law, controller and stack, which holds if all its cases do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.quantity import text
from thalweg.statistics.claims import FAILS, HOLDS, UNTOLD, each_of, every, within
from thalweg.statistics.digits import digits, high_bound, low_bound
from thalweg.statistics.interval import Interval
from thalweg.statistics.means import mean_interval
from thalweg.studies.laws.quantity import Quantity
from thalweg.studies.runner.result import Check, Finding

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
            f"{one.law}, {one.controller}, {STACKS[one.stack]}: {one.case}",
            one.source,
            f"{shown(one.low, one.unit)} to {shown(one.high, one.unit)}",
            _interval(one.interval(), one.unit),
            one.answer(),
            one.reason,
        )
        for one in quantities
        if not one.judged
    ]


def groups(quantities: Sequence[Quantity]) -> list[list[Quantity]]:
    """The judged quantities of each law, controller and stack."""
    found: dict[tuple[str, str, str], list[Quantity]] = {}
    for one in quantities:
        if one.judged:
            found.setdefault((one.law, one.controller, one.stack), []).append(one)
    return list(found.values())


def shown(value: float, unit: str) -> str:
    """A number as tables have it.

    >>> shown(0.9123, "%"), shown(40.51, "packets"), shown(0.015, "s"), shown(1.31, "")
    ('91.2 %', '40.5', '15 ms', '1.31')
    """
    if unit == "%":
        return f"{value:.1%}".replace("%", " %")
    return text(value, "s", 3) if unit == "s" else text(value, digits=3)


def _law(group: Sequence[Quantity]) -> Check:
    first = group[0]
    confidence = each_of(len(group))
    answers = [one.answer(confidence) for one in group]
    order = {FAILS: 0, UNTOLD: 1, HOLDS: 2}
    worst = min(range(len(group)), key=lambda at: (order[answers[at]], _room(group[at])))
    one = group[worst]
    cases = f"{len(group)} cases, the closest: " if len(group) > 1 else ""
    return Check(
        f"{first.law}: {first.controller}, {STACKS[first.stack]}",
        first.source,
        every(answers),
        f"{cases}{one.case}: {_interval(one.interval(confidence), one.unit)}, "
        f"bounds {shown(one.low, one.unit)} to {shown(one.high, one.unit)}",
    )


def _room(one: Quantity) -> float:
    """How far the mean is from the nearer bound, as a share of the width."""
    mean = float(one.values.mean())
    width = one.high - one.low
    return min(mean - one.low, one.high - mean) / width if width > 0 else 0.0


def _agreement(quantities: Sequence[Quantity]) -> list[Check]:
    compared = [one for one in quantities if one.compared]
    real = {(one.law, one.controller, one.case): one for one in compared if one.stack == "quic"}
    pairs: dict[tuple[str, str], list[tuple[Quantity, Quantity]]] = {}
    for one in compared:
        other = real.get((one.law, one.controller, one.case))
        if one.stack == "model" and other is not None:
            pairs.setdefault((one.law, one.controller), []).append((one, other))
    return [_agree(law, controller, both) for (law, controller), both in pairs.items()]


def _agree(law: str, controller: str, both: Sequence[tuple[Quantity, Quantity]]) -> Check:
    # Trials with one seed meet the same losses: they are compared one by one.
    apart = [mean_interval(real.values / model.values - 1, each_of(len(both))) for model, real in both]
    answers = [within(one, -AGREEMENT, AGREEMENT) for one in apart]
    widest = max(range(len(both)), key=lambda at: max(abs(apart[at].low), abs(apart[at].high)))
    one = apart[widest]
    return Check(
        f"{law}: {controller}, stack and model within {AGREEMENT:.0%}",
        "the two stacks, on one path and with one controller",
        every(answers),
        f"{len(both)} cases, the widest: {both[widest][0].case}: {one.value:+.1%} "
        f"({one.low:+.1%} to {one.high:+.1%})",
    )


def _interval(one: Interval, unit: str) -> str:
    if not math.isfinite(one.value):
        return "-"
    if unit == "%":
        return f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})".replace("%", " %")
    base = "s" if unit == "s" else ""
    known = digits(one)
    low, high = low_bound(one.low, base, known), high_bound(one.high, base, known)
    return f"{text(one.value, base, known)} ({low} to {high})"
