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


def summary_row(one: Analysis) -> list[str]:
    """A row under `SUMMARY`."""
    rtt = one.percentiles()
    values = [rtt["min"], float(one.rtt.mean()), rtt["p50"], rtt["p90"], rtt["p95"], rtt["p99"], rtt["max"]]
    ways = [one.document()[way]["p50"] for way in ("up_s", "down_s")]
    losses = one.losses
    return [
        one.series.name,
        str(losses.sent),
        f"{losses.lost} ({percent(losses.loss)})",
        *(text(value, "s", 3) for value in [*values, *ways]),
    ]


def order_row(one: Analysis) -> list[str]:
    """A row under `ORDER`."""
    line, losses = one.line, one.losses
    return [
        one.series.name,
        percent(float(one.kept.mean())),
        f"RTT - {text(line.below_s, 's', 3)}" if line.found else "none",
        f"{line.on_line} of {line.candidates}",
        f"{losses.reordered_up} up, {losses.reordered_down} down",
        str(losses.copies),
        "-" if losses.lost_up is None else str(losses.lost_up),
        "-" if losses.lost_down is None else str(losses.lost_down),
    ]


def fit_rows(one: Analysis) -> list[list[str]]:
    """Rows under `FITS`."""
    rows = [_fit_row(one.series.name, way, fit) for way, fit in one.fits.items()]
    return [*rows, _fit_row(one.series.name, "both, published scales", one.published)]


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
        for one in analyses:
            raw, kept = one.timers[index].count, one.filtered_timers[index].count
            cells.append(f"{raw} ({percent(raw / one.losses.answered)}); {kept} of {int(one.kept.sum())}")
        rows.append(cells)
    return rows


def print_summaries(console: Console, analyses: Sequence[Analysis]) -> None:
    """The delays of each trace."""
    console.print(plain_table(SUMMARY, [summary_row(one) for one in analyses], 1))


def print_analyses(console: Console, analyses: Sequence[Analysis]) -> None:
    """All that there is to say."""
    print_summaries(console, analyses)
    console.print(plain_table(ORDER, [order_row(one) for one in analyses], 1))
    headers = (*TIMERS, *(f"{one.series.name}: spurious; filtered" for one in analyses))
    console.print(plain_table(headers, timer_rows(analyses), len(TIMERS)))
    console.print(plain_table(FITS, [row for one in analyses for row in fit_rows(one)], 2))
    for one in analyses:
        entries = one.entries()
        console.print(f"{one.series.name}, for the [path] of a scenario; below, with the published scales:")
        console.print(f"  jitter = {entries['fitted']}")
        console.print(f"  jitter = {entries['published']}")
