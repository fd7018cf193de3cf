"""What figures of a sweep show: its points with medians and intervals of some metrics, along two or three axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import scale, text
from thalweg.experiments.sweep.axis import CONTROLLER
from thalweg.experiments.sweep.medians import subjects
from thalweg.experiments.sweep.pareto import is_on_front
from thalweg.experiments.sweep.result import SweepResult
from thalweg.judging.derived import NAMED
from thalweg.judging.measures import METRICS
from thalweg.results import measured

MOST_POINTS = 5000
"""The most points of a figure: a page with more is unreadable."""
MOST_PANELS = 24
TRACES = 40
"""Points of a page that have the figure of a trial; the others have the command that makes it."""
_USUAL = tuple(METRICS[name].column for name in ("completion", "rate", "loss", "queue-delay"))
_USUAL_OF_CALLS = tuple(METRICS[name].column for name in ("loss", "queue-delay"))
_USUAL_OF_STREAMS = tuple(METRICS[name].column for name in ("p95-delay", "frozen", "media-rate", "mos"))
"""What a page shows unless asked: of each flow, which is not the end of a call, and of each stream of a call."""
_RATE, *_DELAYS = (METRICS[name].column for name in ("rate", "queue-delay", "rtt"))


@dataclass(frozen=True)
class AxisMetric:
    """A number of the table, as axes of figures have it: divided so that it reads well."""

    column: str
    """In the table: `median`, with `low` and `high` behind it."""
    title: str
    unit: str
    divisor: float

    @property
    def label(self) -> str:
        """Title and unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Dimension:
    """An axis of the sweep, as figures have it."""

    column: str
    key: str
    """As plans and options have it: `path.rtt`."""
    title: str
    """In words."""
    labels: list[str]
    """Labels of its values, in their order."""
    is_number: bool
    is_log: bool = False
    """Whether its values are nearer to a geometric series than to an arithmetic one."""
    unit: str = ""
    ticks: tuple[float, ...] = ()
    """Its numbers, in this unit."""

    @property
    def label(self) -> str:
        """Title and unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class View:
    """The points that are shown."""

    points: pl.DataFrame
    """`index`, axes as numbers or words, their texts behind `#`, `panel`, `front`, metrics."""
    across: Dimension
    """Along the horizontal axis."""
    by: Dimension | None
    """Down a heat map, and the colour of lines."""
    panels: list[str]
    """What tells the panels apart, in their order; one empty text if there is one panel."""
    metrics: list[AxisMetric]
    rate: AxisMetric | None
    delay: AxisMetric | None
    is_grid: bool
    """Whether points stand in rows and columns."""
    only: str = ""
    """The values that all points have which are shown: `rate 5 Mbps`; empty for all points of the sweep."""


def metric_names(result: SweepResult) -> list[str]:
    """All metrics of a sweep: `flow.main.completion_s`."""
    rows = result.rows.columns
    return [
        f"{subject}{metric.column}"
        for subject, metrics in subjects(result.columns)
        for metric in metrics
        if f"{subject}{metric.column}" in rows
    ]


def view_of(
    result: SweepResult,
    axes: Sequence[str] = (),
    metrics: Sequence[str] = (),
    only: Mapping[str, str] | None = None,
) -> View:
    """What to show of a sweep; by default its first two axes, a panel for each value of the others, usual metrics.

    `axes` are keys, the horizontal one first; `only` leaves the points with these values. Raises RequestError.
    """
    table = _chosen(result, only or {})
    keys = [str(axis["key"]) for axis in result.head["axes"]]
    for key in axes:
        if key not in keys:
            raise RequestError(f"--axes {key!r}: the sweep has no such axis{did_you_mean(key, keys)}")
    if len(set(axes)) < len(axes) or len(axes) > 3:
        raise RequestError(f"--axes {','.join(axes)!r}: accepted: one to three axes, each once")
    columns = {str(axis["key"]): (str(axis["column"]), axis["unit"]) for axis in result.head["axes"]}
    varying = [key for key in keys if table[columns[key][0]].n_unique() > 1] or keys[:1]
    values = {key: table[columns[key][0]].n_unique() for key in keys}
    ordered = [*axes, *(key for key in _usual_order(varying, values) if key not in axes)]
    words = titles(keys, [str(flow["name"]) for flow in result.head["flows"]])
    dimensions = [_dimension(table, key, words[key], *columns[key]) for key in ordered]
    for dimension in dimensions:
        table = table.with_columns(_labels(table, dimension).alias(f"#{dimension.column}"))
        if dimension.is_number:
            ordinary = table[dimension.column].unique().sort()
            ticks = pl.Series(dimension.ticks, dtype=pl.Float64)
            table = table.with_columns(pl.col(dimension.column).replace_strict(ordinary, ticks))
    rest = dimensions[2:]
    parts = [pl.format("{} {}", pl.lit(other.title), pl.col(f"#{other.column}")) for other in rest]
    table = table.with_columns(panel=pl.concat_str(parts, separator=", ") if parts else pl.lit(""))
    panels = table["panel"].unique(maintain_order=True).to_list()
    if len(panels) > MOST_PANELS:
        raise RequestError(
            f"{len(panels)} panels, one for each value of {', '.join(other.key for other in rest)}; accepted: "
            f"at most {MOST_PANELS}, with --only {rest[0].key}={rest[0].labels[0]!r} or --axes"
        )
    shown = _metrics(result, table, metrics)
    rate, delay = _trade(table, result)
    table = _fronts(table, rate, delay, dimensions)
    numbers = [*shown, *(number for number in (rate, delay) if number)]
    table = table.with_columns(_divided(number, part) for number in dict.fromkeys(numbers) for part in _PARTS)
    cells = max(1, len(dimensions[0].labels)) * (len(dimensions[1].labels) if dimensions[1:] else 1) * len(panels)
    return View(
        table,
        dimensions[0],
        dimensions[1] if dimensions[1:] else None,
        panels,
        shown,
        rate,
        delay,
        cells <= 2 * table.height,
        ", ".join(f"{words[key]} {value}" for key, value in (only or {}).items()),
    )


_PARTS = ("", ".low", ".high")


def _divided(number: AxisMetric, part: str) -> pl.Expr:
    column = f"{number.column}{part}"
    value = pl.col(column) / number.divisor
    return pl.when(value.is_finite()).then(value).alias(column)


def _chosen(result: SweepResult, only: Mapping[str, str]) -> pl.DataFrame:
    """The rows with their index, of the points with some values. Raises RequestError."""
    if not result.points.height:
        raise RequestError(f"{result.folder} is a shard without trials; merge all shards of its sweep first")
    table = result.rows.with_columns(result.points["index"])
    for key, value in only.items():
        known = {str(axis["key"]): axis for axis in result.head["axes"]}
        if key not in known:
            raise RequestError(f"--only {key}={value}: the sweep has no such axis{did_you_mean(key, known)}")
        texts = result.texts(key)
        if value not in texts.to_list():
            raise RequestError(f"--only {key}={value}: no point has it{did_you_mean(value, texts.unique())}")
        kept = result.points.filter(texts == value)["index"]
        table = table.filter(pl.col("index").is_in(kept.implode()))
    if not table.height:
        raise RequestError("no point is left; use fewer --only")
    if table.height > MOST_POINTS:
        raise RequestError(
            f"{table.height} points are too many for a figure; accepted: at most {MOST_POINTS}, with "
            "--only KEY=VALUE"
        )
    return table


def _usual_order(keys: Sequence[str], values: Mapping[str, int]) -> list[str]:
    """The axis with the most values first, of numbers; controllers as the colour of lines."""
    controllers = [key for key in keys if key.startswith(CONTROLLER)]
    others = sorted((key for key in keys if key not in controllers), key=lambda key: -values[key])
    return [*others[:1], *controllers[:1], *others[1:], *controllers[1:]]


_WORDS = {
    "rtt": "round-trip time",
    "jitter.mean": "mean jitter",
    "jitter.max": "longest jitter",
    "loss.rate": "loss",
    "queue": "queue discipline",
    "queue.model": "queue discipline",
    "rate": "rate",
}


def titles(keys: Sequence[str], flows: Sequence[str]) -> dict[str, str]:
    """What axes are called in words; keys, where two would have the same.

    >>> titles(["path.rtt", "controller.main", "flow.main.download"], ["main"])
    {'path.rtt': 'round-trip time', 'controller.main': 'controller', 'flow.main.download': 'download'}
    >>> titles(["link.up.rate", "controller.main"], ["main", "other"])
    {'link.up.rate': 'rate of up', 'controller.main': 'controller of main'}
    """
    found = {key: _title(key, len(flows) > 1) for key in keys}
    names = list(found.values())
    return {key: name if names.count(name) == 1 else key for key, name in found.items()}


def _title(key: str, several: bool) -> str:
    kind, _, rest = key.partition(".")
    of = ""
    if kind in ("link", "flow", CONTROLLER.rstrip(".")):
        name, _, rest = rest.partition(".")
        of = f" of {name}" if several or kind == "link" else ""
        rest = rest or kind
    elif kind != "path":
        rest = key
    return _WORDS.get(rest, rest.replace("_", " ").replace(".", " ")) + of


def _dimension(table: pl.DataFrame, key: str, title: str, column: str, unit: str | None) -> Dimension:
    values = table[column].unique().sort()
    if not values.dtype.is_numeric():
        words = table[column].unique(maintain_order=True).cast(pl.String).to_list()
        return Dimension(column, key, title, words, is_number=False)
    numbers = values.to_numpy().astype(np.float64)
    is_log = len(numbers) > 2 and numbers[0] > 0 and float(np.median(numbers)) < (numbers[0] + numbers[-1]) / 2.5
    divisor, name = scale(float(np.median(np.abs(numbers))), unit or "")
    ticks = tuple(float(f"{number / divisor:.9g}") for number in numbers)
    labels = [text(number, unit or "") for number in numbers]
    return Dimension(column, key, title, labels, True, bool(is_log), name, ticks)


def _labels(table: pl.DataFrame, dimension: Dimension) -> pl.Series:
    if not dimension.is_number:
        return table[dimension.column].cast(pl.String)
    ordered = table[dimension.column].unique().sort()
    return table[dimension.column].replace_strict(ordered, pl.Series(dimension.labels), return_dtype=pl.String)


def _metrics(result: SweepResult, table: pl.DataFrame, names: Sequence[str]) -> list[AxisMetric]:
    known = metric_names(result)
    if not known:
        raise RequestError(f"{result.folder}: no trial has numbers; `error` in its table (--csv) says why")
    flows = [str(flow["name"]) for flow in result.head["flows"]]
    calls = {flow for flow in flows if any(name.startswith(f"stream.{flow}.") for name in known)}
    usual = [
        f"flow.{flow}.{key}" for key in _USUAL for flow in flows if flow not in calls or key in _USUAL_OF_CALLS
    ]
    usual += [name for key in _USUAL_OF_STREAMS for name in known if _is_of_stream(name, key)]
    found = []
    for name in names:
        ends = {f".{name}"} | ({f".{NAMED[name].column}"} if name in NAMED else set())
        matches = [full for full in known if full == name or any(full.endswith(end) for end in ends)]
        if not matches:
            raise RequestError(f"--metric {name!r}: nothing of that name was measured{did_you_mean(name, known)}")
        found += matches
    chosen = found or [name for name in usual if name in known] or known[:1]
    return [_shown(table, name, len(flows) > 1) for name in dict.fromkeys(chosen)]


def _is_of_stream(name: str, key: str) -> bool:
    return name.startswith("stream.") and name.endswith(f".{key}")


def _shown(table: pl.DataFrame, name: str, several: bool) -> AxisMetric:
    subject, _, key = name.rpartition(".")
    known = (*measured.FLOW, *measured.LIMITED, *measured.LINK, *measured.STREAM)
    metric = next(metric for metric in known if metric.column == key)
    values = table[name].to_numpy()
    finite = np.abs(values[np.isfinite(values)])
    divisor, unit = scale(float(np.median(finite)) if len(finite) else 1.0, metric.unit)
    whose = f" of {subject.partition('.')[2]}" if several or not subject.startswith("flow.") else ""
    return AxisMetric(name, f"{metric.heading}{whose}", unit, divisor)


def _trade(table: pl.DataFrame, result: SweepResult) -> tuple[AxisMetric | None, AxisMetric | None]:
    """Throughput and delay of the first flow, if both were measured."""
    for flow in result.head["flows"]:
        rate = f"flow.{flow['name']}.{_RATE}"
        delays = [name for key in _DELAYS if (name := f"flow.{flow['name']}.{key}") in table.columns]
        if rate in table.columns and delays:
            several = len(result.head["flows"]) > 1
            return _shown(table, rate, several), _shown(table, delays[0], several)
    return None, None


def _fronts(
    table: pl.DataFrame, rate: AxisMetric | None, delay: AxisMetric | None, dimensions: Sequence[Dimension]
) -> pl.DataFrame:
    """With `front`: controllers are compared on the same path, and paths with each other if none varies."""
    if rate is None or delay is None:
        return table.with_columns(front=pl.lit(False), path=pl.lit(""))
    controllers = [dimension for dimension in dimensions if dimension.column.startswith(CONTROLLER)]
    rest = [dimension for dimension in dimensions if controllers and dimension not in controllers]
    parts: list[Any] = [pl.format("{} {}", pl.lit(other.title), pl.col(f"#{other.column}")) for other in rest]
    table = table.with_columns(path=pl.concat_str(parts, separator=", ") if parts else pl.lit("all"))
    front = np.zeros(table.height, dtype=np.bool_)
    for _, own in table.with_row_index("row").group_by("path", maintain_order=True):
        rows = own["row"].to_numpy()
        front[rows] = is_on_front(own[rate.column].to_numpy(), own[delay.column].to_numpy())
    return table.with_columns(front=pl.Series(front))
