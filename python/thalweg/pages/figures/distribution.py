"""The figure of a scenario's outcomes: every trial as a point, the distribution, targets and floor.

Above, one tick for each trial; below, the share of trials at or under each value. A target that every
trial holds stands to the right of the curve; what lies to the right of the target failed. Trials that did
not finish have no value: the curve ends below 100 % by their share. Targets that are equal share a line in turns.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.quantity import scale, text
from thalweg.engine.outcome import Outcomes
from thalweg.judging.verdict import Statistics
from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.spec import AXIS_EXTENT, Spec, colour, number, span, table, tooltip
from thalweg.pages.figures.theme import GREEN, GREY, PURPLE, SKY, VERMILION, WIDTH

_STRIP = 46
_CURVE = 150
_DASH = 5
_FOR_INFORMATION = [VERMILION, PURPLE, SKY]


def plot_distribution(outcomes: Outcomes, subject: str | None = None) -> Figure:
    """Draws the distribution of what a criterion measures (`main completion`): by default, the first that decides.

    Raises RequestError if no criterion is about it.
    """
    criteria = sorted(outcomes.verdict().criteria, key=lambda statistics: statistics.informative)
    about = [criterion for criterion in criteria if subject in (None, criterion.subject)]
    if not about:
        raise RequestError(f"scenario {outcomes.scenario.name} has no criterion to draw")
    first = about[0]
    same = [criterion for criterion in about if criterion.subject == first.subject]
    finished = first.values.filter(pl.col("value").is_finite())
    largest = max([criterion.bound for criterion in same] + finished["value"].to_list())
    factor, unit = scale(largest, first.unit)
    data = _steps(finished.sort("value"), outcomes.n).with_columns(pl.col("value") / factor)

    scale_x, bounds = span(*_domain(same, data, factor))
    x = number(
        "value",
        f"{first.subject} ({unit})",
        scale=scale_x,
        axis={"tickCount": 10},
    )
    hidden = {**x, "axis": None}
    tick: Spec = {
        "data": table(data, "ticks"),
        "mark": {"type": "tick", "thickness": 1.2, "opacity": 0.55, "size": 26},
        "encoding": {
            "x": hidden,
            "tooltip": tooltip(trial="trial", seed="seed", value=f"{first.subject} ({unit})"),
        },
    }
    share = number(
        "share",
        "trials at or under",
        scale={"domain": [0, 1]},
        axis={
            "format": ".0%",
            "tickCount": 4,
            "domain": False,
            "ticks": False,
            "minExtent": AXIS_EXTENT,
            "maxExtent": AXIS_EXTENT,
        },
    )
    curve: Spec = {
        "data": table(data, "trials"),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.8},
        "encoding": {"x": x, "y": share},
    }
    subtitle = (
        f"{first.n} trials; median {text(first.median, first.unit)}, "
        f"worst {text(first.worst, first.unit)}; {first.failures} "
        f"{'over' if first.side == 'at_most' else 'under'} {text(first.bound, first.unit)}"
    )
    title = outcomes.scenario.title
    panels = [
        {"width": WIDTH, "height": _STRIP, "layer": [tick, *_lines(same, factor, hidden)]},
        {
            "width": WIDTH,
            "height": _CURVE,
            "name": "curve",
            "layer": [curve, *_lines(same, factor, x, legend=False)],
        },
    ]
    spec: Spec = {
        "title": {"text": title, "subtitle": [subtitle]},
        "vconcat": panels,
        "spacing": 4,
        "resolve": {"scale": {"x": "shared"}},
        "params": bounds,
    }
    reading = {"data": "trials", "kind": "steps", "by": [], "value": "share", "title": "at or under", "unit": "%"}
    readings = {"x": "value", "title": first.subject, "unit": unit, "panels": [reading]}
    notes = (
        {"floor": "the least that the path allows"}
        if any(criterion.floor is not None for criterion in same)
        else {}
    )
    return Figure(spec, f"{title}: {first.subject}. {subtitle}.", notes, readings)


def _steps(ordered: pl.DataFrame, n: int) -> pl.DataFrame:
    """Adds the share of all trials at or under each value."""
    return ordered.with_columns(share=pl.Series(np.arange(1, ordered.height + 1) / n, dtype=pl.Float64))


def _lines(criteria: list[Statistics], factor: float, x: Spec, *, legend: bool = True) -> list[Spec]:
    """Upright lines at the targets and at the floor; those at one place are drawn in turns."""
    marks: list[tuple[str, float, str]] = []
    others = 0
    for criterion in criteria:
        kind = "target for information" if criterion.informative else "target"
        shade = _FOR_INFORMATION[others % len(_FOR_INFORMATION)] if criterion.informative else GREEN
        others += criterion.informative
        named = f"{kind}: {text(criterion.bound, criterion.unit)}" + (
            f" ({criterion.source})" if criterion.informative and criterion.source else ""
        )
        marks.append((named, criterion.bound / factor, shade))
    floor = next((criterion.floor for criterion in criteria if criterion.floor is not None), None)
    if floor is not None:
        marks.append((f"floor: {text(floor, criteria[0].unit)}", floor / factor, GREY))
    names = [name for name, _, _ in marks]
    shades = colour(names, [shade for _, _, shade in marks])
    if not legend:
        shades = {**shades, "legend": None}
    lines: list[Spec] = []
    for index, (name, value, _) in enumerate(marks):
        alike = [other for other, (_, at, _) in enumerate(marks) if at == value]
        dash = [_DASH, _DASH * (len(alike) - 1)] if len(alike) > 1 else [_DASH, 3]
        lines.append(
            {
                "data": {"values": [{"label": name, "value": value}]},
                "mark": {
                    "type": "rule",
                    "strokeWidth": 1.6,
                    "strokeDash": dash,
                    "strokeDashOffset": -_DASH * alike.index(index),
                },
                "encoding": {"x": x, "color": shades},
            }
        )
    return lines


def _domain(criteria: list[Statistics], data: pl.DataFrame, factor: float) -> tuple[float, float]:
    """All values, targets and the floor, with a margin."""
    marks = [criterion.bound / factor for criterion in criteria]
    marks += [criterion.floor / factor for criterion in criteria if criterion.floor is not None]
    marks += data["value"].to_list()
    low, high = min(marks), max(marks)
    margin = (high - low) * 0.04 or high * 0.04
    return max(0.0, low - margin), high + margin
