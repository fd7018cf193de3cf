"""Tables of what probes show."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from thalweg.cli.fitting import plain_table
from thalweg.probe.analysis import Analysis
from thalweg.probe.wifi_fit import WifiFit
from thalweg.quantity import percent, text

SUMMARY = ("trace", "sent", "lost", "RTT min", "mean", "p50", "p90", "p95", "p99", "max", "up p50", "down p50")
ORDER = ("trace", "kept by filter", "in-order line", "pairs on it", "reordered", "copies", "lost up", "lost down")
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


def print_summaries(console: Console, analyses: Sequence[Analysis]) -> None:
    """The delays of each trace."""
    console.print(plain_table(SUMMARY, [summary_row(analysis) for analysis in analyses], 1))


def print_analyses(console: Console, analyses: Sequence[Analysis]) -> None:
    """All that there is to say."""
    print_summaries(console, analyses)
    console.print(plain_table(ORDER, [order_row(analysis) for analysis in analyses], 1))
    headers = (*TIMERS, *(f"{analysis.series.name}: spurious; filtered" for analysis in analyses))
    console.print(plain_table(headers, timer_rows(analyses), len(TIMERS)))
    console.print(plain_table(FITS, [row for analysis in analyses for row in fit_rows(analysis)], 2))
    for analysis in analyses:
        entries = analysis.entries()
        console.print(f"{analysis.series.name}, for the [path] of a scenario; below, with the published scales:")
        console.print(f"  jitter = {entries['fitted']}")
        console.print(f"  jitter = {entries['published']}")
