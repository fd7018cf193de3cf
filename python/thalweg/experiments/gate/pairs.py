"""What pairs of trials in real time compare: the metrics of each scenario that have a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg.experiments.gate.baseline import judged
from thalweg.judging.measures import MEASURES
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import SignTest
from thalweg.judging.thresholds import Thresholds


def pairs_of(
    flows: Mapping[str, Mapping[str, Any]], thresholds: Thresholds, planned: int | None = None
) -> list[Pairs]:
    """One for each metric with a threshold that real time measures of the judged flow of each scenario.

    `planned` is how many pairs there are to be.
    """
    metrics = [name for name in thresholds if not MEASURES[name].virtual_only]
    measures = [(name, flow, measure) for name, flow in flows.items() for measure in judged(flow, metrics)]
    return [
        Pairs(
            name,
            str(flow["name"]),
            measure,
            thresholds[measure.name],
            test=SignTest(len(measures), planned=planned),
        )
        for name, flow, measure in measures
    ]
