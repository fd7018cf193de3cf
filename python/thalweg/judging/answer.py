"""How trials answer a question: one vocabulary and one form, in terminals, on pages, in JSON and for CI.

- B, compared with A, is `better`, `worse`, or `alike`: no further away than a margin. Where neither end of a
  number is better, it `differs`.
- A criterion, a claim or a limit `holds` or `fails`; it is `infeasible` where no controller can hold it.
- Otherwise the trials do not tell: `undecided`. More of them may.

Two strategies lead to the answer of a comparison. In virtual time the number of trials is known: all comparisons
of one command are a family, whose false discovery rate is kept (`statistics.discovery`). In real time one looks
after each pair, and the test holds however often (`statistics.sequential`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from thalweg.judging.measures import Better
from thalweg.judging.statistics.interval import Interval, finite

Answer = Literal["better", "worse", "alike", "differs", "holds", "fails", "infeasible", "undecided"]
Correction = Literal["false discovery rate", "Bonferroni", "sequential"]


def counted(number: int, answer: str) -> str:
    """How many answers of a kind there are.

    >>> counted(1, "holds"), counted(2, "holds"), counted(3, "fails"), counted(2, "undecided")
    ('1 holds', '2 hold', '3 fail', '2 undecided')
    """
    return f"{number} {answer.removesuffix('s') if number != 1 and answer in ('holds', 'fails') else answer}"


def decided(low: float, high: float, margin: float, better: Better | None) -> Answer:
    """The answer of an interval of B minus A: beyond the margin, within it, or neither.

    >>> decided(0.1, 0.3, 0.05, "lower"), decided(0.1, 0.3, 0.05, "higher"), decided(-0.01, 0.03, 0.05, "lower")
    ('worse', 'better', 'alike')
    >>> decided(-0.1, 0.3, 0.05, "lower"), decided(0.1, math.inf, 0.05, "lower")
    ('undecided', 'worse')
    >>> decided(0.1, 0.3, 0.05, None)
    'differs'
    """
    if better is None and (low > margin or high < -margin):
        return "differs"
    if low > margin:
        return "worse" if better == "lower" else "better"
    if high < -margin:
        return "better" if better == "lower" else "worse"
    return "alike" if -margin <= low and high <= margin else "undecided"


@dataclass(frozen=True)
class Comparison:
    """One number of A and of B, and what the trials say of B."""

    answer: Answer
    a: float
    """The median of A."""
    b: float
    difference: Interval
    """B minus A, or B over A, with its interval of 95 %."""
    margin: float
    """Differences up to this do not count; in the unit of the number."""
    is_paired: bool
    """Whether values are compared in pairs of one seed; else all with all."""
    family: int
    """How many comparisons share the error."""
    correction: Correction = "false discovery rate"
    worst_seed: int | None = None
    """The seed of the trial in which B is worst against A."""
    is_ratio: bool = False

    @property
    def change(self) -> float | None:
        """The difference as a share of the median of A; None where one of them is not finite, or the median 0.

        It is not a change of medians: a comparison has one estimate, which its interval is about.
        """
        difference = self.difference.value - self.is_ratio
        if self.is_ratio:
            return finite(difference)
        if not self.a or not math.isfinite(self.a) or not math.isfinite(difference):
            return None
        return finite(difference / abs(self.a))

    def document(self) -> dict[str, Any]:
        """This comparison as JSON; numbers of what never happened are null."""
        return {
            "answer": self.answer,
            "a": finite(self.a),
            "b": finite(self.b),
            "by": "ratio" if self.is_ratio else "difference",
            "value": finite(self.difference.value),
            "interval95": self.difference.document(),
            "change": self.change,
            "margin": finite(self.margin),
            "n": self.difference.n,
            "paired": self.is_paired,
            "family": self.family,
            "correction": self.correction,
            "worst_seed": self.worst_seed,
        }
