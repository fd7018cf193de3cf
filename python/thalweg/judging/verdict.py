"""Pass criteria and their statistics: what the trials of a scenario say.

A criterion bounds one metric of one flow: every trial must stay at or under `at_most`, or at or over `at_least`.
With `in` below 1 only that share of the trials must. A trial in which the flow did not finish has the worst value,
over any target; also for the numbers of its streams, unless it is a background call: that is judged until the end,
with the frames that are overdue by then.
Rate, loss, RTT, queue delay, share, states of the controller and others (`Measure.until_the_end`) are of what
happened until the flow or the trial ended, whether the flow finished or not. A trial that does not define them,
of a flow that sent nothing or never converged, has the worst value too.

Times count from the start of the trial, except for what `noise.start` and `noise.phase` of the scenario add: a
flow that starts 60 ms late and takes no longer has the same completion. So trials that differ only in that draw
are one trial, and a target that a document states for fixed starts is as hard to hold with any offset.

Statistics: percentiles interpolate linearly between the order statistics, and have intervals (`statistics`). The
failure rate comes with its one-sided 95 % upper bound by Clopper and Pearson, so that "0 of 100" is read as what
it is: a rate below 3 %, not a proof. The bound is for the effective number of trials: a trial that is repeated
a hundred times proves no more than once. A criterion that allows failures has the bound from below as well: only
where what is allowed lies outside of both do the trials tell on which side the failure rate is.

A target below the floor of its scenario asks for what physics does not allow. It is `infeasible`,
it neither holds nor fails.

Limits: bounds and intervals take one criterion at a time: with many criteria in a suite, some will miss by chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.judging.measures import METRICS, Better
from thalweg.judging.statistics.digits import in_order
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import least_worst, percentile, quantile_interval
from thalweg.judging.statistics.rates import rate_lower_bound, rate_upper_bound
from thalweg.judging.statistics.repetition import effective_number

Answer = Literal["holds", "fails", "infeasible"]
"""What `judging.answer` has for a criterion: it is about the trials that ran, and so never undecided."""
Side = Literal["at_most", "at_least"]

_FROM_START = tuple(one.column for one in METRICS.values() if one.from_start)
"""Columns of times from the start of the trial."""


@dataclass(frozen=True)
class Statistics:
    """What the trials say about one criterion. Values are in the unit of the criterion."""

    flow: str
    stream: str | None
    """Stream of media, where the metric is of one."""
    metric: str
    source: str | None
    bound: float
    side: Side
    """Whether the metric may be at most, or at least, the bound."""
    within: float
    """Share of the trials that must keep the bound; `in` of the criterion."""
    unit: str
    floor: float | None
    """Least value that physics allows on this path, where it is known."""
    informative: bool
    """Shown, but without a say in the verdict of the scenario."""
    n: int
    effective_n: int
    """Number of distinct trials."""
    min: float
    p5: float
    median_interval: Interval
    """The median, with its interval of 95 %."""
    p95_interval: Interval
    """The 95th percentile, with its interval of 95 %."""
    worst: float
    """The largest value, or the smallest where the bound is a least one; infinite if some trial did not finish."""
    worst_at_least: float
    """With 95 %, the worst of as many further trials is no better; infinite if the trials do not tell."""
    failures: int
    """Trials beyond the target, unfinished ones included."""
    failure_rate_lower95: float
    """One-sided, by the effective number of trials."""
    failure_rate_upper95: float
    """One-sided, by the effective number of trials."""
    worst_trial: int
    """Index of the trial with the worst value; the first of equals."""
    values: pl.DataFrame = field(repr=False, compare=False)
    """The value of each trial: `trial`, `seed` where there is one, and `value`."""

    @property
    def median(self) -> float:
        """Half of the trials are at or under it."""
        return self.median_interval.value

    @property
    def p95(self) -> float:
        """19 of 20 trials are at or under it."""
        return self.p95_interval.value

    @property
    def digits(self) -> tuple[int, int]:
        """How many digits of the median and of the 95th percentile are shown: see `in_order`."""
        least, most = (Interval(value, value, value, self.n) for value in (self.min, self.worst))
        ends = [most] if self.side == "at_most" else []
        _, of_median, of_p95, *_ = in_order(least, self.median_interval, self.p95_interval, *ends)
        return of_median, of_p95

    @property
    def subject(self) -> str:
        """What is measured, in words: `main completion`, `main audio mean-delay`."""
        return " ".join(filter(None, (self.flow, self.stream, self.metric)))

    @property
    def better(self) -> Better:
        """Which end is better."""
        return "lower" if self.side == "at_most" else "higher"

    @property
    def at_most(self) -> float | None:
        """The bound, if it is a largest value."""
        return self.bound if self.side == "at_most" else None

    @property
    def at_least(self) -> float | None:
        """The bound, if it is a least value."""
        return self.bound if self.side == "at_least" else None

    @property
    def failures_allowed(self) -> int:
        """How many of the trials may fail."""
        # Rounded first: 10 trials less 90 % of them are 1, and not 0.9999999999999998.
        return math.floor(round(self.n * (1 - self.within), 9))

    @property
    def answer(self) -> Answer:
        """Whether enough trials held this criterion, or whether none could."""
        # The floor belongs to the planned start: where the path changes, a later start may have an easier one.
        if (
            self.side == "at_most"
            and self.floor is not None
            and self.bound < self.floor
            and self.failures == self.n
        ):
            return "infeasible"
        return "fails" if self.failures > self.failures_allowed else "holds"

    def is_worse(self, value: float, than: float) -> bool:
        """Whether a value of the metric is further on the side of failure."""
        return value > than if self.side == "at_most" else value < than

    def document(self) -> dict[str, Any]:
        """This criterion as JSON; a value of an event that never happened is null."""
        numbers = {key: finite(getattr(self, key)) for key in ("min", "p5", "median", "p95", "worst")}
        return {
            "flow": self.flow,
            "stream": self.stream,
            "metric": self.metric,
            "source": self.source,
            "at_most": _known(self.at_most),
            "at_least": _known(self.at_least),
            "in": self.within,
            "unit": self.unit,
            "n": self.n,
            "effective_n": self.effective_n,
            **numbers,
            "median_interval95": self.median_interval.document(),
            "p95_interval95": self.p95_interval.document(),
            "worst_at_least95": finite(self.worst_at_least),
            "failures": self.failures,
            "failures_allowed": self.failures_allowed,
            "failure_rate_lower95": self.failure_rate_lower95,
            "failure_rate_upper95": self.failure_rate_upper95,
            "worst_trial": self.worst_trial,
            "floor": self.floor,
            "informative": self.informative,
            "answer": self.answer,
        }


@dataclass(frozen=True)
class Verdict:
    """What the trials of a scenario say about its pass criteria."""

    criteria: tuple[Statistics, ...]

    @property
    def answer(self) -> Answer | None:
        """`fails` if a criterion that decides fails, else `infeasible` if one cannot be met, else `holds`.

        None without a criterion that decides: nothing was asked.
        """
        answers = {statistics.answer for statistics in self.criteria if not statistics.informative}
        order: tuple[Answer, ...] = ("fails", "infeasible", "holds")
        return next((answer for answer in order if answer in answers), None)

    @property
    def worst_trial(self) -> int:
        """Index of the worst trial by the first criterion that decides; 0 if there is none."""
        ranked = self._ranked
        return ranked[0].worst_trial if ranked else 0

    @property
    def typical_trial(self) -> int:
        """Index of the trial nearest to the median of the same criterion; 0 if there is none."""
        ranked = self._ranked
        if not ranked or not math.isfinite(ranked[0].median):
            return 0
        distances = np.abs(ranked[0].values["value"].to_numpy() - ranked[0].median)
        return int(ranked[0].values["trial"][int(np.argmin(distances))])

    @property
    def _ranked(self) -> list[Statistics]:
        """Criteria that decide before those that do not."""
        return sorted(self.criteria, key=lambda statistics: statistics.informative)


def judge(
    criteria: Sequence[Mapping[str, Any]],
    flows: pl.DataFrame,
    streams: pl.DataFrame | None = None,
    starts_s: Mapping[str, float] | None = None,
) -> Verdict:
    """Sets the outcomes of flows and of their streams of media against the criteria of a scenario.

    `starts_s`: when the scenario has each flow start, before noise.
    """
    return Verdict(
        tuple(_statistics(criterion, values_of(criterion, flows, streams, starts_s)) for criterion in criteria)
    )


def column_of(criterion: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The column that holds the metric of a criterion, of those that the table of flows or of streams has.

    >>> column_of({"metric": "queue-delay"}, ["mean_rtt_s", "mean_queue_delay_s"])
    'mean_queue_delay_s'
    """
    metric = str(criterion["metric"])
    column = str(criterion.get("column") or (METRICS[metric].column if metric in METRICS else metric))
    if column not in columns:
        raise RequestError(f"no outcome measures {metric!r}{did_you_mean(column, columns)}")
    return column


