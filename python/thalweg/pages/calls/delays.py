"""The figure of the delays of frames over trials: for each stream, the share of its frames that came in time.

At each delay the line is the median over trials of the share of the counted frames that had come by then, and the
band has the middle 90 % of the trials. A frame that never came counts as one that has not: the line ends below
100 %. The band is of single trials; that of the median is narrower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    counted = {label: [one.filter("counted") for one in tables] for label, tables in trials.items()}
    streams = _streams(counted)
    if not streams:
        raise RequestError("these trials have no counted frame of a call; accepted: a scenario with a call")
    labels = list(trials)
    panels = [
        _panel(place, stream, counted, labels, last=place == len(streams) - 1)
        for place, stream in enumerate(streams)
    ]
    n = sorted({len(tables) for tables in trials.values()})
    subtitle = f"{n[0]} trials each: the median, and a band with the middle 90 % of the trials"
    spec: Spec = {
        "title": {"text": title, "subtitle": [subtitle]},
        "vconcat": panels,
        "spacing": 14,
        "resolve": {"scale": {"x": "independent", "color": "independent"}},
    }
    words = "; ".join(f"{' '.join(stream)}: {_words(counted, stream)}" for stream in streams)
    return Figure(spec, f"{title}. {subtitle}. {words}.", {"dashed": "the deadline of the frames"})


def _streams(counted: Mapping[str, Sequence[pl.DataFrame]]) -> list[tuple[str, str]]:
    """The streams of all trials, as flow and stream."""
    found: dict[tuple[str, str], None] = {}
    for tables in counted.values():
        for one in tables:
            found |= dict.fromkeys(one.select("flow", "stream").unique(maintain_order=True).rows())
    return list(found)


def _of(one: pl.DataFrame, stream: tuple[str, str]) -> Floats:
    """The delays of a stream in a trial; infinite for a frame that never came."""
    flow, name = stream
    own = one.filter((pl.col("flow") == flow) & (pl.col("stream") == name))
    return np.sort(own["delay_s"].fill_nan(np.inf).to_numpy())


def _shares(delays: Floats, places: Floats) -> Floats:
    """The share of the frames of a trial that had come by each delay."""
    shares: Floats = np.searchsorted(delays, places, side="right") / len(delays)
    return shares


def _panel(
    place: int,
    stream: tuple[str, str],
    counted: Mapping[str, Sequence[pl.DataFrame]],
    labels: list[str],
    *,
    last: bool,
) -> Spec:
    delays = {label: [own for one in tables if len(own := _of(one, stream))] for label, tables in counted.items()}
    deadline = _deadline(counted, stream)
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
    shade = colour(labels, distinct(len(labels)), symbolOpacity=1, **titled(" ".join(stream)))
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


def _deadline(counted: Mapping[str, Sequence[pl.DataFrame]], stream: tuple[str, str]) -> float:
    flow, name = stream
    for tables in counted.values():
        for one in tables:
            own = one.filter((pl.col("flow") == flow) & (pl.col("stream") == name))
            if own.height:
                return float(own["deadline_s"][0])
    return 0.0


def _curve(label: str, trials: Sequence[Floats], places: Floats, factor: float) -> pl.DataFrame:
    shares = np.vstack([_shares(own, places) for own in trials])
    low, middle, high = np.quantile(shares, [_BAND[0], 0.5, _BAND[1]], axis=0)
    return pl.DataFrame(
        {"label": [label] * len(places), "delay": places / factor, "low": low, "middle": middle, "high": high}
    )


def _words(counted: Mapping[str, Sequence[pl.DataFrame]], stream: tuple[str, str]) -> str:
    """How many frames came within the deadline under each controller, in the median trial."""
    deadline = _deadline(counted, stream)
    said = []
    for label, tables in counted.items():
        shares = [float(_shares(own, np.array([deadline]))[0]) for one in tables if len(own := _of(one, stream))]
        if shares:
            said.append(f"{label} {float(np.median(shares)):.1%} within {text(deadline, 's')}")
    return ", ".join(said)
