"""Tables of what probes show, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from thalweg.cli.fitting import plain_table
from thalweg.probe.analysis import Analysis
from thalweg.probe.tables import FITS, ORDER, SUMMARY, TIMERS, fit_rows, order_row, summary_row, timer_rows


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
        console.print(f"{analysis.series.name}, for the [path] of a scenario; the jitter is {analysis.remark}:")
        for line in analysis.path().splitlines():
            console.print(f"  {line}", soft_wrap=True)
