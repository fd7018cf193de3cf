"""Puts rates to the scale of a step response and fits it: between the metric and the fit."""

from __future__ import annotations

import numpy as np

from thalweg.experiments.studies.transient.fit import Fit, fit_response
from thalweg.experiments.studies.transient.metric import NO_STEP, WINDOW_RTTS, Rates, Reactions


def fit_reaction(sent: Rates, before: Rates, reactions: Reactions, every_s: float, rtt_bins: int) -> Fit:
    """Fits the reaction of each run, from its rate before the step to the rate at which it became steady.

    The level after the step is the mean of the ten round trips that follow the convergence point (of the last
    ten where there is none), and the fit ends where they do. A run whose rate has hardly changed has no fit.
    """
    bins = sent.shape[1]
    window = WINDOW_RTTS * rtt_bins
    ends = np.minimum(reactions.mark + window, bins)
    span = np.arange(bins)
    starts = np.where(reactions.converged, reactions.mark, ends - window)
    settled = (span >= np.maximum(starts, 0)[:, None]) & (span < ends[:, None])
    after = np.where(settled, sent, 0).sum(axis=1) / settled.sum(axis=1)
    height = after - before
    height = np.where(np.abs(height) > NO_STEP * np.maximum(after, before), height, np.nan)
    return fit_response((sent - before[:, None]) / height[:, None], ends, every_s)
