"""A few points of the walk of docs/evidence/model-and-stack.md."""

from __future__ import annotations

from typing import Any

import pytest

from pages import model_and_stack as walk

SEEDS = 5


def ratios(*values: Any) -> tuple[float, float]:
    """Goodput and losses of the model over those of the stack."""
    case = walk.Case(*values)
    point = walk.Point(case, walk.play(case, "model", SEEDS), walk.play(case, "quic", SEEDS), 0.0)
    return point.goodput.ratio, point.losses.ratio


@pytest.mark.parametrize(
    "values",
    [
        (1, 150, 0, "fq-codel", False, 3, "cubic"),
        (10, 150, 0, "codel", False, 1, "bbr"),
        (1, 5, 0, "red", False, 1, "cubic"),
        (1000, 600, 0, "codel", False, 1, "cubic"),
        (100, 5, 0, "pie", False, 1, "c4"),
    ],
)
def test_without_loss_and_reordering_model_and_stack_agree(values: tuple[Any, ...]) -> None:
    goodput, losses = ratios(*values)
    assert 1 / (1 + walk.GOODPUT) <= goodput <= 1 + walk.GOODPUT
    assert 1 / (1 + walk.LOSSES) <= losses <= 1 + walk.LOSSES


@pytest.mark.parametrize(
    ("values", "least", "most"),
    [
        # The stack counts no late packet as delivered: 1.43 in 5 trials.
        ((100, 150, 1, "fq-codel", True, 3, "c4"), 1.2, 1.7),
        # The stack's probe timeout backs off by 2 s at most, and its bucket is deeper: 0.74 to 0.86.
        ((10, 600, 40, "dualpi2", False, 3, "bbr"), 0.6, 1.0),
        # The bucket alone: the stack's first rate of C4 is an RTT late, 1.06.
        ((1000, 150, 0, "pie", False, 1, "c4"), 1.03, 1.10),
        # DualPI2 marks bursts: 0.92 by the model's bucket, 1.06 by that of the stack.
        ((100, 40, 0, "dualpi2", False, 1, "cubic"), 0.87, 0.97),
        # A window of four packets carries four on both: 0.78; three on the stack gave 1.45.
        ((1000, 5, 20, "drop-tail", False, 1, "bbr"), 0.65, 0.95),
        # Two packets of window, 20 % of loss: 1.09 by the bucket; 1.15 and more when one was held back.
        ((10, 40, 20, "dualpi2", False, 3, "cubic"), 1.0, 1.15),
    ],
)
def test_known_differences_do_not_change(values: tuple[Any, ...], least: float, most: float) -> None:
    goodput, _ = ratios(*values)
    assert least <= goodput <= most


def test_the_walk_covers_each_value_of_each_axis_about_as_often() -> None:
    cases = list(walk.points(128))
    for axis, levels in walk.AXES.items():
        shares = [sum(getattr(case, axis) == level for case in cases) / len(cases) for level in levels]
        assert min(shares) > 0.8 / len(levels), axis
        assert max(shares) < 1.2 / len(levels), axis


def test_an_interval_within_the_bounds_is_alike_and_one_outside_differs() -> None:
    assert walk.Interval(1.0, 0.97, 1.04).judge(0.05) == "alike"
    assert walk.Interval(1.0, 0.90, 1.10).judge(0.05) == "open"
    assert walk.Interval(0.8, 0.70, 0.95).judge(0.05) == "differs"  # 1 / 1.05 = 0.952
    # Trials that do not scatter leave an interval of one value.
    assert walk.compare([2.0, 2.0], [1.0, 1.0]).ratio == pytest.approx(2)
