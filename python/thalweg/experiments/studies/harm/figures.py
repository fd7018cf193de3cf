"""Figures of `harm`: harm and times over the round-trip time, distributions of times, the matrix.

Published values are hollow and joined by dashes; ours are filled, with their interval of 95 %. Next to the kernel
in real time, which is filled then, the simulator is hollow. Harm is drawn from 0 to 1: a benefit stands at 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

from thalweg.base.quantity import text
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.harm.measure import (
    COMPLETION,
    MEASURES,
    OTHERS,
    Measure,
    Trials,
    completion_times,
)
from thalweg.experiments.studies.harm.parameters import Cell
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import number
from thalweg.judging.statistics.interval import Values
from thalweg.pages.chart_data import rows
from thalweg.pages.figures import Chart
from thalweg.pages.figures.theme import CONFIG, GREY, SERIES, WIDTH
from thalweg.pages.report.section import Section
from thalweg.pages.report.strip import Strip, Strips, span
from thalweg.realtime.kernel import is_kernel, simulated

ALONE = "alone"
OURS, PUBLISHED = "here", "published"
LIVE, SIMULATED = "in real time", "simulated"
_SUMMED_UP = ("geomean", "p95", "throughput", "queue_delay", "loss")
"""What the matrix is drawn of."""
_HEIGHT = 210
_STEP = 1 / 12
"""From one competitor to the next at the same round-trip time, in octaves of it."""
_POINTS = 200
"""Points of a distribution: quantiles that a curve is drawn through."""
_CELL = 62


def plot_harm(table: Sequence[Row], measures: Sequence[Measure], title: str) -> alt.HConcatChart:
    """Harm over the round-trip time, a panel for each measure, a line for each competitor."""
    points = _points(table, measures, "harm")
    return _panels(points, measures, "harm (drawn from 0 to 1)", alt.Scale(domain=[0, 1]), title)


def plot_times(table: Sequence[Row], title: str) -> alt.HConcatChart:
    """Completion times over the round-trip time, a panel for each statistic; also of the flows alone."""
    points = _points(table, COMPLETION, "time")
    return _panels(points, COMPLETION, "completion time (s)", alt.Scale(type="log", nice=False), title)


def plot_distributions(sides: Mapping[str, Mapping[str | None, Values]], title: str) -> alt.HConcatChart:
    """The share of short flows at or under each completion time, by competitor; all replications together.

    `sides` has a panel for each controller of the short flows.
    """
    names = list(dict.fromkeys(_called(each) for times in sides.values() for each in times))
    width = WIDTH / len(sides) - (40 if len(sides) > 1 else 0)
    panels = [
        _distribution(times, names, width).properties(title=_small(side) if len(sides) > 1 else "")
        for side, times in sides.items()
    ]
    chart = alt.hconcat(*panels, title=title).resolve_scale(x="shared", y="shared")
    styled: alt.HConcatChart = chart.configure(**CONFIG)
    return styled


def _distribution(times: Mapping[str | None, Values], names: Sequence[str], width: float) -> alt.Chart:
    shares = np.linspace(0, 1, _POINTS + 1)[1:]
    parts = []
    for competitor, taken in times.items():
        ordered = np.sort(taken)
        at = np.minimum(np.ceil(shares * len(ordered)).astype(int), len(ordered)) - 1
        curve = pl.DataFrame({"time_s": ordered[at], "share": shares, "competitor": _called(competitor)})
        parts.append(curve.filter(pl.col("time_s").is_finite()))  # those that did not finish are above the curve
    chart: alt.Chart = (
        alt.Chart(rows(pl.concat(parts)), height=_HEIGHT, width=width)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X("time_s:Q", title="completion time (s)", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("share:Q", title="short flows at or under", axis=_axis(".0%")),
            color=_colour(names),
            tooltip=["competitor:N", "time_s:Q", "share:Q"],
        )
    )
    return chart


def plot_matrix(table: Sequence[Row], measure: Measure, title: str) -> alt.LayerChart:
    """Harm of each competitor (columns) to the short flows of each controller (lines), at one round-trip time."""
    cells = [
        {
            "victim": str(row["controller"]),
            "competitor": str(row["competitor"]),
            "harm": _drawn(row[f"{measure.name}_harm"]),
            "shown": f"{number(row, f'{measure.name}_harm'):.2f}",
            "interval": f"{_bound(row, measure, 'low')} to {_bound(row, measure, 'high')}",
        }
        for row in table
        if row["competitor"] is not None
    ]
    victims = list(dict.fromkeys(str(cell["victim"]) for cell in cells))
    rivals = list(dict.fromkeys(str(cell["competitor"]) for cell in cells))
    base = alt.Chart(alt.InlineData(values=cells), height=_CELL * len(victims), width=1.4 * _CELL * len(rivals))
    x = alt.X(
        "competitor:N",
        title="one long flow of",
        sort=rivals,
        axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False),
    )
    y = alt.Y("victim:N", title="harms short flows of", sort=victims, axis=alt.Axis(domain=False, ticks=False))
    squares = base.mark_rect(stroke="white", strokeWidth=1).encode(
        x=x,
        y=y,
        color=alt.Color(
            "harm:Q",
            title=f"harm ({measure.title})",
            scale=alt.Scale(domain=[0, 1], range=["#fdf3ea", "#e88a3c", "#8c2d04"], interpolate="rgb"),
        ),
        tooltip=["competitor:N", "victim:N", "shown:N", "interval:N"],
    )
    numbers = base.mark_text(fontSize=13).encode(
        x=x,
        y=y,
        text="shown:N",
        color=alt.condition(alt.datum.harm > 0.5, alt.value("white"), alt.value("#22252a")),
    )
    chart: alt.LayerChart = alt.layer(squares, numbers, title=title).configure(**CONFIG)
    return chart


def _points(table: Sequence[Row], measures: Sequence[Measure], kind: str) -> pl.DataFrame:
    """rtt_ms, measure, competitor, who (here or published), value, low, high."""
    found = []
    both = any(is_kernel(str(row["controller"])) for row in table)
    for row in table:
        side = LIVE if is_kernel(str(row["controller"])) else SIMULATED
        for measure in measures:
            column = f"{measure.name}_harm" if kind == "harm" else measure.column
            point = {
                "rtt_ms": 1e3 * number(row, "rtt_path_s"),
                "measure": measure.title,
                "competitor": _called(row["competitor"]),
            }
            value = row.get(column)
            if value is not None:
                low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
                if kind == "harm":
                    value, low, high = _drawn(value), _drawn(low), _drawn(high)
                found.append({**point, "who": side if both else OURS, "value": value, "low": low, "high": high})
            published = row.get(f"published_{column}")
            if published is not None:
                found.append({**point, "who": PUBLISHED, "value": published, "low": None, "high": None})
    schema = {"rtt_ms": pl.Float64, "measure": pl.String, "competitor": pl.String, "who": pl.String}
    return pl.DataFrame(found, schema={**schema, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64})


def _beside(points: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Adds at_ms: where the points of a round-trip time stand, so that their intervals do not hide each other."""
    middle = (len(names) - 1) / 2
    steps = {name: (index - middle) * _STEP for index, name in enumerate(names)}
    octaves = pl.col("competitor").replace_strict(steps, return_dtype=pl.Float64)
    return points.with_columns((pl.col("rtt_ms") * 2.0**octaves).alias("at_ms"))


