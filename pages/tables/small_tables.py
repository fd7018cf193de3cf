"""Single tables of pages whose rest is written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import polars as pl

from pages.made import DOCS, fill, made, row
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.laws.window_law import average_window, cubic_table, reno_table
from thalweg.judging.statistics.quantiles import median
from thalweg.probe.analysis import Analysis, analyze
from thalweg.probe.report.tables import ORDER, SUMMARY, order_row, summary_row, timer_rows
from thalweg.probe.series import read_series

JITTER_TRIALS, STACK_TRIALS = 100, 10
JITTER = (("c4/bad-wifi", "a 10 Mbps download"), ("c4/media-bad-wifi", "a call of 3 Mbps"))
"""Scenarios with jitter in both directions, and what they carry."""
IMPLEMENTATIONS = (("CUBIC", "cubic", "noq:cubic"), ("NewReno", "reno", "noq:newreno"), ("BBR", "bbr", "noq:bbr3"))
"""An algorithm, ours, and the one of the stack."""

WINDOWS = ((0.01, 100), (0.003, 100), (0.001, 100), (0.0001, 100), (0.001, 10), (0.0001, 10))
"""Shares of lost packets, and RTTs in ms."""
TRACES = ("good", "near-to-far", "far")


def jitter() -> Iterator[str]:
    """Means over all trials of the delays that jitter draws and that packets see, in milliseconds."""
    yield row("scenario", "link", "requested", "drawn", "experienced")
    yield row(":--", ":--", "--:", "--:", "--:")
    for name, what in JITTER:
        links = Scenario.load(name).trials(JITTER_TRIALS).links
        for link, note in (("down", ""), ("up", " (acknowledgements)")):
            of = links.filter(pl.col("link") == link)
            means = (of[f"{which}_jitter_s"].to_numpy().mean() for which in ("requested", "drawn", "experienced"))
            first = f"`{name}`, {what}" if link == "down" else ""
            yield row(first, link + note, *(f"{1000 * mean:.1f}" for mean in means))


def implementations() -> Iterator[str]:
    """Completion times of one algorithm, ours and the stack's, both on the stack."""
    yield row("algorithm", "ours", "the stack's own")
    yield row(":--", "--:", "--:")
    for name, *controllers in IMPLEMENTATIONS:
        times = []
        for controller in controllers:
            overrides = {"flow.main.stack": '"quic"', "allow_unseeded": "true"}
            scenario = Scenario.load("c4/simple-20mbps", overrides=overrides, controllers={"main": controller})
            times.append(median(scenario.trials(STACK_TRIALS).flows["completion_s"].to_numpy()))
        yield row(name, *(f"{time:.3f} s" for time in times))


def windows() -> Iterator[str]:
    """Average windows in packets: what RFC 9438 prints, and what its rules give round trip by round trip."""
    heads = [f"{name}, {how}" for name in ("Reno", "CUBIC") for how in ("printed", "periodic", "random")]
    yield row("p, RTT", *heads)
    yield row(":--", *["--:"] * len(heads))
    for p, rtt_ms in WINDOWS:
        cells = []
        for controller, printed in (("reno", reno_table(p)), ("cubic", cubic_table(p, rtt_ms / 1000))):
            computed = (average_window(controller, p, rtt_ms / 1000, periodic) for periodic in (True, False))
            cells += [f"{printed:.0f}", *(f"{window:.1f}" for window in computed)]
        yield row(f"{p:g}, {rtt_ms} ms", *cells)


def traces() -> Iterator[str]:
    """What `thalweg probe analyze` says of the three made-up traces."""
    analyses = _analyses()
    for headers, told in ((SUMMARY, summary_row), (ORDER, order_row)):
        yield row(*headers)
        yield row(":--", *["--:"] * (len(headers) - 1))
        for analysis in analyses:
            yield row(*told(analysis))
        yield ""


def timers() -> Iterator[str]:
    """How often timers fire although the reply is on its way; behind the semicolon with what the filter keeps."""
    analyses = _analyses()
    names = [analysis.series.name for analysis in analyses]
    yield row("timer", "formula", *names)
    yield row(":--", ":--", *["--:"] * len(names))
    for cells in timer_rows(analyses):
        yield row(cells[0], f"`{cells[1]}`", *cells[2:])


@lru_cache(maxsize=1)
def _analyses() -> list[Analysis]:
    return [analyze(read_series(DOCS / "how-to" / "probe" / f"{name}.csv.gz")) for name in TRACES]


PARTS = (
    ("reference/models.md", "jitter", jitter),
    ("evidence/studies/stacks.md", "implementations", implementations),
    ("evidence/studies/laws.md", "windows", windows),
    ("how-to/probe.md", "traces", traces),
    ("how-to/probe.md", "timers", timers),
)


def make() -> None:
    """Measures and fills them."""
    for page, part, measure in PARTS:
        fill(DOCS / page, part, "\n".join([*measure(), "", made("small-tables")]))
