"""The policy that `train.py` trains: a layer of a few neurons that decides by what factor the window changes.

What it sees are logarithms and ratios, so that what it learns at one rate holds at others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

FEATURES = ("log_rtt_ratio", "loss_ratio", "window_ratio")
NEURONS = 4
WEIGHTS = NEURONS * (len(FEATURES) + 1) + NEURONS + 1
"""The numbers in one policy: weights of the neurons, their biases, weights of the output, and its bias."""


def scaled(seen: npt.ArrayLike) -> Numbers:
    """What the neurons get: about as large as 1 where decisions are made. A loss of 2 % is much, a window of 2 BDP as well."""
    log_rtt, loss, window = np.moveaxis(np.asarray(seen, dtype=np.float64), -1, 0)
    return np.stack([2 * log_rtt, np.minimum(50 * loss, 3), np.log(np.clip(window, 0.1, 10))], axis=-1)


def act(weights: Numbers, seen: npt.ArrayLike) -> Numbers:
    """The actions of policies, one in each row of `weights`, for what each sees."""
    inputs = scaled(seen)
    count = NEURONS * len(FEATURES)
    layer = weights[..., :count].reshape(*weights.shape[:-1], NEURONS, len(FEATURES))
    bias, output, last = np.split(weights[..., count:], [NEURONS, 2 * NEURONS], axis=-1)
    neurons = np.tanh((layer * inputs[..., None, :]).sum(axis=-1) + bias)
    result: Numbers = np.tanh((output * neurons).sum(axis=-1, keepdims=True) + last)
    return result
