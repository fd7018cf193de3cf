"""What of two suites is compared: the criteria that both have, or what flows and streams have without any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import polars as pl

from thalweg.base.errors import RequestError
from thalweg.engine.outcome import Outcomes
from thalweg.judging.comparison.failures import Failures, failures_of
from thalweg.judging.comparison.row import MARGIN, Row, compare_samples, judge
from thalweg.judging.measures import METRICS, Kind, kind_of
from thalweg.judging.verdict import Statistics
from thalweg.judging.verdict import judge as judge_criteria
from thalweg.results.suite_result import SuiteResult

_OF_FLOWS: Mapping[Kind, tuple[str, ...]] = {
    "transfer": ("completion", "rate", "loss", "rtt", "queue-delay"),
    "requests": ("completion", "rate", "loss", "rtt", "queue-delay"),
    "call": ("loss", "rtt", "queue-delay"),
}
_OF_STREAMS = ("p95-delay", "late", "frozen", "media-rate", "mos")
"""What is compared without criteria: of each flow, and of each stream of a call."""


def compare_results(a: SuiteResult, b: SuiteResult, margin: float = MARGIN, *, of_a: bool = False) -> list[Row]:
    """Every criterion that both results have; of a scenario without criteria, what each flow has.

    The margin is a share of the smaller median, with `of_a` of a's. Raises RequestError if they have none.
    """
    rows = [row for ours, other in _common(a, b) for row in _rows(ours, other, margin, of_a)]
    if not rows:
        raise RequestError(f"{a.folder} and {b.folder} have no scenario with the same criterion in common")
    return judge(rows)


def compare_failures(a: SuiteResult, b: SuiteResult) -> list[Failures]:
    """How often each criterion fails in both results."""
    return [
        one
        for ours, other in _common(a, b)
        for one in failures_of(ours.scenario.name, ours.verdict().criteria, other.verdict().criteria)
    ]


def missing(a: SuiteResult, b: SuiteResult) -> list[str]:
    """The scenarios of a that b lacks."""
    others = {outcomes.scenario.name for outcomes in b.outcomes}
    return [ours.scenario.name for ours in a.outcomes if ours.scenario.name not in others]


def _common(a: SuiteResult, b: SuiteResult) -> Iterator[tuple[Outcomes, Outcomes]]:
    """The scenarios that both have."""
    others = {outcomes.scenario.name: outcomes for outcomes in b.outcomes}
    return ((ours, others[ours.scenario.name]) for ours in a.outcomes if ours.scenario.name in others)


def _rows(a: Outcomes, b: Outcomes, margin: float, of_a: bool) -> list[Row]:
    ours, theirs = by_subject(a), by_subject(b)
    return [
        compare_samples(a.scenario.name, one, theirs[subject], margin, of_a=of_a)
        for subject, one in ours.items()
        if subject in theirs
    ]


def by_subject(outcomes: Outcomes) -> dict[str, Statistics]:
    """What is compared of a scenario: the first criterion on each subject."""
    found: dict[str, Statistics] = {}
    for one in asked(outcomes):
        found.setdefault(one.subject, one)
    return found


def asked(outcomes: Outcomes) -> Sequence[Statistics]:
    """The criteria of a scenario, or what each flow has where there are none."""
    if outcomes.scenario.criteria:
        return outcomes.verdict().criteria
    scenario, flows, streams = outcomes.scenario, outcomes.flows, outcomes.streams
    asked = []
    for flow in scenario.flows:
        name, awaited = flow["name"], flow.get("awaited", True)
        metrics = (METRICS[metric] for metric in _OF_FLOWS[kind_of(flow["workload"] or "")])
        asked += [metric.criterion(name) for metric in metrics if metric.column in flows.columns]
        own = streams.filter(pl.col("flow") == name)["stream"].unique(maintain_order=True) if len(streams) else ()
        for stream, metric in product(own, map(METRICS.__getitem__, _OF_STREAMS)):
            if metric.column in streams.columns:
                asked.append(metric.criterion(name, stream, awaited=awaited))
    return judge_criteria(asked, flows, streams, starts_s=scenario.starts_s).criteria
