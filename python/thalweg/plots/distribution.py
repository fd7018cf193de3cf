"""The figure of a scenario's outcomes: every trial as a point, the distribution, targets and floor.

Above, one tick for each trial; below, the share of trials at or under each value. A target that every
trial holds stands to the right of the curve; what lies to the right of the target failed. Trials that did
not finish have no value: the curve ends below 100 % by their share.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import polars as pl

from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.plots.data import rows, told
from thalweg.plots.theme import CONFIG, GREEN, GREY, VERMILION, WIDTH
from thalweg.quantity import scale, text
from thalweg.verdict import Statistics, values_of

_STRIP = 46
_CURVE = 150


def plot_distribution(outcomes: Outcomes, subject: str | None = None) -> alt.VConcatChart:
    """Draws the distribution of what a criterion measures (`main completion`): by default, the first that decides.

    Raises RequestError if no criterion is about it.
    """
    criteria = sorted(outcomes.verdict().criteria, key=lambda statistics: statistics.informative)
    about = [one for one in criteria if subject in (None, one.subject)]
    if not about:
        raise RequestError(f"scenario {outcomes.scenario.name} has no criterion to draw")
    first = about[0]
    same = [one for one in about if one.subject == first.subject]
    criterion = {"flow": first.flow, "metric": first.metric, "column": first.column}
    table = values_of(criterion, outcomes.flows, outcomes.scenario.starts_s)
    finished = table.filter(pl.col("value").is_finite())
    largest = max([one.at_most for one in same] + finished["value"].to_list())
    factor, unit = scale(largest, first.unit)
    data = _steps(finished.sort("value"), outcomes.n).with_columns(pl.col("value") / factor)

    x = alt.X(
        "value:Q",
        title=f"{first.subject} ({unit})",
        scale=alt.Scale(domain=_domain(same, data, factor), nice=False),
        axis=alt.Axis(tickCount=10),
    )
    lines = _lines(same, factor)
    named = rows(data)
    strip = (
        alt.Chart(named, height=_STRIP)
        .mark_tick(thickness=1.2, opacity=0.55, size=26)
        .encode(x=x.axis(None), tooltip=told("trial:Q", "seed:Q", "value:Q"))
    )
    curve = (
        alt.Chart(named, height=_CURVE)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=x,
            y=alt.Y(
                "share:Q",
                title="trials at or under",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=4, domain=False, ticks=False),
            ),
            tooltip=told("trial:Q", "seed:Q", "value:Q", "share:Q"),
        )
    )
    head = alt.TitleParams(
        outcomes.scenario.title,
        subtitle=(
            f"{first.n} trials; median {text(first.median, first.unit)}, "
            f"worst {text(first.worst, first.unit)}; {first.failures} over {text(first.at_most, first.unit)}"
        ),
    )
    chart: alt.VConcatChart = alt.vconcat(
        alt.layer(strip, lines.encode(x=x.axis(None))).properties(width=WIDTH),
        alt.layer(curve, lines.encode(x=x)).properties(width=WIDTH),
        spacing=4,
        title=head,
    )
    return chart.configure(**CONFIG)


def _steps(ordered: pl.DataFrame, n: int) -> pl.DataFrame:
    """Adds the share of all trials at or under each value."""
    return ordered.with_columns(share=pl.Series(np.arange(1, ordered.height + 1) / n, dtype=pl.Float64))


def _lines(criteria: list[Statistics], factor: float) -> alt.Chart:
    """Upright lines at the targets and at the floor."""
    marks = []
    for one in criteria:
        kind = "target for information" if one.informative else "target"
        marks.append({"label": f"{kind}: {text(one.at_most, one.unit)}", "value": one.at_most / factor})
    colours = [VERMILION if one.informative else GREEN for one in criteria]
    floor = next((one.floor for one in criteria if one.floor is not None), None)
    if floor is not None:
        marks.append({"label": f"floor: {text(floor, criteria[0].unit)}", "value": floor / factor})
        colours.append(GREY)
    labels = [str(mark["label"]) for mark in marks]
    return (
        alt.Chart(alt.InlineData(values=marks))
        .mark_rule(strokeWidth=1.6, strokeDash=[5, 3])
        .encode(color=alt.Color("label:N", title=None, scale=alt.Scale(domain=labels, range=colours)))
    )


def _domain(criteria: list[Statistics], data: pl.DataFrame, factor: float) -> list[float]:
    """All values, targets and the floor, with a margin."""
    marks = [one.at_most / factor for one in criteria]
    marks += [one.floor / factor for one in criteria if one.floor is not None]
    marks += data["value"].to_list()
    low, high = min(marks), max(marks)
    margin = (high - low) * 0.04 or high * 0.04
    return [max(0.0, low - margin), high + margin]
