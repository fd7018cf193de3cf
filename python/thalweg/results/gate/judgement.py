"""What changed between a baseline and the trials of now, and what of it became worse.

A trial with the hash and the numbers of its baseline is the same, event by event: a scenario of such trials alone
is *identical*, and nothing of it is compared. Of the others every metric with a threshold is compared in the way
of `results/comparison`: medians of differences, in pairs where these tell more. All of them are one family: where
nothing is worse by more than its threshold, at most one gate in twenty says that something is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from thalweg.judging.measures import MEASURES, Measure
from thalweg.judging.statistics.differences import subtract
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.statistics.interval import finite
from thalweg.judging.thresholds import Threshold, Thresholds
from thalweg.results.comparison import Row, compare_statistics, find_worse, judge
from thalweg.results.gate.baseline import Recorded, statistics

Answer = Literal["worse", "better", "within", "not told apart"]


@dataclass(frozen=True)
class Change:
    """One metric of a scenario whose trials changed: `row.a` is the baseline."""

    measure: Measure
    threshold: Threshold
    row: Row
    answer: Answer
    """`within` the threshold, on both sides; `not told apart`: too few trials to say more."""
    lacks_trials: bool
    """Whether so few trials could not show that it is worse, however much it was."""

    @property
    def worst_trial(self) -> int:
        """The number of the trial that became worse by most; of equals the first."""
        a, b = (side.values["value"].to_numpy() for side in (self.row.a, self.row.b))
        return int(np.argmax(subtract(b, a) * (1.0 if self.row.a.side == "at_most" else -1.0)))

    def document(self) -> dict[str, Any]:
        """This metric as JSON; differences are of now less the baseline."""
        row = self.row
        low, high = row.sharper.interval.document()
        return {
            "metric": self.measure.name,
            "unit": self.measure.unit,
            "better": self.measure.better,
            "answer": self.answer,
            "baseline": finite(row.a.median),
            "now": finite(row.b.median),
            "change": row.change,
            "difference": finite(row.sharper.interval.value),
            "low95": low,
            "high95": high,
            "of": "pairs" if row.pairs_are_sharper else "all with all",
            "threshold": row.margin,
            "p_worse": row.p_worse,
            "worst_seed": int(row.b.values["seed"][self.worst_trial]),
        }


@dataclass(frozen=True)
class Judged:
    """One scenario."""

    scenario: str
    flow: str
    controllers: tuple[str, str]
    """The controllers of the flow, in the baseline and now."""
    seeds: Sequence[int]
    identical: Sequence[bool]
    """Whether each trial is that of the baseline, in the order of the seeds."""
    changes: Sequence[Change]
    """Its metrics; none where every trial is identical."""

    @property
    def n_changed(self) -> int:
        """How many trials differ."""
        return len(self.identical) - sum(self.identical)

    def document(self) -> dict[str, Any]:
        """This scenario as JSON."""
        return {
            "scenario": self.scenario,
            "flow": self.flow,
            "controller": {"baseline": self.controllers[0], "now": self.controllers[1]},
            "trials": len(self.identical),
            "identical": sum(self.identical),
            "metrics": [change.document() for change in self.changes],
        }


@dataclass(frozen=True)
class Judgement:
    """All scenarios of a gate."""

    scenarios: Sequence[Judged]

    def of(self, answer: Answer) -> list[tuple[Judged, Change]]:
        """The metrics with an answer."""
        return [(one, change) for one in self.scenarios for change in one.changes if change.answer == answer]

    @property
    def compared(self) -> int:
        """How many metrics are compared."""
        return sum(len(one.changes) for one in self.scenarios)

    @property
    def lacking(self) -> int:
        """Metrics that so few trials could not call worse, however much they were."""
        return sum(change.lacks_trials for one in self.scenarios for change in one.changes)

    @property
    def n_changed(self) -> int:
        """How many trials differ from the baseline."""
        return sum(one.n_changed for one in self.scenarios)

    @property
    def n(self) -> int:
        """How many trials there are."""
        return sum(len(one.identical) for one in self.scenarios)

    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "trials": self.n,
            "identical": self.n - self.n_changed,
            "compared": self.compared,
            "false_discovery_rate": RATE,
            "worse": len(self.of("worse")),
            "better": len(self.of("better")),
            "untold": self.lacking,
            "scenarios": [one.document() for one in self.scenarios],
        }


def judge_changes(
    baseline: Mapping[str, Recorded], now: Mapping[str, Recorded], seeds: Sequence[int], thresholds: Thresholds
) -> Judgement:
    """Compares the trials of now with those of a baseline that has the same scenarios and seeds."""
    same = {name: _identical(baseline[name], one) for name, one in now.items()}
    asked = [
        (name, MEASURES[metric], threshold)
        for name, one in now.items()
        if not all(same[name])
        for metric, threshold in thresholds.items()
        if metric in one.metrics
    ]
    rows = judge(
        [
            _compare(name, baseline[name], now[name], measure, threshold, seeds)
            for name, measure, threshold in asked
        ]
    )
    (found,) = find_worse([rows], [[]])
    changes: dict[str, list[Change]] = {name: [] for name in now}
    for (name, measure, threshold), row in zip(asked, rows, strict=True):
        untold = any(row is one for one in found.untold)
        worse = any(row is one for one in found.rows)
        changes[name].append(Change(measure, threshold, row, _answer(row, worse), untold))
    return Judgement(
        [
            Judged(name, one.flow, (baseline[name].controller, one.controller), seeds, same[name], changes[name])
            for name, one in now.items()
        ]
    )


def _identical(then: Recorded, now: Recorded) -> list[bool]:
    """Whether each trial is the same.

    Numbers that differ where hashes do not were edited, or are counted in another way now.
    """
    same = [old == new for old, new in zip(then.trials, now.trials, strict=False)]
    for metric in then.metrics.keys() & now.metrics.keys():
        pairs = zip(then.metrics[metric], now.metrics[metric], strict=False)
        same = [equal and old == new for equal, (old, new) in zip(same, pairs, strict=False)]
    return same


def _compare(
    name: str, then: Recorded, now: Recorded, measure: Measure, threshold: Threshold, seeds: Sequence[int]
) -> Row:
    a, b = (statistics(side, measure, seeds) for side in (then, now))
    return compare_statistics(name, a, b, threshold.share, of_a=True, least=threshold.least)


def _answer(row: Row, worse: bool) -> Answer:
    if worse:
        return "worse"
    if row.conclusion == ("B is smaller" if row.a.side == "at_most" else "B is larger"):
        return "better"
    return "within" if row.conclusion == "alike" else "not told apart"
