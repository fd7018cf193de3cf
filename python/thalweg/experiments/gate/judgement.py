"""What changed between a baseline and the trials of now, and what of it became worse.

A trial with the hash and the numbers of its baseline is the same, event by event: a scenario with only such trials
is *identical*, and nothing of it is compared. Of the others every metric with a threshold is compared in the way
of `judging/comparison`: medians of differences, in pairs where these tell more. All of them are one family: where
nothing is worse by more than its threshold, at most one gate in twenty says that something is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.experiments.gate.baseline import Recorded, statistics
from thalweg.judging.answer import Answer
from thalweg.judging.comparison.row import Row, compare_samples
from thalweg.judging.comparison.worse import decide
from thalweg.judging.measures import MEASURES, Measure
from thalweg.judging.statistics.discovery import RATE
from thalweg.judging.thresholds import Threshold, Thresholds


@dataclass(frozen=True)
class ScenarioChange:
    """One scenario."""

    scenario: str
    flow: str
    controllers: tuple[str, str]
    """The controllers of the flow, in the baseline and now."""
    seeds: Sequence[int]
    identical: Sequence[bool]
    """Whether each trial is identical to the baseline's, in the order of the seeds."""
    rows: Sequence[Row]
    """Its metrics, `a` the baseline; none where every trial is identical."""

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
            "metrics": [_document(row) for row in self.rows],
        }


@dataclass(frozen=True)
class Judgement:
    """All scenarios of a gate."""

    scenarios: Sequence[ScenarioChange]
    thresholds: Thresholds
    """By how much each metric may become worse."""

    def of(self, answer: Answer) -> list[tuple[ScenarioChange, Row]]:
        """The metrics with an answer."""
        return [(one, row) for one in self.scenarios for row in one.rows if row.answer == answer]

    @property
    def compared(self) -> int:
        """How many metrics are compared."""
        return sum(len(one.rows) for one in self.scenarios)

    @property
    def lacking(self) -> int:
        """Metrics that so few trials could not call worse, however much they were."""
        return sum(row.lacks_trials for one in self.scenarios for row in one.rows)

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
            "played": self.n,
            "identical": self.n - self.n_changed,
            "compared": self.compared,
            "false_discovery_rate": RATE,
            "worse": len(self.of("worse")),
            "better": len(self.of("better")),
            "lack_trials": self.lacking,
            "scenarios": [one.document() for one in self.scenarios],
        }


def judge_changes(
    baseline: Mapping[str, Recorded], now: Mapping[str, Recorded], seeds: Sequence[int], thresholds: Thresholds
) -> Judgement:
    """Compares the trials of now with a baseline that has the same scenarios and seeds."""
    same = {name: _identical(baseline[name], one) for name, one in now.items()}
    asked = [
        (name, MEASURES[metric], threshold)
        for name, one in now.items()
        if not all(same[name])
        for metric, threshold in thresholds.items()
        if metric in one.metrics
    ]
    rows = decide(
        [
            _compare(name, baseline[name], now[name], measure, threshold, seeds)
            for name, measure, threshold in asked
        ]
    )
    of: dict[str, list[Row]] = {name: [] for name in now}
    for row in rows:
        of[row.scenario].append(row)
    controllers = {name: (baseline[name].controller, one.controller) for name, one in now.items()}
    return Judgement(
        [
            ScenarioChange(name, one.flow, controllers[name], seeds, same[name], of[name])
            for name, one in now.items()
        ],
        thresholds,
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
    return compare_samples(name, a, b, threshold.share, of_a=True, least=threshold.least)


def _document(row: Row) -> dict[str, Any]:
    measure = MEASURES[row.a.metric]
    about = {"metric": measure.name, "unit": measure.unit, "better": measure.better}
    return {**about, **row.comparison.document(), "p_worse": row.p_worse}
