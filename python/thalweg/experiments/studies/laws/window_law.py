"""The average window under random loss, as RFC 9002 section 7 and RFC 9438 section 4.2 imply it.

Documents give closed forms for *periodic* loss, one packet in 1/p: sqrt(3/2) / sqrt(p) for Reno (Mathis et al.
1997; RFC 5348 section 3.1 without timeouts; RFC 9438 section 5.1 prints 1.2) and 1.054 RTT^(3/4) / p^(3/4) for
CUBIC (RFC 9438 figure 8). Where each packet is lost independently, as on our paths, gaps vary, and so does the
window: Reno's average becomes 1.31 / sqrt(p) (Mathis et al. 1997; Ott, Kemperman and Mathis 1996), and CUBIC is
drawn into its convex region by long gaps. No document has a closed form for that.

So the law is computed: round trip by round trip, from the equations of the documents and nothing else. In each
a window is sent, and each packet is lost with probability p; it grows by the rule of the controller; a loss
multiplies it by beta, once, and the round trip after that does not grow (the recovery period of RFC 9002
section 7.3.2). With periodic loss the same computation gives the closed forms, which the tests hold.

Assumptions: every packet that arrives counts, however many an ACK tells of (RFC 9002 section 7.3.3 grows by
bytes, so delayed ACKs do not slow it: the ACK-per-packet column of Mathis et al.); no timeouts; a window of
many packets.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

RENO = math.sqrt(1.5)
"""Average window times sqrt(p), periodic loss: RFC 9438 section 5.1 rounds it to 1.2."""
RENO_RANDOM = 1.31
"""The same with independent losses."""
BETA = 0.7
C = 0.4
CUBIC = math.pow(C * (3 + BETA) / (4 * (1 - BETA)), 0.25)
"""RFC 9438 figure 6: 1.054 with C = 0.4 and beta = 0.7."""
ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""RFC 9438 section 4.3: growth in the Reno-friendly region until the window of the last reduction is back."""
_FLOWS = 200
_GAPS = 30
"""Mean gaps between losses that each flow goes through; the first third is its way into the steady state."""


def reno_table(p: float) -> float:
    """The column Reno of tables 1 and 2 of RFC 9438: 1.2 / sqrt(p).

    >>> [round(reno_table(p)) for p in (1e-2, 1e-3, 1e-4, 1e-5)]
    [12, 38, 120, 379]
    """
    return 1.2 / math.sqrt(p)


def cubic_table(p: float, rtt_s: float) -> float:
    """The column CUBIC (C = 0.4) of tables 1 and 2 of RFC 9438: the larger of figure 8 and Reno's.

    >>> [round(cubic_table(p, 0.1)) for p in (1e-2, 1e-3, 1e-4, 1e-5)]
    [12, 38, 187, 1054]
    """
    return max(reno_table(p), CUBIC * math.pow(rtt_s / p, 0.75))


@lru_cache(maxsize=64)
def average_window(controller: str, p: float, rtt_s: float, periodic: bool = False) -> float:
    """The mean over time of the window, in packets, of `reno` or `cubic`.

    >>> round(average_window("reno", 1e-4, 0.1, periodic=True) * 1e-2, 2)
    1.21
    """
    rng = np.random.default_rng(9438)
    window = np.full(_FLOWS, reno_table(p))
    w_max, prior, w_est, start = (window.copy() for _ in range(4))
    elapsed, since = np.zeros(_FLOWS), rng.uniform(0, 1 / p, _FLOWS)
    recovering = np.zeros(_FLOWS, dtype=bool)
    cubic = controller == "cubic"
    beta = BETA if cubic else 0.5
    rounds = round(_GAPS * (1 / p) / reno_table(p))
    total = 0.0
    for number in range(rounds):
        if number >= rounds // 3:
            total += float(window.mean())
        since += window
        lost = since >= 1 / p if periodic else rng.random(_FLOWS) < -np.expm1(window * math.log1p(-p))
        grows = ~recovering
        if cubic:
            grown, w_est, elapsed = _cubic_round(window, w_max, start, prior, w_est, elapsed, rtt_s)
            window = np.where(grows, grown, window)
        else:
            window = np.where(grows, window + 1, window)
        # RFC 9438 section 4.7: fast convergence where the window did not come back.
        fast = window < w_max - 1e-9 if not periodic else np.zeros(_FLOWS, dtype=bool)
        w_max = np.where(lost, np.where(fast, window * (1 + BETA) / 2, window), w_max)
        prior = np.where(lost, window, prior)
        window = np.where(lost, np.maximum(beta * window, 2), window)
        start = np.where(lost, window, start)
        w_est = np.where(lost, window, w_est)
        elapsed = np.where(lost | recovering, 0.0, elapsed)
        since = np.where(lost, since - 1 / p, since) if periodic else since
        recovering = lost
    return total / (rounds - rounds // 3)


def _cubic_round(
    window: np.ndarray,
    w_max: np.ndarray,
    start: np.ndarray,
    prior: np.ndarray,
    w_est: np.ndarray,
    elapsed: np.ndarray,
    rtt_s: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One round trip of growth: RFC 9438 equations 1 to 4; window, W_est and time in the stage."""
    plateau = np.maximum(w_max, start)
    k = np.cbrt((plateau - start) / C)
    later = elapsed + rtt_s
    w_est = w_est + np.where(w_est >= prior, 1.0, ALPHA)
    curve = np.clip(C * (later - k) ** 3 + plateau, window, 1.5 * window)
    return np.maximum(curve, w_est), w_est, later
