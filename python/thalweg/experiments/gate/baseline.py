"""The baseline of a gate: a small file for a repository, with what each trial was and measured.

A line holds one metric of one scenario, the values in the order of the seeds, so that a change of the stack is a
change of the lines that it is about. Numbers have six digits on both sides of a comparison: more would only make
the file longer. What did not finish is `null`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.engine.outcome import Outcomes
from thalweg.judging.measures import MEASURES, Measure, kind_of
from thalweg.judging.verdict import Statistics, judge, values_of

FORMAT = "thalweg-baseline/1"
_DIGITS = 6
_WHOLE = 1e15
"""Larger numbers, which no metric has, keep their exponent."""


@dataclass(frozen=True)
class Recorded:
    """One scenario of a baseline."""

    fingerprint: str
    """The fingerprint of the scenario without the controllers and the transport that are under test."""
    flow: str
    """The flow that has these metrics."""
    controller: str
    """The controller of this flow, with its options."""
    trials: Sequence[str]
    """The hash of each trial, in the order of the seeds."""
    metrics: Mapping[str, Sequence[float]]
    """The values of each metric, in the order of the seeds; infinite for what did not finish."""


@dataclass(frozen=True)
class Baseline:
    """What a gate compares with."""

    suite: str
    seed: int
    """The seed of the first trial; the others follow."""
    trials: int
    """Trials of each scenario."""
    scenarios: Mapping[str, Recorded]
    version: str = _native.version()
    """The version of the engine: within one version a seed has one trial."""

    def text(self) -> str:
        """The file: keys and numbers in a fixed order and form, one line for each list."""
        head = {
            "format": FORMAT,
            "version": self.version,
            "suite": self.suite,
            "seed": self.seed,
            "trials": self.trials,
        }
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        scenarios = ",\n".join(_scenario_text(name, self.scenarios[name]) for name in sorted(self.scenarios))
        return "{\n" + ",\n".join(lines) + ',\n  "scenarios": {\n' + scenarios + "\n  }\n}\n"


def recorded(outcomes: Outcomes, flow: str, fingerprint: str, wanted: Iterable[str]) -> Recorded:
    """What a baseline keeps of the outcomes of a scenario: the wanted metrics that judge its flow."""
    about = next(one for one in outcomes.scenario.flows if one["name"] == flow)
    measures = judged(about, wanted)
    metrics = {measure.name: _values(outcomes, flow, measure) for measure in measures}
    hashes = [str(one) for one in outcomes.trials["trace_hash"]]
    return Recorded(fingerprint, flow, str(about["controller"]), hashes, metrics)


def judged(flow: Mapping[str, Any], wanted: Iterable[str]) -> list[Measure]:
    """The wanted metrics that judge a flow, by its workload."""
    kind = kind_of(str(flow["workload"]))
    return [measure for name in wanted if kind in (measure := MEASURES[name]).compares]


def statistics(side: Recorded, measure: Measure, seeds: Sequence[int]) -> Statistics:
    """The values of a metric as a verdict has them, of the first trials, as many as there are seeds."""
    values = pl.DataFrame(
        {
            "flow": [side.flow] * len(seeds),
            "trial": range(len(seeds)),
            "seed": seeds,
            measure.column: side.metrics[measure.name][: len(seeds)],
        },
        schema_overrides={"seed": pl.UInt64, measure.column: pl.Float64},
    )
    return judge([measure.criterion(side.flow)], values).criteria[0]


def worst_value(measure: Measure) -> float:
    """What a trial has that does not define a metric."""
    return -math.inf if measure.better == "higher" else math.inf


def value_of(outcomes: Outcomes, flow: str, measure: Measure) -> float:
    """What a baseline would keep of the one trial of these outcomes."""
    (value,) = _values(outcomes, flow, measure)
    return value


def _values(outcomes: Outcomes, flow: str, measure: Measure) -> list[float]:
    criterion = measure.criterion(flow, awaited=outcomes.scenario.awaits(flow))
    found = values_of(criterion, outcomes.flows, outcomes.streams, outcomes.scenario.starts_s)
    return [_rounded(value) for value in found["value"]]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _scenario_text(name: str, one: Recorded) -> str:
    metrics = ",\n".join(
        f"        {json.dumps(metric)}: {_list(_number(value) for value in one.metrics[metric])}"
        for metric in sorted(one.metrics)
    )
    return "\n".join(
        [
            f"    {json.dumps(name)}: {{",
            f'      "fingerprint": {json.dumps(one.fingerprint)},',
            f'      "flow": {json.dumps(one.flow)},',
            f'      "controller": {json.dumps(one.controller)},',
            f'      "trials": {_list(json.dumps(one) for one in one.trials)},',
            '      "metrics": {',
            metrics,
            "      }",
            "    }",
        ]
    )


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _number(value: float) -> str:
    """A number without an exponent where it is whole; null for one that is not finite.

    >>> _number(143021000.0), _number(0.0123), _number(math.inf)
    ('143021000', '0.0123', 'null')
    """
    if not math.isfinite(value):
        return "null"
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)
