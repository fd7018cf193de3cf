"""How far what a sender logged of its decisions is from what a controller would have decided.

A log of QUIC has the window, and often the pacing rate. They tell what packets do not: that a window grew that
nobody used, or that a rate was allowed that no application asked for.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.foreign.inference.idle import silences
from thalweg.foreign.inference.limits import APPLICATION, FLOW_CONTROL, Limits
from thalweg.foreign.inference.replay import Fit
from thalweg.foreign.reading.view import Floats, View

_PARTS = 200
"""Equal parts of the time, each of which counts the same."""


def idle_times(view: View, held: Limits) -> Floats:
    """When a sender had nothing that it could send: a logged window tells that from one that is full."""
    silent = silences(view)
    if not view.window:
        return silent
    is_lack = np.isin(held.causes, (APPLICATION, FLOW_CONTROL))
    lacked = np.cumsum(np.where(is_lack, held.ends_s - held.begins_s, 0.0))
    until = np.append(view.sent_s, held.ends_s[-1])[np.searchsorted(view.sent_s, silent, side="right")]
    # Not where an acknowledgement of the whole window ended the silence.
    is_real = np.interp(until, held.ends_s, lacked) > np.interp(silent, held.ends_s, lacked)
    # Flow control leaves a window unused as a lack of data does (RFC 9002 section 7.8), where it holds for a round
    # trip or longer: single moments of it may be taken for it.
    is_idle = held.causes == APPLICATION
    is_held = held.causes == FLOW_CONTROL
    if view.rtt and (held.ends_s - held.begins_s)[is_held].sum() > np.median(view.rtt.values):
        is_idle |= is_held
    # Within a span, each packet that left was the last one there was.
    place = np.maximum(0, np.searchsorted(held.begins_s, view.sent_s, side="right") - 1)
    return np.unique(np.concatenate([silent[is_real], held.begins_s[is_idle], view.sent_s[is_idle[place]]]))


def distance(view: View, fit: Fit) -> float:
    """The mean over time of the larger of both ratios in logarithms, each at most 1; NaN without a log."""
    if not view.window:
        return math.nan
    times = np.nextafter(view.sent_s, -np.inf)  # What allowed a packet was decided before it.
    ratios = np.vstack(
        [
            _apart(view.window.at(times), fit.window.values),
            _apart(view.pacing_bps.at(times), fit.pacing_bps.values),
        ]
    )
    known = np.flatnonzero(np.isfinite(ratios).any(axis=0))
    if known.size < _PARTS:
        return math.nan
    edges = np.linspace(view.sent_s[known[0]], view.sent_s[known[-1]], _PARTS + 1)
    place = np.minimum(np.searchsorted(edges, view.sent_s[known], side="right") - 1, _PARTS - 1)
    largest = np.minimum(np.nanmax(ratios[:, known], axis=0), 1.0)
    return float(np.mean([np.median(largest[place == part]) for part in np.unique(place)]))


def _apart(logged: Floats, decided: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(np.log(logged / decided)))
