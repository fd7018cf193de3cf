"""The figure of a connection in a file: what limited it, window, RTT and rates, under the sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from thalweg.engine.trace import Trace
from thalweg.experiments.explain.file import FileAccount
from thalweg.experiments.explain.file_what_if import HEADERS
from thalweg.foreign.inference.flight import Flight
from thalweg.foreign.inference.limits import CAUSES
from thalweg.foreign.reading.view import Floats, Steps, View
from thalweg.pages.figures import Figure
from thalweg.pages.figures.figure import Table
from thalweg.pages.figures.trial import plot_trace

_PANELS = ("states", "limits", "window", "rtt", "rate")
_POINTS = 400
"""Intervals of rates."""


def picture(found: FileAccount, title: str, is_page: bool) -> Figure:
    """Draws what the file says, and what follows from it.

    On a page, other controllers are a table below the figure; in a picture they are sentences above it.
    """
    view = found.view
    trace = traced(found)
    sentences = (replace(found, swaps=()) if is_page else found).sentences()
    called = {view.name: f"{view.name} ({', '.join(found.who.named) or view.source})"}
    known = trace.flows.columns
    wanted = [name for name in _PANELS if name != "states" or "state" in known]
    drawn = plot_trace(trace, title, sentences, called, wanted)
    return replace(drawn, tables=(_swapped(found),)) if is_page and found.swaps else drawn


def _swapped(found: FileAccount) -> Table:
    caption = f"The transfer with other controllers, on paths that the file allows. {found.doubt}".rstrip()
    return Table(caption, HEADERS, tuple(one.cells() for one in found.swaps))


def traced(found: FileAccount) -> Trace:
    """What the figure draws, as the trace of a trial would have it."""
    view = found.view
    times, columns = _columns(view)
    if found.held is not None:
        place = np.maximum(0, np.searchsorted(found.held.begins_s, times, side="right") - 1)
        columns["limited"] = [CAUSES[int(cause)] for cause in found.held.causes[place]]
    states = [state for _, state in view.states]
    begins = np.asarray([time for time, _ in view.states])
    at = np.searchsorted(begins, times, side="right") - 1
    columns["state"] = [states[place] if place >= 0 else "" for place in at]
    flows = pl.DataFrame({"time_s": times, "flow": [view.name] * times.size, **columns})
    capacity = found.path.capacity_bps if found.path.is_capacity_seen else None
    ends = [0.0, float(times[-1])] if capacity is not None else []
    links = pl.DataFrame(
        {"time_s": ends, "link": ["path"] * len(ends), "capacity_bps": [capacity] * len(ends)},
        schema={"time_s": pl.Float64, "link": pl.String, "capacity_bps": pl.Float64},
    )
    nothing = pl.DataFrame(schema={"time_s": pl.Float64, "flow": pl.String})
    return Trace(flows, nothing, links, nothing)


def _columns(view: View) -> tuple[Floats, dict[str, object]]:
    """Times, and the series that the figure draws at them."""
    edges = np.linspace(0.0, max(view.duration_s, 1e-3), _POINTS + 1)
    times = np.unique(np.concatenate([edges, view.rtt.times_s, view.window.times_s]))
    columns: dict[str, object] = {"latest_rtt_s": view.rtt.at(times), "smoothed_rtt_s": _smoothed(view.rtt, times)}
    columns["window_bytes"] = view.window.at(times)
    columns["pacing_bps"] = view.pacing_bps.at(times)
    flight = Steps(np.zeros(0), np.zeros(0))
    rates = view.rates_bps
    if view.is_sender:
        found = Flight.of(view)
        flight = Steps(found.times_s, found.bytes) if view.has_acks else view.in_flight
        came = np.isfinite(view.acked_s)
        moments, sizes = (
            (view.acked_s[came], view.sent_bytes[came]) if came.any() else (view.sent_s, view.sent_bytes)
        )
        rates = _rates(moments, sizes.astype(float), edges) if sizes.any() else rates
    elif view.arrived_bytes.any():
        rates = _rates(view.arrived_s, view.arrived_bytes.astype(float), edges)
    columns["in_flight_bytes"] = flight.at(times)
    columns["delivery_bps"] = rates.at(times)
    return times, columns


def _smoothed(rtt: Steps, times: Floats) -> Floats:
    """RFC 9002 section 5.3."""
    if not rtt:
        return np.full(times.size, np.nan)
    means = np.empty(rtt.values.size)
    mean = float(rtt.values[0])
    for place, sample in enumerate(rtt.values):
        mean += (float(sample) - mean) / 8
        means[place] = mean
    return Steps(rtt.times_s, means).at(times)


def _rates(times: Floats, sizes: Floats, edges: Floats) -> Steps:
    carried, _ = np.histogram(times, edges, weights=sizes)
    return Steps(edges[:-1], carried * 8 / np.diff(edges))