def _panels(
    points: pl.DataFrame, measures: Sequence[Measure], what: str, scale: alt.Scale, title: str
) -> alt.HConcatChart:
    rtts = sorted(points["rtt_ms"].unique().to_list())
    width = WIDTH // len(measures) - 45
    names = points["competitor"].unique(maintain_order=True).to_list()
    points = _beside(points, names)
    x = alt.X(
        "at_ms:Q",
        title="RTT (ms)",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=alt.Axis(values=rtts, format="~g", grid=False),
    )
    y = alt.Y("value:Q", title=what, scale=scale, axis=_axis("~g"))
    who = points["who"].unique(maintain_order=True).to_list()
    dashes = alt.StrokeDash(
        "who:N",
        title=None,
        scale=alt.Scale(domain=who, range=[[1, 0], [4, 3], [1, 2]][: len(who)]),
        legend=alt.Legend() if len(who) > 1 else None,
    )
    panels = []
    for measure in measures:
        base = alt.Chart(
            rows(points.filter(pl.col("measure") == measure.title)),
            height=_HEIGHT,
            width=width,
            title=_small(measure.title),
        ).encode(x=x, color=_colour(names))
        lines = base.mark_line(strokeWidth=1.6).encode(y=y, strokeDash=dashes)
        ours = base.transform_filter(alt.datum.who == who[0])
        panels.append(
            alt.layer(
                lines,
                ours.mark_rule(strokeWidth=1.4).encode(y=alt.Y("low:Q", title=what), y2="high:Q"),
                ours.mark_point(filled=True, opacity=1, size=42).encode(y=y, tooltip=_TOOLTIP),
                base.transform_filter(alt.datum.who != who[0])
                .mark_point(filled=False, opacity=1, size=36, strokeWidth=1.3)
                .encode(y=y, tooltip=_TOOLTIP),
            )
        )
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=14, title=title).configure(**CONFIG)
    return chart


_TOOLTIP = ["competitor:N", "who:N", "rtt_ms:Q", "value:Q"]


