"""What the authors of C4 and BBR should know: completion over CUBIC's, and whose the medium was."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pages.made import row
from thalweg.base.quantity import percent
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.judging.statistics.ratios import ratio_of_medians

TRIALS = 50
CASES = (
    ("jitter-by-packet", "bbr"),
    ("jitter-in-time", "bbr"),
    ("apartment", "bbr"),
    ("hidden", "bbr"),
    ("jitter-by-packet", "c4"),
    ("apartment", "c4"),
    ("hidden", "c4"),
    ("hidden-up", "c4"),
)
"""A scenario of the suite `wifi`, and the controller that is compared with `cubic` there."""


def lines() -> Iterator[str]:
    """Each case with the command that plays it again."""
    yield row("scenario", "controller", "completion over CUBIC's", "95 %", "replay")
    yield row(":--", ":--", "--:", "--:", ":--")
    yield from (case(*one) for one in CASES)


def case(scenario: str, controller: str) -> str:
    """A line of that table."""
    own, cubic = (_played(scenario, one).flows["completion_s"] for one in (controller, "cubic"))
    ratio = ratio_of_medians(own.to_numpy(), cubic.to_numpy())
    replay = f"`thalweg run wifi/{scenario} --controller main={controller} --trials {TRIALS}`"
    return row(scenario, f"`{controller}`", f"{ratio.value:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}", replay)


def airtime() -> Iterator[str]:
    """Whose the medium was, of downloads with CUBIC: means over trials."""
    yield row("scenario", "access point", "client", "neighbours", "several", "idle", "failed, down", "failed, up")
    yield row(":--", *["--:"] * 7)
    for scenario in ("home", "apartment", "office", "hidden", "scan"):
        links = _played(scenario, "cubic").links
        down, up = (links.filter(pl.col("link") == name) for name in ("air", "air up"))
        shares = (
            down["airtime"], up["airtime"], down["airtime_of_neighbours"], down["airtime_of_several"],
            down["airtime_idle"], down["failed_attempts"], up["failed_attempts"],
        )  # fmt: skip
        yield row(scenario, *(percent(float(share.to_numpy().mean())) for share in shares))


def _played(scenario: str, controller: str) -> Outcomes:
    return Scenario.load(f"wifi/{scenario}", {}, {"main": controller}).trials(TRIALS)
