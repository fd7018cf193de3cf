"""Several results next to each other: a panel for each criterion, in it a strip for each result.

Every trial is a tick, the dot the median, the bar its interval of 95 %. Targets and the floor are upright lines.
Trials that did not finish have no tick: the label of their strip counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import scale, text
from thalweg.judging.statistics.interval import finite
from thalweg.judging.verdict import Statistics
from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.spec import LETTER, Spec, number, table, tooltip, word
from thalweg.pages.figures.theme import GREEN, GREY, WIDTH, distinct
from thalweg.results.comparison.suites import asked
from thalweg.results.suite_result import SuiteResult

MOST_PANELS = 24
_STRIP = 24
"""Height of a strip, in pixels."""
_LABELS = 170
"""Width of the widest labels next to panels, in pixels."""
_TICKS = 8
_MARGIN = 0.04


@dataclass(frozen=True)
class _Panel:
    """One criterion of a scenario."""

    scenario: str
    subject: str
    sides: Mapping[str, Statistics]
    """By the labels of the results that have it."""


def plot_comparison(
    results: Mapping[str, SuiteResult], only: Sequence[str] | None = None, metrics: Sequence[str] | None = None
) -> Figure:
    """Draws the criteria of results, which are named by labels: the deciding ones, or the ones of `metrics`.

    `only` are patterns of scenarios; a metric is one (`completion`), or what is measured (`main completion`).
    Raises RequestError if nothing is left to draw, or too much.
    """
    panels = list(_panels(results, only, metrics))
    if len(panels) > MOST_PANELS:
        raise RequestError(
            f"{len(panels)} criteria to draw; accepted: at most {MOST_PANELS}, chosen by scenario (--only) and "
            "metric (--metric)"
        )
    shades = dict(zip(results, distinct(len(results)), strict=True))
    many = {panel.scenario for panel in panels}
    first = next(iter(results.values()))
    n = sorted({statistics.n for panel in panels for statistics in panel.sides.values()})
    trials = f"{n[0]} trials" if len(n) == 1 else f"{n[0]} to {n[-1]} trials"
    subtitle = f"{trials} each: every trial, the median and its interval of 95 %"
    title = first.title if len(many) > 1 else first[panels[0].scenario].scenario.title
    before = [None, *(panel.scenario for panel in panels)]
    wide = min(
        _LABELS, round(LETTER * max(len(_label(*side)) for panel in panels for side in panel.sides.items()))
    )
    drawn = [_drawn(panel, place, shades, wide) for place, panel in enumerate(panels)]
    for panel, scenario, strips in zip(panels, before, drawn, strict=False):
        if len(many) > 1 and panel.scenario != scenario:
            strips["title"] = {"text": panel.scenario, "fontSize": 9.5, "offset": 4}
    spec: Spec = {"title": {"text": title, "subtitle": [subtitle]}, "vconcat": drawn, "spacing": 18}
    notes = {"dashed": "a target"} if any(map(_targets, panels)) else {}
    if any(map(_floors, panels)):
        notes["dotted"] = "the floor, the least that the path allows"
    words = "; ".join(_words(panel) for panel in panels)
    return Figure(spec, f"{title}: {', '.join(results)}. {words}.", notes)


def _panels(
    results: Mapping[str, SuiteResult], only: Sequence[str] | None, metrics: Sequence[str] | None
) -> Iterator[_Panel]:
    scenarios: dict[str, dict[str, list[Statistics]]] = {}
    for label, result in results.items():
        for outcomes in result.outcomes:
            scenarios.setdefault(outcomes.scenario.name, {})[label] = list(asked(outcomes))
    chosen = [name for name in scenarios if only is None or any(fnmatchcase(name, glob) for glob in only)]
    if not chosen:
        wanted = ", ".join(only or ())
        raise RequestError(f"--only {wanted!r} matches no scenario{did_you_mean(wanted, scenarios)}")
    every = {one.subject for name in chosen for side in scenarios[name].values() for one in side}
    known = {*every, *(subject.rpartition(" ")[2] for subject in every)}
    for metric in metrics or ():
        if metric not in known:
            raise RequestError(f"--metric {metric!r}: no result has it{did_you_mean(metric, sorted(known))}")
    for name in chosen:
        sides = scenarios[name]
        for subject in dict.fromkeys(one.subject for side in sides.values() for one in _wanted(side, metrics)):
            own = {label: one for label, side in sides.items() for one in side[::-1] if one.subject == subject}
            if len(own) > 1:
                yield _Panel(name, subject, {label: own[label] for label in results if label in own})


def _wanted(side: Sequence[Statistics], metrics: Sequence[str] | None) -> list[Statistics]:
    if metrics:
        return [one for one in side if {one.subject, one.metric} & {*metrics}]
    return [one for one in side if not one.informative] or list(side)


def _drawn(panel: _Panel, place: int, shades: Mapping[str, str], wide: int) -> Spec:
    """The strips of one criterion, below each other."""
    first = next(iter(panel.sides.values()))
    marks, floors = _targets(panel), _floors(panel)
    values = np.concatenate([one.values["value"].to_numpy() for one in panel.sides.values()])
    shown = [*values[np.isfinite(values)].tolist(), *marks, *floors]
    factor, unit = scale(max(map(abs, shown), default=0.0), first.unit)
    low, high = (pick(shown, default=0.0) / factor for pick in (min, max))
    room = _MARGIN * ((high - low) or abs(high) or 1.0)
    heading = f"{panel.subject} ({unit})" if unit else panel.subject
    scale_x = {"domain": [low - room, high + room], "nice": False}
    x = number("value", heading, scale=scale_x, axis={"tickCount": _TICKS})
    labels = {label: _label(label, one) for label, one in panel.sides.items()}
    axis = {"labelLimit": _LABELS, "minExtent": wide, "maxExtent": wide, "domain": False, "ticks": False}
    y = word("result", sort=[*labels.values()], axis=axis, scale={"domain": [*labels.values()]})
    colour = word(
        "result", scale={"domain": [*labels.values()], "range": [shades[label] for label in labels]}, legend=None
    )
    where: Spec = {"x": x, "y": y, "color": colour}
    layers: list[Spec] = [
        {
            "data": table(_trials(panel, labels, factor), f"trials{place}"),
            "mark": {"type": "tick", "thickness": 1.2, "opacity": 0.4, "size": 15},
            "encoding": {**where, "tooltip": tooltip("result", seed="seed", value=heading)},
        },
        *_rules(marks, factor, x, GREEN, [5, 3]),
        *_rules(floors, factor, x, GREY, [2, 2]),
    ]
    medians = table(_medians(panel, labels, factor), f"medians{place}")
    for kind in ("rule", "point"):
        mark: Spec = {"type": "rule", "strokeWidth": 3.5} if kind == "rule" else {"type": "point", "filled": True}
        mark |= {} if kind == "rule" else {"size": 85, "opacity": 1, "stroke": "#ffffff", "strokeWidth": 1.2}
        ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}} if kind == "rule" else {"x": x}
        known = "isValid(datum.low) && isValid(datum.high)" if kind == "rule" else "isValid(datum.value)"
        tips = tooltip("result", value=f"median, {heading}", low="from", high="to")
        layers.append(
            {
                "data": medians if kind == "rule" else {"name": medians["name"]},
                "transform": [{"filter": known}],
                "mark": mark,
                "encoding": {**where, **ends, "tooltip": tips},
            }
        )
    return {"width": WIDTH - wide, "height": _STRIP * len(labels), "layer": layers}


def _targets(panel: _Panel) -> set[float]:
    return {one.bound for one in panel.sides.values() if np.isfinite(one.bound)}


def _floors(panel: _Panel) -> set[float]:
    return {one.floor for one in panel.sides.values() if one.floor is not None}


def _label(label: str, statistics: Statistics) -> str:
    unfinished = int(np.count_nonzero(~np.isfinite(statistics.values["value"].to_numpy())))
    return f"{label} ({unfinished} without)" if unfinished else label


def _trials(panel: _Panel, labels: Mapping[str, str], factor: float) -> pl.DataFrame:
    parts = [
        one.values.filter(pl.col("value").is_finite()).select(
            pl.lit(labels[label]).alias("result"), pl.col("seed").cast(pl.String), pl.col("value") / factor
        )
        for label, one in panel.sides.items()
    ]
    return pl.concat(parts)


def _medians(panel: _Panel, labels: Mapping[str, str], factor: float) -> pl.DataFrame:
    rows = []
    for label, one in panel.sides.items():
        interval = one.median_interval
        ends = [
            None if finite(end) is None else end / factor for end in (interval.value, interval.low, interval.high)
        ]
        rows.append((labels[label], *ends))
    kinds = {"result": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _rules(places: set[float], factor: float, x: Spec, shade: str, dash: list[int]) -> Iterator[Spec]:
    for place in sorted(places):
        yield {
            "data": {"values": [{"value": place / factor}]},
            "mark": {"type": "rule", "strokeWidth": 1.6, "strokeDash": dash, "color": shade},
            "encoding": {"x": x},
        }


def _words(panel: _Panel) -> str:
    medians = ", ".join(f"{label} {text(one.median, one.unit)}" for label, one in panel.sides.items())
    return f"{panel.scenario}, {panel.subject}: {medians}"
