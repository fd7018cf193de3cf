"""What the trials of a scenario measured, criteria or not: medians over trials of each flow, link and stream.

Completion is infinite in a trial in which the flow did not finish, and counts as in verdicts: what `noise.start`
adds is not part of it. Any other metric leaves out the trials that do not define it, such as the RTT of a flow
that has sent nothing; `n` says how many are left. Intervals are for medians (`statistics`), at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from thalweg.engine.outcome import Outcomes
from thalweg.judging.derived import DERIVED, NAMED
from thalweg.judging.measures import LIMITS, METRICS, Measure
from thalweg.judging.statistics.interval import Interval, finite
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.verdict import without_offset


@dataclass(frozen=True)
class Measurement:
    """A flow, a link or a stream of media, and its metrics."""

    names: dict[str, str]
    """What is measured: flow and controller, link, or flow and stream."""
    values: dict[str, Interval]
    """The median of each metric that some trial defines, by the column of the metric."""

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


COMPLETION = METRICS["completion"]
FLOW = (
    COMPLETION,
    *(NAMED[name] for name in ("rate", "loss", "min-rtt", "rtt", "queue-delay", "share")),
)
LIMITED = tuple(DERIVED[f"limited-by-{name}"] for name in LIMITS)
"""The shares of time of what limits a flow, which tables say in a sentence: see `limited`."""
POLICED = METRICS["link-policed"]
"""The policed share, for links whose policer dropped something."""
LINK = tuple(one for one in METRICS.values() if one.of == "link" and one is not POLICED)
STREAM = tuple(
    METRICS[name]
    for name in (
        "mean-delay",
        "p50-delay",
        "p95-delay",
        "p99-delay",
        "max-delay",
        "first-frame",
        "late",
        "freezes",
        "frozen",
        "skipped",
        "undelivered",
        "repaired",
        "repair-bytes",
        "media-rate",
        "encoder-rate",
        "encoder-share",
        "mos",
    )
)
_PARTS = ("dropped", "lost", "policed")
_OFFERED = ("delivered_packets", "dropped_packets", "lost_packets")


def value(metric: Measure) -> pl.Expr:
    """From the columns of outcomes. What happens to packets on a link is a share of those that it was offered."""
    if metric.column not in _PARTS:
        return pl.col(metric.column)
    total = pl.sum_horizontal(_OFFERED)
    return pl.when(total > 0).then(pl.col(f"{metric.column}_packets") / total)


def is_known(metric: Measure, columns: Collection[str]) -> bool:
    """Whether these columns of outcomes give it."""
    return set(value(metric).meta.root_names()) <= set(columns)


def flows(outcomes: Outcomes) -> list[Measurement]:
    """Each flow, in the order of the scenario."""
    table = without_offset(outcomes.flows, outcomes.scenario.starts_s)
    if COMPLETION.column in table.columns:
        done = pl.col("finished") if "finished" in table.columns else pl.lit(value=True)
        time = pl.col(COMPLETION.column).cast(pl.Float64).fill_nan(None)
        table = table.with_columns(pl.when(done).then(time).fill_null(math.inf).alias(COMPLETION.column))
    controllers = table.unique("flow", keep="first", maintain_order=True)["controller"]
    medians = _medians(table, ["flow"], (*FLOW, *LIMITED))
    found = [
        Measurement({"flow": flow, "controller": str(controller)}, values)
        for ((flow,), values), controller in zip(medians, controllers, strict=True)
    ]
    if len(found) == 1:
        found[0].values.pop("share", None)  # of itself
    return found


def links(outcomes: Outcomes) -> list[Measurement]:
    """Each link."""
    columns = outcomes.links.columns
    polices = is_known(POLICED, columns) and (outcomes.links["policed_packets"] > 0).any()
    metrics = (*LINK, POLICED) if polices else LINK
    return [Measurement({"link": name}, values) for (name,), values in _medians(outcomes.links, ["link"], metrics)]


def streams(outcomes: Outcomes) -> list[Measurement]:
    """Each stream of media of each flow."""
    if outcomes.streams.is_empty():
        return []
    found = _medians(outcomes.streams, ["flow", "stream"], STREAM)
    return [Measurement({"flow": flow, "stream": stream}, values) for (flow, stream), values in found]


def _medians(
    table: pl.DataFrame, names: Sequence[str], metrics: Sequence[Measure]
) -> Iterator[tuple[tuple[str, ...], dict[str, Interval]]]:
    """What is measured, by its names, with the metrics that some trial defines.

    There may be ten thousand flows: the values of all come from one query.
    """
    known = [metric for metric in metrics if is_known(metric, table.columns)]
    values = table.select(
        value(metric).cast(pl.Float64).fill_null(math.nan).alias(metric.column) for metric in known
    )
    columns = {key: values[key].to_numpy() for key in values.columns}
    rows = table.select(names).with_row_index("row").group_by(names, maintain_order=True).agg("row")
    for (*named,), own in zip(rows.select(names).iter_rows(), rows["row"], strict=True):
        parts = {key: column[own.to_numpy()] for key, column in columns.items()}
        defined = {key: part[~np.isnan(part)] for key, part in parts.items()}
        yield tuple(map(str, named)), {key: median_interval(part) for key, part in defined.items() if len(part)}
