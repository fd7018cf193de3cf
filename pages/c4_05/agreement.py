"""Our numbers next to the published ones and to trials of the same state by the peer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import polars as pl

from pages.c4_05.trials import MAINS, as_run, median_s, numbers, played, tests
from pages.made import ROOT, row
from thalweg.results.published import Published

REFERENCE = ROOT / "tests" / "reference"


@dataclass(frozen=True)
class Metric:
    """One table."""

    key: str
    """In the reference data."""
    title: str
    unit: str
    per_unit: float
    """The unit of the reference data: microseconds or percent."""
    of: Callable[[Published], float]
    """Ours, in seconds or as a share."""
    tolerance: Callable[[str], float]
    """How far the mean of a test may be off, in percent of the published value, or in points for a load."""


def of_time(test: str) -> float:
    """Tolerance of completion: alone 2 %, competition 5 %, Wi-Fi 8 %.

    >>> of_time("alone"), of_time("vs-c4"), of_time("wifi-bad-c4")
    (2.0, 5.0, 8.0)
    """
    if test.startswith("wifi"):
        return 8.0
    return 5.0 if competes(test) else 2.0


def competes(test: str) -> bool:
    """Whether a test has a competitor.

    >>> competes("ecn"), competes("ecn-c4"), competes("after-c4"), competes("bbloat")
    (False, True, True, False)
    """
    return bool({"vs", "after", "before", "c4", "bbr", "cubic"} & set(test.split("-")))


def _of_load(test: str) -> float:
    return 6.0 if test.startswith("wifi") else 3.0


def _five(_: str) -> float:
    return 5.0


METRICS = [
    Metric("time_mean_us", "Completion, mean", "s", 1e6, lambda ours: ours.closed_mean_s, of_time),
    Metric("time_p90_us", "Completion, 90th percentile", "s", 1e6, lambda ours: ours.closed_p90_s, of_time),
    Metric("rtt_mean_us", "RTT by event weight, mean", "ms", 1e3, lambda ours: 1e3 * ours.event_rtt_mean_s, _five),
    Metric(
        "rtt_plus_std_p90_us",
        "RTT and its standard deviation, 90th percentile",
        "ms",
        1e3,
        lambda ours: 1e3 * ours.event_rtt_high_p90_s,
        _five,
    ),
    Metric("load_mean_pct", "Load, mean", "%", 1, lambda ours: 100 * ours.load_mean, _of_load),
    Metric("load_p90_pct", "Load, 90th percentile", "%", 1, lambda ours: 100 * ours.load_p90, _of_load),
    Metric(
        "frame_latency_mean_us",
        "Frame delay of the worst stream, mean",
        "ms",
        1e3,
        lambda ours: 1e3 * ours.frame_delay_mean_s,
        _five,
    ),
    Metric(
        "frame_latency_max_p90_us",
        "Largest frame delay of the worst stream, 90th percentile",
        "ms",
        1e3,
        lambda ours: 1e3 * ours.max_frame_delay_p90_s,
        _five,
    ),
]


_UNITS = {"s": "seconds", "ms": "milliseconds", "%": "percent of the capacity; differences in points"}


@cache
def published_table() -> pl.DataFrame:
    """Test, metric, and the published number of each main flow."""
    return pl.read_csv(REFERENCE / "c4_05_published.csv").with_columns(pl.col("test").str.replace_all("_", "-"))


@cache
def peer_table() -> pl.DataFrame:
    """Test, main, and each metric of the trials of the peer."""
    return pl.read_csv(REFERENCE / "c4_05_peer.csv").with_columns(pl.col("test").str.replace_all("_", "-"))


def peers(test: str, main: str, metric: str) -> float:
    """A number of the peer's trials; nan if there is none."""
    found = peer_table().filter(test=test, main=main)[metric].drop_nulls()
    return float(found[0]) if len(found) else math.nan


def rows_of(metric: Metric, test: str) -> list[str]:
    """The line of a test in the table of a metric; none if nothing is published of it."""
    line = published_table().filter(test=test, metric=metric.key)
    if not line.height:
        return []
    ours = {name: metric.of(numbers(*as_run(test, name))) for name in MAINS}
    cells = [_cell(metric, float(line[name.lower()][0]), ours[name]) for name in MAINS]
    return [row(test, *cells)]


def _cell(metric: Metric, theirs: float, ours: float) -> str:
    theirs /= metric.per_unit
    digits = 2 if metric.unit == "s" else 0 if metric.unit == "%" else 1
    if metric.unit == "%":
        return f"{theirs:.0f}, {ours:.0f} ({ours - theirs:+.0f})"
    return f"{theirs:.{digits}f}, {ours:.{digits}f} ({100 * (ours / theirs - 1):+.1f} %)"


def table(metric: Metric) -> str:
    """The table of a metric, by its title."""
    lines = [line for test in tests() for line in rows_of(metric, test)]
    head = [row("test", *(f"{name}: published, ours" for name in MAINS)), row(":--", "--:", "--:", "--:")]
    return "\n".join([f"### {metric.title}\n", f"In {_UNITS[metric.unit]}.\n", *head, *lines])


def misses() -> str:
    """What is further from the trials of the peer than the tolerance, C4 as main flow; and how much is within."""
    lines, judged = [], 0
    for metric in METRICS:
        key = "time_median_us" if metric.key == "time_mean_us" else metric.key
        for test in tests():
            theirs = peers(test, "c4", key) / metric.per_unit
            if math.isnan(theirs):
                continue
            run = as_run(test, "C4")
            ours = median_s(played(*run)) if key == "time_median_us" else metric.of(numbers(*run))
            points = ours - theirs
            difference = points if metric.unit == "%" else 100 * (ours / theirs - 1)
            judged += 1
            if abs(difference) > metric.tolerance(test):
                unit = "points" if metric.unit == "%" else "%"
                title = "Completion, median" if key == "time_median_us" else metric.title
                lines.append(row(test, title, f"{difference:+.1f} {unit}", f"{metric.tolerance(test):g} {unit}"))
    head = [row("test", "number", "ours to the peer's", "at most"), row(":--", ":--", "--:", "--:")]
    held = f"{judged - len(lines)} of {judged} numbers are within their tolerance. The others:\n"
    return "\n".join([held, *head, *lines])