def without_offset(flows: pl.DataFrame, starts_s: Mapping[str, float]) -> pl.DataFrame:
    """Outcomes of flows with times as if each had started when its scenario says, at `starts_s`.

    >>> flows = pl.DataFrame({"flow": ["main"], "start_s": [2.06], "completion_s": [7.06]})
    >>> without_offset(flows, {"main": 2.0})["completion_s"].item()
    7.0
    """
    if "start_s" not in flows.columns:
        return flows
    planned = pl.col("flow").replace_strict(starts_s, default=None, return_dtype=pl.Float64)
    late = (pl.col("start_s") - planned).fill_null(0.0)
    return flows.with_columns(pl.col(name) - late for name in _FROM_START if name in flows.columns)


def values_of(
    criterion: Mapping[str, Any],
    flows: pl.DataFrame,
    streams: pl.DataFrame | None = None,
    starts_s: Mapping[str, float] | None = None,
) -> pl.DataFrame:
    """What a criterion measures in each trial: columns `trial`, `seed` where there is one, and `value`.

    Where there is none, the value is the worst, infinite on the side of failure: for times where the flow did not
    finish, of streams too. A metric of streams without the name of a stream is for the worst stream of the flow.
    Times count from `starts_s`, when the scenario has the flow start, as if the flow had started then. Raises
    RequestError.
    """
    rows = without_offset(flows.filter(pl.col("flow") == criterion["flow"]), starts_s or {})
    if rows.is_empty():
        raise RequestError(
            f"no outcome of flow {criterion['flow']!r}{did_you_mean(criterion['flow'], flows['flow'])}"
        )
    about = [name for name in ("trial", "seed", "finished") if name in flows.columns]
    known = METRICS.get(str(criterion["metric"]))
    worst = -math.inf if side_of(criterion) == "at_least" else math.inf
    is_of_stream = known is not None and known.of == "stream" and known.column not in flows.columns
    if criterion.get("stream") is None and not is_of_stream:
        column = column_of(criterion, flows.columns)
    else:
        own = _of_stream(criterion, streams)
        column = column_of(criterion, own.columns)
        own = _worst_stream(own, column, worst)
        rows = rows.select(about).join(own.select("trial", column), on="trial", how="left", maintain_order="left")
    # What outcomes made by hand do not say is finished where there is a number.
    until_the_end = criterion.get("until_the_end", known is not None and known.until_the_end)
    is_asked = "finished" in about and not until_the_end
    done = pl.col("finished") if is_asked else pl.lit(value=True)
    value = pl.col(column).cast(pl.Float64).fill_nan(None)
    return rows.select(
        *(name for name in about if name != "finished"),
        pl.when(done).then(value).fill_null(worst).alias("value"),
    )


