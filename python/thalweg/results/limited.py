"""What limited the flows of a scenario, in a sentence for each that neither the path nor its window did.

Shares of time are means over trials: they add up to one. A real stack does not say what limits it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from thalweg.base.quantity import percent
from thalweg.engine.outcome import Outcomes
from thalweg.judging.measures import LIMITS, kind_of

WORDS = {
    "handshake": ("the handshake", ""),
    "application": ("the application", ": it had nothing to send"),
    "flow-control": ("flow control", ": the receiver allowed no more data"),
    "pacing": ("pacing", ""),
    "window": ("its congestion window", ""),
    "stalled": ("probe timeouts", ": nothing came back"),
}
"""What a sentence calls each limit, and what it says about the largest."""
_USUAL = ("pacing", "window")
"""What limits a sender whose controller decides, and so the path does."""
_MOST = 6
"""Flows that have a sentence."""


@dataclass(frozen=True)
class Limited:
    """One flow."""

    flow: str
    shares: dict[str, float]
    """Shares of its time, by the name of the limit."""

    @property
    def most(self) -> str:
        """The limit with the largest share."""
        return max(self.shares, key=self.shares.__getitem__)

    def text(self) -> str:
        """One sentence, such as `main was limited by flow control 55.0 % of the time: ...`."""
        words, meaning = WORDS[self.most]
        return f"{self.flow} was limited by {words} {percent(self.shares[self.most])} of the time{meaning}"


def limits(outcomes: Outcomes) -> Iterator[Limited]:
    """The limits of each flow whose stack tells them."""
    known = [limit for limit in LIMITS.values() if limit.column in outcomes.flows.columns]
    if not known:
        return
    shares = [pl.col(limit.column).fill_nan(None).mean().alias(limit.name) for limit in known]
    for row in outcomes.flows.group_by("flow", maintain_order=True).agg(shares).iter_rows(named=True):
        flow = str(row.pop("flow"))
        if None not in row.values():
            yield Limited(flow, row)


def unusual(outcomes: Outcomes) -> list[str]:
    """A sentence for each flow that neither window nor pacing limited most; a call always waits for its frames."""
    calls = {one["name"] for one in outcomes.scenario.flows if kind_of(one["workload"] or "") == "call"}
    usual = (*_USUAL, "application")
    said = [one.text() for one in limits(outcomes) if one.most not in (usual if one.flow in calls else _USUAL)]
    return said if len(said) <= _MOST else [*said[:_MOST], f"and {len(said) - _MOST} more flows"]
