"""Rows of the tables of what probes show, on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from statistics import median

from thalweg.base.quantity import percent, text
from thalweg.probe.analysis import Analysis
from thalweg.probe.dependence import LAGS, growth
from thalweg.probe.wifi_fit import WifiFit

SUMMARY = ("trace", "sent", "lost", "RTT min", "mean", "p50", "p90", "p95", "p99", "max", "up p50", "down p50")
ORDER = ("trace", "kept by filter", "in-order line", "pairs on it", "reordered", "copies", "lost up", "lost down")
DEPENDENCE = (
    "trace",
    "interval",
    "mean delay",
    "growth",
    *(f"correlation at {lag}" for lag in LAGS),
    "decays in",
    "events",
    "median length",
    "longest",
)
"""Delays above the least; growth over the trace with the widest spacing."""
FITS = ("trace", "direction", "long delays", "short scale", "long scale", "mean", "KS distance", "p at most")
TIMERS = ("timer", "formula")


def summary_row(analysis: Analysis) -> list[str]:
    """A row under `SUMMARY`."""
    rtt = analysis.percentiles()
    values = [rtt["min"], float(analysis.rtt.mean()), rtt["p50"], rtt["p90"], rtt["p95"], rtt["p99"], rtt["max"]]
    ways = [analysis.document()[way]["p50"] for way in ("up_s", "down_s")]
    losses = analysis.losses
    return [
        analysis.series.name,
        str(losses.sent),
        f"{losses.lost} ({percent(losses.loss)})",
        *(text(value, "s", 3) for value in [*values, *ways]),
    ]


def order_row(analysis: Analysis) -> list[str]:
    """A row under `ORDER`."""
    line, losses = analysis.line, analysis.losses
    return [
        analysis.series.name,
        percent(float(analysis.kept.mean())),
        f"RTT - {text(line.below_s, 's', 3)}" if line.found else "none",
        f"{line.on_line} of {line.candidates}",
        f"{losses.reordered_up} up, {losses.reordered_down} down",
        str(losses.copies),
        "-" if losses.lost_up is None else str(losses.lost_up),
        "-" if losses.lost_down is None else str(losses.lost_down),
    ]


def dependence_rows(analyses: Sequence[Analysis]) -> list[list[str]]:
    """Rows under `DEPENDENCE`, of traces of one path."""
    grown = growth([analysis.dependence for analysis in analyses])
    return [_dependence_row(analysis, grows) for analysis, grows in zip(analyses, grown, strict=True)]


def _dependence_row(analysis: Analysis, grows: float) -> list[str]:
    found = analysis.dependence

    def known(value: float, unit: str = "") -> str:
        return text(value, unit, 3) if isfinite(value) else "-"

    return [
        analysis.series.name,
        known(found.interval_s, "s"),
        known(found.mean_s, "s"),
        known(grows),
        *(known(value) for value in found.correlation.values()),
        known(found.decay_s, "s"),
        str(len(found.events)),
        known(float(median(found.events)) if found.events else nan, "s"),
        known(max(found.events, default=nan), "s"),
    ]


def fit_rows(analysis: Analysis) -> list[list[str]]:
    """Rows under `FITS`."""
    rows = [_fit_row(analysis.series.name, way, fit) for way, fit in analysis.fits.items()]
    return [*rows, _fit_row(analysis.series.name, "both, published scales", analysis.published)]


def _fit_row(name: str, way: str, fit: WifiFit) -> list[str]:
    model = fit.model
    return [
        name,
        way,
        percent(model.fraction),
        text(model.short_s, "s", 3),
        text(model.long_s, "s", 3) if model.fraction else "-",
        text(model.mean_s, "s", 3),
        f"{fit.distance:.3f}",
        f"{fit.probability:.2g}",
    ]


def timer_rows(analyses: Sequence[Analysis]) -> list[list[str]]:
    """Spurious firings of each timer on each trace, and on what the in-order filter keeps of it."""
    rows = []
    for index, firings in enumerate(analyses[0].timers):
        cells = [firings.timer.name, firings.timer.formula]
        for analysis in analyses:
            raw, kept = analysis.timers[index].count, analysis.filtered_timers[index].count
            cells.append(
                f"{raw} ({percent(raw / analysis.losses.answered)}); {kept} of {int(analysis.kept.sum())}"
            )
        rows.append(cells)
    return rows
