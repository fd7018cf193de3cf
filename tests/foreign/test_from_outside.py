"""What follows of a sender from outside, held against the stack of the engine, which says it."""

from __future__ import annotations

import numpy as np
import pytest

from pages.explain.stacks import Played, case, outside
from thalweg.foreign.inference.replay import Fit
from thalweg.foreign.inference.who import Who
from thalweg.foreign.reading.view import NONE


@pytest.mark.parametrize(("controller", "seed"), [("noq:cubic", 1003), ("noq:newreno", 1002)])
def test_acknowledgements_and_losses_follow_from_outside(controller: str, seed: int) -> None:
    known = case(Played("quic", controller, ()), seed)
    told, seen = known.packets(), outside(known).packets()
    assert told.sent_s.size == seen.sent_s.size > 3000
    assert np.isclose(told.acked_s, seen.acked_s, atol=2e-6, equal_nan=True).mean() > 0.999
    lost = np.isfinite(told.lost_s)
    assert lost.sum() > 20
    assert np.array_equal(lost, np.isfinite(seen.lost_s))
    assert np.isclose(told.lost_s[lost], seen.lost_s[lost], atol=1e-4).mean() > 0.9


def _fit(controller: str, residual: float) -> Fit:
    return Fit(controller, residual, np.zeros(9), np.full(9, residual), NONE, NONE, np.zeros(0))


@pytest.mark.parametrize(
    ("residuals", "named"),
    [
        ({"cubic": 0.03, "c4": 0.2}, ("cubic",)),
        ({"cubic": 0.03, "reno": 0.04, "c4": 0.2}, ("cubic", "reno")),
        # C4 comes close to any sender: what is no closer than it says nothing.
        ({"cubic": 0.05, "c4": 0.07}, ()),
        ({"c4": 0.03, "cubic": 0.05}, ()),
        ({"c4": 0.02, "bbr1": 0.03, "cubic": 0.2}, ("c4", "bbr1")),
        ({"c4": 0.04, "cubic": 0.2}, ()),
        ({"bbr1": 0.04, "cubic": 0.2}, ("bbr1",)),
        ({"cubic": 0.07, "c4": 0.2}, ()),
    ],
)
def test_no_controller_is_named_that_one_that_follows_deliveries_is_as_close_as(
    residuals: dict[str, float], named: tuple[str, ...]
) -> None:
    assert Who(tuple(_fit(name, residual) for name, residual in residuals.items())).named == named