def _of_stream(criterion: Mapping[str, Any], streams: pl.DataFrame | None) -> pl.DataFrame:
    flow, stream = criterion["flow"], criterion.get("stream")
    known: list[str] = []
    if streams is not None and not streams.is_empty():
        streams = streams.filter(pl.col("flow") == flow)
        own = streams if stream is None else streams.filter(pl.col("stream") == stream)
        if not own.is_empty():
            return own
        known = streams["stream"].to_list()
    what = "a stream" if stream is None else f"stream {stream!r}"
    hint = "" if stream is None else did_you_mean(stream, known)
    raise RequestError(f"no outcome of {what} of flow {flow!r}{hint}")


def _worst_stream(streams: pl.DataFrame, column: str, worst: float) -> pl.DataFrame:
    """One row for each trial, with the worst value of its streams; one that has none is the worst."""
    if streams["trial"].is_unique().all():
        return streams
    value = pl.col(column).cast(pl.Float64).fill_nan(None).fill_null(worst)
    return streams.group_by("trial").agg(value.max() if worst > 0 else value.min())


def side_of(criterion: Mapping[str, Any]) -> Side:
    """Which side of its bound a criterion asks for."""
    return "at_most" if criterion.get("at_least") is None else "at_least"


def _statistics(criterion: Mapping[str, Any], rows: pl.DataFrame) -> Statistics:
    values = rows["value"].to_numpy()
    ordered, n = np.sort(values), len(values)
    side = side_of(criterion)
    bound = float(criterion[side])
    bad = values if side == "at_most" else -values
    failures = int(np.count_nonzero(bad > (bound if side == "at_most" else -bound)))
    effective_n = effective_number(values)
    sign = 1.0 if side == "at_most" else -1.0
    return Statistics(
        flow=criterion["flow"],
        stream=criterion.get("stream"),
        metric=criterion["metric"],
        source=criterion.get("source"),
        bound=bound,
        side=side,
        within=float(criterion.get("in", 1.0)),
        unit=criterion.get("unit", ""),
        floor=criterion.get("floor"),
        informative=bool(criterion.get("informative", False)),
        n=n,
        effective_n=effective_n,
        min=float(ordered[0]),
        p5=percentile(ordered, 0.05),
        median_interval=quantile_interval(values, 0.5),
        p95_interval=quantile_interval(values, 0.95),
        worst=sign * float(np.max(bad)),
        worst_at_least=sign * least_worst(bad),
        failures=failures,
        failure_rate_lower95=rate_lower_bound(failures * effective_n / n, effective_n),
        failure_rate_upper95=rate_upper_bound(failures * effective_n / n, effective_n),
        worst_trial=int(rows["trial"][int(np.argmax(bad))]),
        values=rows,
    )


def _known(value: float | None) -> float | None:
    return None if value is None else finite(value)
