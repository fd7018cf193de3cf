"""When a sender of TCP repairs losses: from the first loss until what was sent again has been acknowledged.

Meanwhile Proportional Rate Reduction decides what is sent, and not the window: as packets are delivered, the
flight comes down to the window by the end (RFC 6937; Linux has it for every controller).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.foreign.reading.view import View


def recovers(view: View) -> npt.NDArray[np.bool_]:
    """Which packets were sent meanwhile."""
    if not view.repeats.any():
        return np.zeros(view.sent_s.size, bool)
    rtt = float(np.median(view.rtt.values)) if view.rtt else 0.1
    lost = np.sort(view.lost_s[np.isfinite(view.lost_s)])
    again = view.sent_s[view.repeats]
    answered = np.fmin(view.acked_s, view.lost_s)[view.repeats]
    answered = np.where(np.isfinite(answered), answered, again + rtt)
    following = np.searchsorted(again, lost)
    repaired = np.append(again, np.inf)[following]
    begins = np.concatenate([lost, again])
    ends = np.concatenate([np.minimum(repaired, lost + rtt), answered])
    opened = np.searchsorted(np.sort(begins), view.sent_s, side="right")
    closed = np.searchsorted(np.sort(ends), view.sent_s, side="left")
    return np.asarray(opened > closed)
