"""Probes in virtual time, on the otherwise idle path of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.engine.scenario import Scenario
from thalweg.probe.series import Floats, Series
from thalweg.probe.wire import SIZE

if TYPE_CHECKING:
    import numpy.typing as npt


def simulate_probe(
    scenario: Scenario, seed: int = 1, interval_s: float = 0.02, duration_s: float = 75.0
) -> Series:
    """Probes the path of a scenario's first flow; both clocks agree, and the server takes no time.

    >>> import thalweg
    >>> series = simulate_probe(thalweg.Scenario.load("c4/simple-20mbps"), duration_s=1.0)
    >>> len(series.sent), bool(abs(series.rtt - 0.08).max() < 0.001)
    (50, True)
    """
    count = max(1, round(duration_s / interval_s))
    columns = scenario.probe(seed, round(interval_s * 1e9), count, SIZE)
    echoed = _seconds(columns["echoed_ns"])
    received = _seconds(columns["received_ns"])
    echoed[np.isnan(received)] = np.nan
    there = columns["echoed_ns"] >= 0
    # In the order of arrival at the server: the order of sending, unless the link lets packets overtake.
    order = np.argsort(np.where(there, columns["echoed_ns"], np.iinfo(np.int64).max), kind="stable")
    counted = np.zeros(count, np.int64)
    counted[order] = np.cumsum(there[order])
    answered = np.isfinite(received)
    return Series(
        scenario.name,
        _seconds(columns["sent_ns"]),
        echoed,
        echoed.copy(),
        received,
        answered.astype(np.int64),
        np.where(answered, counted, 0),
    )


def _seconds(nanos: npt.NDArray[np.int64]) -> Floats:
    return np.where(nanos < 0, np.nan, nanos * 1e-9)
