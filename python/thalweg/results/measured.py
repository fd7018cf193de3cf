"""What the trials of a scenario measured, criteria or not: medians over trials of each flow, link and stream.

Completion is infinite in a trial in which the flow did not finish, and counts as in verdicts: what `noise.start`
adds is no part of it. Any other metric leaves out the trials that do not define it, such as the RTT of a flow that
has sent nothing; `n` says how many are left. Intervals are for medians (`statistics`), at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.verdict import without_offset


@dataclass(frozen=True)
class Metric:
    """A number of each trial."""

    name: str
    """In tables."""
    unit: str
    """Empty for a count."""
    key: str
    """In JSON."""
    column: str
    """Of outcomes."""
    whole: tuple[str, ...] = ()
    """The columns that it is a share of."""

    @property
    def value(self) -> pl.Expr:
        """From the columns of outcomes."""
        if not self.whole:
            return pl.col(self.column)
        total = pl.sum_horizontal(self.whole)
        return pl.when(total > 0).then(pl.col(self.column) / total)


@dataclass(frozen=True)
class Measurement:
    """A flow, a link or a stream of media, and its metrics."""

    names: dict[str, str]
    """What is measured: flow and controller, link, or flow and stream."""
    values: dict[str, Interval]
    """The median of each metric that some trial defines, by the key of the metric."""

    def document(self) -> dict[str, Any]:
        """As JSON has it: the median, its interval, and the trials it rests on."""
        return {
            **self.names,
            **{
                key: {
                    "median": finite(quantity.value),
                    "interval95": quantity.document(),
                    "n": quantity.n,
                }
                for key, quantity in self.values.items()
            },
        }


def _column(name: str, unit: str, key: str) -> Metric:
    return Metric(name, unit, key, key)


def _share(name: str, key: str, part: str, *whole: str) -> Metric:
    return Metric(name, "share", key, part, whole)


COMPLETION = _column("completion", "s", "completion_s")
FLOW = (
    COMPLETION,
    _column("rate", "bps", "mean_rate_bps"),
    _column("loss", "share", "loss"),
    _column("RTT min", "s", "min_rtt_s"),
    _column("RTT mean", "s", "mean_rtt_s"),
    _column("queue delay", "s", "mean_queue_delay_s"),
    _column("share", "share", "share"),
)
LINK = (
    _column("utilisation", "share", "utilisation"),
    _column("queue delay", "s", "mean_queue_delay_s"),
    _share("dropped", "dropped", "dropped_packets", "delivered_packets", "dropped_packets", "lost_packets"),
    _share("lost", "lost", "lost_packets", "delivered_packets", "dropped_packets", "lost_packets"),
)
POLICED = _share("policed", "policed", "policed_packets", *LINK[-1].whole)
"""Of what is dropped; of links whose policer dropped something."""
STREAM = (
    _column("mean delay", "s", "mean_delay_s"),
    _column("p50", "s", "p50_delay_s"),
    _column("p95", "s", "p95_delay_s"),
    _column("p99", "s", "p99_delay_s"),
    _column("max", "s", "max_delay_s"),
    _column("first frame", "s", "first_frame_s"),
    _column("late", "", "late"),
    _column("freezes", "", "freezes"),
    _column("frozen", "s", "frozen_s"),
    _column("skipped", "", "skipped"),
    _column("undelivered", "", "undelivered"),
    _column("media rate", "bps", "media_rate_bps"),
    _column("encoder rate", "bps", "encoder_rate_bps"),
    _column("of its most", "share", "encoder_share"),
    _column("MOS", "", "mos"),
)


def flows(outcomes: Outcomes) -> list[Measurement]:
    """Each flow, in the order of the scenario."""
    table = without_offset(outcomes.flows, outcomes.scenario.starts_s)
    if COMPLETION.key in table.columns:
        done = pl.col("finished") if "finished" in table.columns else pl.lit(value=True)
        time = pl.col(COMPLETION.key).cast(pl.Float64).fill_nan(None)
        table = table.with_columns(pl.when(done).then(time).fill_null(math.inf).alias(COMPLETION.key))
    controllers = table.unique("flow", keep="first", maintain_order=True)["controller"]
    found = [
        Measurement({"flow": flow, "controller": str(controller)}, values)
        for ((flow,), values), controller in zip(_medians(table, ["flow"], FLOW), controllers, strict=True)
    ]
    if len(found) == 1:
        found[0].values.pop("share", None)  # of itself
    return found


def links(outcomes: Outcomes) -> list[Measurement]:
    """Each link."""
    columns = outcomes.links.columns
    polices = POLICED.column in columns and (outcomes.links[POLICED.column] > 0).any()
    metrics = (*LINK, POLICED) if polices else LINK
    return [Measurement({"link": name}, values) for (name,), values in _medians(outcomes.links, ["link"], metrics)]


def streams(outcomes: Outcomes) -> list[Measurement]:
    """Each stream of media of each flow."""
    if outcomes.streams.is_empty():
        return []
    found = _medians(outcomes.streams, ["flow", "stream"], STREAM)
    return [Measurement({"flow": flow, "stream": stream}, values) for (flow, stream), values in found]


def _medians(
    table: pl.DataFrame, names: Sequence[str], metrics: Sequence[Metric]
) -> Iterator[tuple[tuple[str, ...], dict[str, Interval]]]:
    """What is measured, by its names, with the metrics that some trial defines.

    There may be ten thousand flows: the values of all come from one query.
    """
    known = [metric for metric in metrics if set(metric.value.meta.root_names()) <= set(table.columns)]
    values = table.select(metric.value.cast(pl.Float64).fill_null(math.nan).alias(metric.key) for metric in known)
    columns = {key: values[key].to_numpy() for key in values.columns}
    rows = table.select(names).with_row_index("row").group_by(names, maintain_order=True).agg("row")
    for (*named,), own in zip(rows.select(names).iter_rows(), rows["row"], strict=True):
        parts = {key: column[own.to_numpy()] for key, column in columns.items()}
        defined = {key: part[~np.isnan(part)] for key, part in parts.items()}
        yield tuple(map(str, named)), {key: median_interval(part) for key, part in defined.items() if len(part)}
