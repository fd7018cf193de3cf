"""Figures of `wifi-compete`: one trial of a pair over time.

Above, who got how much of the link; in the middle and below, the figure of the paper: windows of both flows
with the bytes in flight of the main flow and the maximum window that it remembers, and round-trip times with the
least one that it believes in. At the foot, when a flow was in pig war or took its path for chaotic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

from thalweg.base.quantity import text
from thalweg.engine.outcome import Trial
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.study import Finished
from thalweg.pages.chart_data import rows
from thalweg.pages.figures import Chart
from thalweg.pages.figures.downsample import changes, downsample
from thalweg.pages.figures.theme import BLUE, CONFIG, GREEN, GREY, ORANGE, VERMILION, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.results.replay import replay_trial
from thalweg_c4_history.course import CAPACITY_BPS
from thalweg_c4_history.measure import PairTrials, median_trial, worst_trial
from thalweg_c4_history.parameters import Cell, Parameters

BIN_S = 0.25
"""The share is a mean over this much time."""
_BUCKETS = 250
_HEIGHT = 120
_LONGEST_S = 10.0
"""No RTT of this path is longer: what a controller shows beyond it, or as 0, is "none yet"."""
_MARKS = {"pig_war": "pig war", "chaotic": "chaotic"}
"""Flags of early C4 and their names."""
_COLOURS = {
    "main": BLUE,
    "background": VERMILION,
    "in flight (main)": GREY,
    "maximum window (main)": ORANGE,
    "min RTT (main)": GREEN,
}


def plot_pair(trial: Trial, title: str, capacity_bps: float) -> alt.VConcatChart:
    """Draws one trial of a pair. Needs its trace."""
    trace = trial.trace
    assert trace is not None
    flows = trace.flows
    window = pl.concat(
        [
            _line(downsample(flows, "window_bytes", ["flow"], _BUCKETS), "window_bytes", pl.col("flow"), 1e3),
            _line(
                downsample(flows.filter(pl.col("flow") == "main"), "in_flight_bytes", [], _BUCKETS),
                "in_flight_bytes",
                pl.lit("in flight (main)"),
                1e3,
            ),
            _maximum_window(trace),
        ]
    )
    rtt = pl.concat(
        [
            _line(downsample(flows, "latest_rtt_s", ["flow"], _BUCKETS), "latest_rtt_s", pl.col("flow"), 1e-3),
            _believed_min_rtt(trace),
        ]
    )
    end = float(flows["time_s"].max() or 1.0)  # type: ignore[arg-type]
    panels = [
        _panel(shares(flows, capacity_bps), "share of the link", end, last=False),
        _panel(window, "data (kB)", end, last=False),
        _panel(rtt, "RTT (ms)", end, last=False),
        _marks(periods(trace.variables, end), end),
    ]
    closed = {row["flow"]: row["closed_s"] for row in trial.flows.iter_rows(named=True)}
    head = alt.TitleParams(title, subtitle=f"seed {trial.seed} · main closes at {text(closed['main'], 's')}")
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=10, title=head).resolve_scale(color="independent")
    styled: alt.VConcatChart = chart.configure(**CONFIG)
    return styled


def shares(flows: pl.DataFrame, capacity_bps: float) -> pl.DataFrame:
    """What each flow had delivered in each bin of time, over what the link carries: time_s, label, value.

    Delivery is as the sender learns of it, one trip later; a bin into which several late
    acknowledgements fall can hold more than the link carries in it.
    """
    end = float(flows["time_s"].max() or 0.0)  # type: ignore[arg-type]
    edges = np.arange(0.0, end + BIN_S, BIN_S)
    parts = []
    for (flow,), samples in flows.group_by("flow", maintain_order=True):
        known = samples.filter(pl.col("delivered_bytes").is_not_null())
        times, delivered = known["time_s"].to_numpy(), known["delivered_bytes"].to_numpy().astype(np.float64)
        after = np.searchsorted(times, edges, side="right")
        total = np.concatenate([[0.0], delivered])[after]
        share = np.diff(total) * 8 / (capacity_bps * BIN_S)
        parts.append(pl.DataFrame({"time_s": edges[:-1], "label": str(flow), "value": share}))
    return pl.concat(parts)


def periods(variables: pl.DataFrame, end: float) -> pl.DataFrame:
    """When flows were in pig war or took their path for chaotic, at most until `end`: label, from_s, to_s."""
    found: list[dict[str, str | float]] = []
    flags = variables.filter(pl.col("variable").is_in(_MARKS))
    for (flow, variable), values in flags.group_by("flow", "variable", maintain_order=True):
        begin: float | None = None
        for time_s, value in values.select("time_s", "value").iter_rows():
            if value and begin is None:
                begin = time_s
            elif not value and begin is not None:
                found.append({"label": f"{_MARKS[str(variable)]} ({flow})", "from_s": begin, "to_s": time_s})
                begin = None
        if begin is not None:
            found.append({"label": f"{_MARKS[str(variable)]} ({flow})", "from_s": begin, "to_s": end})
    return pl.DataFrame(found, schema={"label": pl.String, "from_s": pl.Float64, "to_s": pl.Float64})


def _maximum_window(trace: Trace) -> pl.DataFrame:
    """`high` of early C4, the largest amount delivered in an era, which v2 takes for its window."""
    named = trace.variables.filter((pl.col("flow") == "main") & (pl.col("variable") == "high"))
    kept = changes(named.select("time_s", "value"), "value", [])
    return _line(kept, "value", pl.lit("maximum window (main)"), 1e3)


def _marks(found: pl.DataFrame, end: float) -> alt.Chart:
    labels = [f"{mark} ({flow})" for mark in _MARKS.values() for flow in ("main", "background")]
    chart: alt.Chart = (
        alt.Chart(rows(found), height=14 * len(labels), width=WIDTH)
        .mark_bar(height=8, clip=True)
        .encode(
            x=alt.X(
                "from_s:Q",
                title="time (s)",
                axis=alt.Axis(tickCount=12),
                scale=alt.Scale(domain=[0, end], nice=False),
            ),
            x2="to_s:Q",
            y=alt.Y(
                "label:N",
                title=None,
                scale=alt.Scale(domain=labels),
                axis=alt.Axis(minExtent=46, domain=False, ticks=False),
            ),
            color=alt.Color(
                "label:N", legend=None, scale=alt.Scale(domain=labels, range=[BLUE, VERMILION, BLUE, VERMILION])
            ),
        )
    )
    return chart


def _line(frame: pl.DataFrame, column: str, label: pl.Expr, unit: float) -> pl.DataFrame:
    return frame.select("time_s", label.alias("label"), (pl.col(column).cast(pl.Float64) / unit).alias("value"))


def _believed_min_rtt(trace: Trace) -> pl.DataFrame:
    """The minimum RTT that the controller of the main flow uses; the smallest sample if it names none."""
    named = trace.variables.filter(
        (pl.col("flow") == "main")
        & pl.col("variable").is_in(["rtt_min", "min_rtt"])
        & pl.col("value").is_between(0, _LONGEST_S, closed="none")
    )
    if named.is_empty():
        samples = trace.flows.filter((pl.col("flow") == "main") & pl.col("latest_rtt_s").is_finite())
        named = samples.with_columns(pl.col("latest_rtt_s").cum_min().alias("value"))
    return _line(changes(named.select("time_s", "value"), "value", []), "value", pl.lit("min RTT (main)"), 1e-3)


def _panel(series: pl.DataFrame, title: str, end: float, *, last: bool) -> alt.Chart:
    labels = series["label"].unique().to_list()
    shown = [label for label in _COLOURS if label in labels]
    axis = alt.Axis(title="time (s)" if last else None, labels=last, ticks=last, domain=last, tickCount=12)
    panel: alt.Chart = (
        alt.Chart(rows(series), height=_HEIGHT, width=WIDTH)
        .mark_line(interpolate="step-after", strokeWidth=1.3, clip=True)
        .encode(
            x=alt.X("time_s:Q", axis=axis, scale=alt.Scale(domain=[0, end], nice=False)),
            y=alt.Y(
                "value:Q",
                title=title,
                axis=alt.Axis(tickCount=4, minExtent=46, maxExtent=46, domain=False, ticks=False),
            ),
            color=alt.Color(
                "label:N",
                title=None,
                scale=alt.Scale(domain=shown, range=[_COLOURS[label] for label in shown]),
            ),
        )
    )
    return panel


def page(finished: Finished[Parameters, Cell, PairTrials]) -> Page:
    """Two trials of each pair, and when the main flow closed in each trial."""
    cells = finished.cells
    return Page((section(cell, kept) for cell, kept in cells.items()), strips(finished.parameters, cells))


def section(cell: Cell, kept: PairTrials) -> Section:
    """The median and the worst trial of a pair, which are played again."""
    scenario = kept.outcomes.scenario
    return Section(scenario.name, scenario.title, scenario.toml, partial(_draw, cell, kept))


def _draw(cell: Cell, kept: PairTrials) -> Sequence[Chart]:
    if not cell.is_pair:
        return []
    chosen = {"median trial": median_trial(kept.closed), "worst trial": worst_trial(kept.closed)}
    return [
        plot_pair(replay_trial(kept.outcomes, trial), f"{title}: {trial}", CAPACITY_BPS)
        for title, trial in chosen.items()
    ]


def strips(parameters: Parameters, cells: Mapping[Cell, PairTrials]) -> Strips:
    """When the main flow closed in each trial, against the published median."""
    scale = span((kept.closed for kept in cells.values()), 0.0)
    return Strips(
        "trials",
        "Trials: each a line, by when the main flow had closed; grey is the floor, the least that the path "
        "allows, the upright mark the published median. All rows have one scale, which begins at 0.",
        [
            [
                Strip(
                    kept.closed,
                    "s",
                    at_most=parameters.published_s.get(cell),
                    called="published median",
                    floor=kept.outcomes.scenario.criteria[0]["floor"],
                    scale=scale,
                )
            ]
            for cell, kept in cells.items()
        ],
    )
