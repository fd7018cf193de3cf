"""Pass criteria and their statistics: what the trials of a scenario say.

A criterion bounds one metric of one flow: every trial must stay at or under `at_most`. A trial in
which the metric does not exist, because the flow did not finish, counts as infinite: over any target.

Statistics: percentiles interpolate linearly between the order statistics; the failure rate comes with
its one-sided 95 % upper bound by Clopper and Pearson, so that "0 of 100" is read as what it is: a rate
below 3 %, not a proof.

A target below the floor of its scenario asks for what physics does not allow. It is `infeasible`,
neither passed nor failed.

Limits: the bound takes trials as independent, which seeds are, and one criterion at a time: with many
criteria in a suite, some bound will be crossed by chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from thalweg.errors import RequestError, did_you_mean

Answer = Literal["pass", "fail", "infeasible"]

_TIMES = {"completion": "completion_s", "closed": "closed_s"}


@dataclass(frozen=True)
class Statistics:
    """What the trials say about one criterion. Values are in the unit of the criterion."""

    flow: str
    stream: str | None
    """Stream of media, where the metric is of one."""
    metric: str
    column: str
    source: str | None
    at_most: float
    unit: str
    floor: float | None
    """Least value that physics allows on this path, where it is known."""
    informative: bool
    """Shown, but without a say in the verdict of the scenario."""
    n: int
    min: float
    p5: float
    median: float
    p95: float
    worst: float
    """Infinite if some trial did not finish."""
    failures: int
    """Trials over the target, unfinished ones included."""
    failure_rate_upper95: float
    worst_trial: int
    """Index of the trial with the worst value; the first of equals."""

    @property
    def subject(self) -> str:
        """What is measured, in words: `main completion`, `main audio mean-delay`."""
        return " ".join(filter(None, (self.flow, self.stream, self.metric)))

    @property
    def answer(self) -> Answer:
        """Whether every trial held this criterion, or whether none could."""
        if self.floor is not None and self.at_most < self.floor:
            return "infeasible"
        return "fail" if self.failures else "pass"

    def document(self) -> dict[str, Any]:
        """This criterion as JSON has it; a value that did not come to be is null."""
        numbers = {key: _finite(getattr(self, key)) for key in ("min", "p5", "median", "p95", "worst")}
        return {
            "flow": self.flow,
            "stream": self.stream,
            "metric": self.metric,
            "source": self.source,
            "at_most": self.at_most,
            "unit": self.unit,
            "n": self.n,
            **numbers,
            "failures": self.failures,
            "failure_rate_upper95": self.failure_rate_upper95,
            "worst_trial": self.worst_trial,
            "floor": self.floor,
            "informative": self.informative,
            "verdict": self.answer,
        }


@dataclass(frozen=True)
class Verdict:
    """What the trials of a scenario say about its pass criteria."""

    criteria: tuple[Statistics, ...]

    @property
    def answer(self) -> Answer | None:
        """`fail` if a criterion that decides fails, else `infeasible` if one cannot be met, else `pass`.

        None without a criterion that decides: nothing was asked.
        """
        answers = {statistics.answer for statistics in self.criteria if not statistics.informative}
        order: tuple[Answer, ...] = ("fail", "infeasible", "pass")
        return next((answer for answer in order if answer in answers), None)

    @property
    def worst_trial(self) -> int:
        """Index of the worst trial by the first criterion that decides; 0 if there is none."""
        ranked = sorted(self.criteria, key=lambda statistics: statistics.informative)
        return ranked[0].worst_trial if ranked else 0


def judge(criteria: Sequence[Mapping[str, Any]], flows: pl.DataFrame) -> Verdict:
    """Sets the outcomes of flows (one row for each trial and flow) against the criteria of a scenario."""
    return Verdict(tuple(_statistics(criterion, flows) for criterion in criteria))


def column_of(criterion: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The column of outcomes that holds the metric of a criterion.

    >>> column_of({"metric": "completion"}, ["completion_s"])
    'completion_s'
    >>> column_of({"metric": "mean_queue_delay", "unit": "s"}, ["mean_rtt_s", "mean_queue_delay_s"])
    'mean_queue_delay_s'
    """
    metric = str(criterion["metric"])
    guesses = [criterion.get("column"), _TIMES.get(metric), f"{metric}_{criterion.get('unit', '')}", metric]
    guesses += [name for name in columns if name.rpartition("_")[0] == metric]
    for guess in guesses:
        if guess in columns:
            return str(guess)
    raise RequestError(f"no outcome measures {metric!r}{did_you_mean(metric, columns)}")


def percentile(ordered: npt.NDArray[np.float64], fraction: float) -> float:
    """The quantile of values in ascending order, by linear interpolation; infinite values are allowed.

    >>> percentile(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    >>> percentile(np.array([1.0, np.inf]), 0.5)
    inf
    """
    position = (len(ordered) - 1) * fraction
    low, share = int(position), position - int(position)
    if share == 0 or ordered[low] == ordered[low + 1]:
        return float(ordered[low])
    return float(ordered[low] + share * (ordered[low + 1] - ordered[low]))


def rate_upper_bound(failures: int, n: int, confidence: float = 0.95) -> float:
    """Upper bound of a failure rate, one-sided (Clopper and Pearson, Biometrika 26, 1934).

    With no failure in 100 trials: 1 - 0.05^(1/100).

    >>> round(rate_upper_bound(0, 100), 4)
    0.0295
    >>> rate_upper_bound(3, 3)
    1.0
    """
    if failures >= n:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415 - takes a quarter of the time in which a command starts

    # The quantile of a beta distribution; scipy.stats has it by that name and takes a second to load.
    return float(betaincinv(failures + 1, n - failures, confidence))


def _statistics(criterion: Mapping[str, Any], flows: pl.DataFrame) -> Statistics:
    column = column_of(criterion, flows.columns)
    rows = flows.filter(pl.col("flow") == criterion["flow"])
    if rows.is_empty():
        raise RequestError(
            f"no outcome of flow {criterion['flow']!r}{did_you_mean(criterion['flow'], flows['flow'])}"
        )
    measured = rows[column].to_numpy().astype(np.float64)
    values = np.where(np.isnan(measured), np.inf, measured)
    ordered = np.sort(values)
    failures = int(np.count_nonzero(values > criterion["at_most"]))
    return Statistics(
        flow=criterion["flow"],
        stream=criterion.get("stream"),
        metric=criterion["metric"],
        column=column,
        source=criterion.get("source"),
        at_most=float(criterion["at_most"]),
        unit=criterion.get("unit", ""),
        floor=criterion.get("floor"),
        informative=bool(criterion.get("informative", False)),
        n=len(values),
        min=float(ordered[0]),
        p5=percentile(ordered, 0.05),
        median=percentile(ordered, 0.5),
        p95=percentile(ordered, 0.95),
        worst=float(ordered[-1]),
        failures=failures,
        failure_rate_upper95=rate_upper_bound(failures, len(values)),
        worst_trial=int(rows["trial"][int(np.argmax(values))]),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
