"""Tables of what probes show, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from thalweg.base.quantity import text
from thalweg.cli.fitting import plain_table
from thalweg.probe.analysis import Analysis
from thalweg.probe.mechanism.naming import Mechanism
from thalweg.probe.report.tables import (
    DEPENDENCE,
    FITS,
    ORDER,
    SUMMARY,
    TIMERS,
    dependence_rows,
    fit_rows,
    order_row,
    summary_row,
    timer_rows,
)


def print_summaries(console: Console, analyses: Sequence[Analysis]) -> None:
    """The delays of each trace."""
    console.print(plain_table(SUMMARY, [summary_row(analysis) for analysis in analyses], 1))


def print_analyses(console: Console, analyses: Sequence[Analysis]) -> None:
    """All that there is to say."""
    print_summaries(console, analyses)
    console.print(plain_table(ORDER, [order_row(analysis) for analysis in analyses], 1))
    console.print(plain_table(DEPENDENCE, dependence_rows(analyses), 1))
    headers = (*TIMERS, *(f"{analysis.series.name}: spurious; filtered" for analysis in analyses))
    console.print(plain_table(headers, timer_rows(analyses), len(TIMERS)))
    console.print(plain_table(FITS, [row for analysis in analyses for row in fit_rows(analysis)], 2))
    for analysis in analyses:
        console.print(f"{analysis.series.name}, for the [path] of a scenario; the jitter is {analysis.remark}:")
        for line in analysis.path().splitlines():
            console.print(f"  {line}", soft_wrap=True)


def print_mechanisms(console: Console, mechanisms: Mapping[str, Mechanism], probes: Mapping[str, int]) -> None:
    """What makes the delays of each trace, its parameters with intervals of 90 %, or why nothing is named.

    `probes` has how many there are in each.
    """
    for trace, found in mechanisms.items():
        part = f"; its first {found.compared} probes" if 0 < found.compared < probes[trace] else ""
        console.print(
            f"{trace}, mechanism: {found.name or 'none is named'} ({found.reason}{part})", soft_wrap=True
        )
        for name, values in found.parameters.items():
            unit = "s" if name.endswith("_s") else ""
            low, median, high = (text(value, unit, 3).strip() for value in (values.low, values.value, values.high))
            console.print(f"  {name.removesuffix('_s')} {median} ({low} to {high})")
