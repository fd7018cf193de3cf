"""The figure of the delays of frames over trials: for each stream, the share of its frames that came in time.

At each delay the line is the median over trials of the share of the counted frames that had come by then, and the
band has the middle 90 % of the trials. A frame that never came counts as one that has not: the line ends below
100 %. The band is of single trials; the median's is narrower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.quantity import scale, text
from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.spec import AXIS_EXTENT, Spec, colour, number, table, titled, tooltip
from thalweg.pages.figures.theme import GREY, WIDTH, distinct

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
_HEIGHT = 190
_PLACES = 200
"""Delays at which the shares are drawn."""
_SHOWN = 0.999
"""The axis ends at this quantile of all delays, or at the deadline, whichever is later."""
_BAND = (0.05, 0.95)


def plot_delays(trials: Mapping[str, Sequence[pl.DataFrame]], title: str) -> Figure:
    """Draws the frames of trials (`Trace.frames`, one table a trial) by the label of their controllers.

    Raises RequestError if no frame of a call counts.

    >>> from thalweg import Scenario
    >>> call = Scenario.load("estimate/fall-of-a-call")
    >>> plot_delays({"c4": [call.run(seed, trace=True).trace.frames for seed in (1, 2)]}, "A call").spec["title"]
    {'text': 'A call', 'subtitle': ['2 trials each: the median, and a band with the middle 90 % of the trials']}
    """
    streams = _streams(trials)
    if not streams:
        raise RequestError(
            "these trials have no counted frame of a call; accepted: frames that are due from measure_from on"
        )
    labels = list(trials)
    panels = [
        _panel(place, stream, labels, last=place == len(streams) - 1) for place, stream in enumerate(streams)
    ]
    n = min(len(tables) for tables in trials.values())
    band = "the median, and a band with the middle 90 % of the trials"
    subtitle = f"{n} trials each: {band}" if n > 1 else "one trial each"
    spec: Spec = {
        "title": {"text": title, "subtitle": [subtitle]},
        "vconcat": panels,
        "spacing": 14,
        "resolve": {"scale": {"x": "independent", "color": "independent"}},
    }
    words = "; ".join(f"{stream.name}: {_words(stream)}" for stream in streams)
    return Figure(spec, f"{title}. {subtitle}. {words}.", {"dashed": "the deadline of the frames"})


@dataclass(frozen=True)
class _Stream:
    """A stream of a call in all trials."""

    name: str
    deadline_s: float
    delays: dict[str, list[Floats]]
    """By controller, of each trial in which frames count: infinite for a frame that never came."""


def _streams(trials: Mapping[str, Sequence[pl.DataFrame]]) -> list[_Stream]:
    found: dict[tuple[object, ...], _Stream] = {}
    for label, tables in trials.items():
        for one in tables:
            for key, own in one.filter("counted").group_by("flow", "stream", maintain_order=True):
                new = _Stream(" ".join(map(str, key)), float(own["deadline_s"][0]), {name: [] for name in trials})
                delays = np.sort(own["delay_s"].fill_nan(np.inf).to_numpy())
                found.setdefault(key, new).delays[label].append(delays)
    return list(found.values())


def _shares(delays: Floats, places: Floats) -> Floats:
    """The share of the frames of a trial that had come by each delay."""
    shares: Floats = np.searchsorted(delays, places, side="right") / len(delays)
    return shares


def _panel(place: int, stream: _Stream, labels: list[str], *, last: bool) -> Spec:
    delays, deadline = stream.delays, stream.deadline_s
    every = np.concatenate([own for tables in delays.values() for own in tables])
    came = every[np.isfinite(every)]
    end = max(float(np.quantile(came, _SHOWN)) if len(came) else 0.0, 1.1 * deadline)
    factor, unit = scale(end, "s")
    places = np.linspace(0.0, end, _PLACES)
    rows = [_curve(label, tables, places, factor) for label, tables in delays.items() if tables]
    data = pl.concat(rows)
    x = number(
        "delay",
        f"delay of a frame ({unit})" if last else None,
        scale={"domain": [0, end / factor], "nice": False},
        axis={"tickCount": 10},
    )
    axis = {
        "format": ".0%",
        "tickCount": 5,
        "domain": False,
        "ticks": False,
        "minExtent": AXIS_EXTENT,
        "maxExtent": AXIS_EXTENT,
    }
    y = number("middle", "frames", scale={"domain": [0, 1]}, axis=axis)
    shade = colour(labels, distinct(len(labels)), symbolOpacity=1, **titled(stream.name))
    name = f"delays{place}"
    tips = tooltip("label", delay=f"delay ({unit})", low="5 % of trials", middle="median", high="95 % of trials")
    band: Spec = {
        "data": table(data, name),
        "mark": {"type": "area", "opacity": 0.2, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": shade},
    }
    line: Spec = {
        "data": {"name": name},
        "mark": {"type": "line", "strokeWidth": 1.8, "clip": True},
        "encoding": {"x": x, "y": y, "color": shade, "tooltip": tips},
    }
    limit: Spec = {
        "data": {"values": [{"delay": deadline / factor}]},
        "mark": {"type": "rule", "strokeDash": [5, 3], "color": GREY},
        "encoding": {"x": x},
    }
    return {"width": WIDTH, "height": _HEIGHT, "layer": [band, line, limit]}


def _curve(label: str, trials: Sequence[Floats], places: Floats, factor: float) -> pl.DataFrame:
    shares = np.vstack([_shares(own, places) for own in trials])
    low, middle, high = np.quantile(shares, [_BAND[0], 0.5, _BAND[1]], axis=0)
    return pl.DataFrame(
        {"label": [label] * len(places), "delay": places / factor, "low": low, "middle": middle, "high": high}
    )


def _words(stream: _Stream) -> str:
    """How many frames came within the deadline under each controller, in the median trial."""
    place = np.array([stream.deadline_s])
    return ", ".join(
        f"{label} {float(np.median([_shares(own, place)[0] for own in trials])):.1%} "
        f"within {text(stream.deadline_s, 's')}"
        for label, trials in stream.delays.items()
        if trials
    )