def _colour(names: Sequence[str]) -> alt.Color:
    colours = [*SERIES, "#777777", "#a05020"]
    others = [name for name in names if name != ALONE]
    lent = dict(zip(others, (colours[index % len(colours)] for index in range(len(others))), strict=True))
    scale = alt.Scale(domain=list(names), range=[lent.get(name, GREY) for name in names])
    return alt.Color("competitor:N", title="against", scale=scale)


def _small(title: str) -> alt.TitleParams:
    return alt.TitleParams(title, fontSize=12, fontWeight="normal", offset=4, anchor="middle")


def _axis(format_: str) -> alt.Axis:
    return alt.Axis(format=format_, tickCount=5, domain=False, ticks=False)


def _called(competitor: object) -> str:
    """One name, and so one colour, for a controller of the kernel and the one that stands for it."""
    return ALONE if competitor is None else simulated(str(competitor))


def _drawn(harm: str | float | None) -> float | None:
    return None if harm is None else float(np.clip(float(harm), 0, 1))


def _bound(row: Row, measure: Measure, which: str) -> str:
    value = row.get(f"{measure.name}_harm_{which}")
    return text(None if value is None else float(value), digits=2)


def page(result: StudyResult, trials: Mapping[Cell, Trials], outcomes: Mapping[Cell, Outcomes]) -> Page:
    """Matrices, harm over the round-trip time, and distributions; harm in each replication."""
    return Page(sections(result, outcomes), strips(trials))


def sections(result: StudyResult, of: Mapping[Cell, Outcomes]) -> Iterator[Section]:
    """Controllers of the kernel share their sections with the simulator's controllers that stand for them."""
    rtts = list(dict.fromkeys(cell.rtt for cell in of))
    families: dict[str, list[str]] = {}
    for cell in of:
        members = families.setdefault(simulated(cell.controller), [])
        members += [] if cell.controller in members else [cell.controller]
    if len(families) > 1:
        for rtt in rtts:
            name = f"matrix-{rtt.replace(' ', '')}"
            yield Section(name, f"Who harms whom, {rtt}", "", partial(_draw_matrix, result, rtt))
    if len(rtts) > 1:
        for family, members in families.items():
            title = f"Short {family} flows over the round-trip time"
            name = Cell("rtt", family, "all").name
            yield Section(name, title, "", partial(_draw_over_rtt, result, members))
    for rtt in rtts:
        for family, members in families.items():
            cells = [cell for cell in of if cell.rtt == rtt and cell.controller in members]
            if cells:
                title = f"Short {family} flows, {rtt}"
                last = [cell for cell in cells if cell.controller == members[0]][-1]
                toml = of[last].scenario.toml
                draw = partial(_draw_distributions, {cell: of[cell] for cell in cells})
                yield Section(Cell(rtt, family, None).name, title, toml, draw)


def _rows(result: StudyResult, name: str, value: object) -> list[Row]:
    return [row for row in result.rows if row[name] == value]


def _draw_matrix(result: StudyResult, rtt: str) -> Sequence[Chart]:
    rows = _rows(result, "rtt_path_s", Cell(rtt, "", None).rtt_s)
    shown = [measure for measure in MEASURES if measure.name in _SUMMED_UP]
    return [plot_matrix(rows, measure, f"Harm to the {measure.title} of short flows, {rtt}") for measure in shown]


def _draw_over_rtt(result: StudyResult, controllers: Sequence[str]) -> Sequence[Chart]:
    rows = [row for controller in controllers for row in _rows(result, "controller", controller)]
    return [
        plot_harm(rows, COMPLETION, "Harm to completion times"),
        plot_times(rows, "Completion times"),
        plot_harm(rows, OTHERS, "Harm to other measures of the same flows"),
    ]


def _draw_distributions(cells: Mapping[Cell, Outcomes]) -> Sequence[Chart]:
    sides: dict[str, dict[str | None, Values]] = {}
    for cell, outcomes in cells.items():
        times = completion_times(outcomes.requests)
        sides.setdefault(cell.controller, {})[cell.competitor] = times
    return [plot_distributions(sides, "Completion times of all replications")]


def strips(cells: Mapping[Cell, Trials]) -> Strips:
    """Harm to the geometric mean in each replication; flows alone are what harm is counted from, and have none."""
    measure = COMPLETION[0]
    harms: dict[Cell, Values] = {
        cell: measure.harm(cells[cell.alone].values[measure.name], of.values[measure.name])
        for cell, of in cells.items()
        if cell.competitor is not None
    }
    scale = span(harms.values(), 0.0, 1.0)
    return Strips(
        "replications",
        f"Replications: each a line, by its harm to the {measure.title}; the upright mark stands at no harm. "
        "All rows have one scale, up to 1.",
        [[Strip(harms[cell], "", 0.0, called="no harm", scale=scale)] if cell in harms else [] for cell in cells],
    )
