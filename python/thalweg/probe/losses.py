"""Losses by direction, duplicates and reordering."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.probe.series import Floats, Series


@dataclass(frozen=True)
class Losses:
    """Counts over a series."""

    sent: int
    answered: int
    lost_up: int | None
    """Requests that never reached the server, up to the last that it answered; None if it did not count."""
    lost_down: int | None
    """Replies that never came, up to the same request."""
    longest_loss: int
    """Requests in a row without an answer."""
    copies: int
    """Replies beyond the first to a request."""
    reordered_up: int
    """Requests that arrived at the server after one that was sent later (RFC 4737 section 3.3)."""
    reordered_down: int
    """Replies that arrived at the client after one that was sent later."""

    @property
    def lost(self) -> int:
        """Requests without an answer."""
        return self.sent - self.answered

    @property
    def loss(self) -> float:
        """Their share."""
        return self.lost / self.sent if self.sent else 0.0

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of packets lost on the way up and on the way down; alike if the server did not count.

        >>> Losses(100, 81, None, None, 1, 0, 0, 0).shares, Losses(100, 72, 10, 18, 1, 0, 0, 0).shares
        ((0.1, 0.1), (0.1, 0.2))
        """
        if self.lost_up is None or self.lost_down is None:
            each = 1 - math.sqrt(1 - self.loss)
            return round(each, 9), round(each, 9)
        return self.lost_up / self.sent, self.lost_down / max(self.sent - self.lost_up, 1)


def count_losses(series: Series) -> Losses:
    """Counts lost, duplicated and reordered packets.

    The server says in each reply how many requests it has seen. Of the requests up to the one with the largest
    count, what it has not seen was lost on the way up, and what it has seen and is not answered was lost on the
    way down. Copies that the network makes of requests hide losses from this count, and never make it negative.
    """
    got = series.answered
    lost_up = lost_down = None
    if series.counted.max(initial=0) > 0:
        last = int(np.argmax(series.counted))
        up_to = last + 1
        lost_up = max(0, up_to - int(series.counted[last]))
        lost_down = max(0, int(np.sum(~got[:up_to])) - lost_up)
    order = np.argsort(series.arrived[got], kind="stable")
    return Losses(
        sent=len(series.sent),
        answered=int(got.sum()),
        lost_up=lost_up,
        lost_down=lost_down,
        longest_loss=_longest_run(~got),
        copies=int(np.sum(np.maximum(series.replies - 1, 0))),
        reordered_up=count_reordered(series.arrived[got]),
        reordered_down=count_reordered(series.received[got][order]),
    )


def count_reordered(arrivals: Floats) -> int:
    """Packets that arrive after one that was sent later; `arrivals` are in the order of sending.

    RFC 4737 section 3.3: at its arrival, a packet is reordered if one with a larger number has arrived.

    >>> count_reordered(np.array([1.0, 4.0, 2.0, 3.0, 5.0]))  # the second comes after the third and fourth
    1
    """
    if len(arrivals) == 0:
        return 0
    # A later number arrived earlier: the least arrival of those behind lies before this one.
    behind = np.minimum.accumulate(arrivals[::-1])[::-1]
    return int(np.sum(behind[1:] < arrivals[:-1]))


def _longest_run(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))
