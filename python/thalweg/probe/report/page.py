"""Makes the page of probe results; see `probe.html`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from thalweg import _native
from thalweg.pages.report.figures import Figures
from thalweg.pages.report.page import fill, write_page
from thalweg.probe.analysis import Analysis
from thalweg.probe.report.figures import (
    plot_cumulative,
    plot_histogram,
    plot_next,
    plot_pooled,
    plot_series,
    plot_wifi,
)
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


def write_probe_report(analyses: Sequence[Analysis], file: Path) -> None:
    """Writes the page. Raises RequestError if the file cannot be written."""
    figures = Figures()
    sections = []
    together = ["cumulative"]
    figures["cumulative"] = plot_cumulative(analyses)
    if len(analyses) > 1:
        together.append("pooled")
        figures["pooled"] = plot_pooled(analyses)
    for number, analysis in enumerate(analyses):
        places = []
        for name, plot in (
            ("series", plot_series),
            ("histogram", plot_histogram),
            ("next", plot_next),
            ("wifi", plot_wifi),
        ):
            places.append(f"trace-{number}-{name}")
            figures[places[-1]] = plot(analysis)
        sections.append({"place": f"trace-{number}", "analysis": analysis, "figures": places})
    tables = [
        ("Delays", SUMMARY, [summary_row(analysis) for analysis in analyses], 1, _DELAYS),
        ("Order and losses", ORDER, [order_row(analysis) for analysis in analyses], 1, _ORDER),
        ("Dependence in time", DEPENDENCE, dependence_rows(analyses), 1, _DEPENDENCE),
        (
            "Spurious timers",
            (*TIMERS, *(f"{analysis.series.name}: all; filtered" for analysis in analyses)),
            timer_rows(analyses),
            len(TIMERS),
            _TIMERS,
        ),
        (
            "Two-component Wi-Fi model",
            FITS,
            [row for analysis in analyses for row in fit_rows(analysis)],
            2,
            _FITS,
        ),
    ]
    titles = [title for title, *_ in tables]
    contents = [(f"table-{number}", title) for number, title in enumerate(titles, start=1)]
    contents += [(f"trace-{number}", analysis.series.name) for number, analysis in enumerate(analyses)]
    page = fill(
        "probe.html",
        figures,
        sections=sections,
        tables=tables,
        together=together,
        contents=contents,
        version=_native.version(),
    )
    write_page(page, file)


_DELAYS = (
    "Round-trip times without the time that the server took. One-way delays (up: client to server) assume that "
    "the least delay is the same both ways."
)
_DEPENDENCE = (
    "Delays are round trips above the least of the trace. Growth: of the mean delay, over the mean delay of the "
    "trace with the widest spacing, for traces of one path. Correlation: with delays so many probes later. It "
    "decays in the time after which it is below 1/e. Events: delays above 40 ms, with losses between them."
)
_ORDER = (
    "The filter keeps a reply that comes more than 1 ms after the last kept one. The line: the next round-trip "
    "time is shorter by the interval between probes, as if both had been released at one instant."
)
_TIMERS = (
    "How often a timer would have fired although the reply was on its way, counted along all round-trip times, "
    "and along those that the filter keeps."
)
_FITS = (
    "Fitted by maximum likelihood to one-way delays above their least; the delays of held-back packets count "
    "as upper bounds. The probability is an upper bound as well: the model was fitted to the same data."
)
