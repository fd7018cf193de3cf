"""What happened to one flow of one trial, in a few sentences."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import polars as pl

from thalweg.base.quantity import percent, text
from thalweg.engine.outcome import Trial
from thalweg.experiments.explain.cuts import NO_LOSS, cuts
from thalweg.results.limited import LIMITS, limits

_LEAST_SHARE = 0.01
"""A limit that held a smaller share of the time is not named."""
_LOSSES = (
    ("packets_dropped", "packets_policed", "dropped by queues"),
    ("packets_policed", None, "dropped by policers"),
    ("packets_lost_at_random", None, "lost at random"),
)
"""Packets that links kept: a count, what of it another one has, and words."""


@dataclass(frozen=True)
class Account:
    """One flow of one trial."""

    flow: str
    row: dict[str, Any]
    """Its outcome, by column."""
    streams: pl.DataFrame
    """Outcomes of its streams of media."""
    shares: dict[str, float]
    """Shares of its time, by column of `LIMITS`; empty if its stack does not tell."""
    cuts: Counter[str]
    """Reductions of its window, by cause."""
    floor_s: float | None
    """Its least completion time, if that is known."""

    def sentences(self) -> list[str]:
        """In the order in which one asks: what came of it, what limited it, losses, window, delay."""
        return [
            sentence
            for sentence in (self._result(), self._limits(), self._losses(), self._window(), self._delay())
            if sentence
        ]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "flow": self.flow,
            "sentences": self.sentences(),
            "limited": {column.removeprefix("limited_"): share for column, share in self.shares.items()},
            "cuts": dict(self.cuts),
        }

    def _result(self) -> str:
        row = self.row
        rate, used = text(row["mean_rate_bps"], "bps"), row["utilisation"]
        whole = f", and its busiest link was used {percent(used)} of the time" if math.isfinite(used) else ""
        if not self.streams.is_empty():
            media = [
                f"{one['stream']} had {_or_no(one['media_rate_bps'], 'bps', 'no rate')}, a p95 delay of "
                f"{_or_no(one['p95_delay_s'], 's', 'nothing')}, and was frozen for {text(one['frozen_s'], 's')}"
                for one in self.streams.iter_rows(named=True)
            ]
            return f"{self.flow} ({row['controller']}): {'; '.join(media)}{whole}."
        if not row["finished"]:
            return f"{self.flow} ({row['controller']}) did not finish, at {rate} on average{whole}."
        took = row["completion_s"] - row["start_s"]
        floor = f"; the path allows {text(self.floor_s, 's')} at best" if self.floor_s else ""
        return f"{self.flow} ({row['controller']}) took {text(took, 's')}, at {rate} on average{whole}{floor}."

    def _limits(self) -> str:
        if not self.shares:
            return "Its stack does not say what limited it."
        ordered = sorted(self.shares.items(), key=lambda one: -one[1])
        (most, share), *rest = [one for one in ordered if one[1] >= _LEAST_SHARE]
        words, meaning = LIMITS[most]
        others = ", ".join(f"{LIMITS[column][0]} {percent(share)}" for column, share in rest)
        more = f" ({others})" if others else ""
        return f"It was limited by {words} {percent(share)} of the time{meaning}{more}."

    def _losses(self) -> str:
        row = self.row
        lost, spurious = int(row["packets_lost"]), int(row["spurious_losses"])
        parts = []
        for column, without, words in _LOSSES:
            count = int(row[column]) - (int(row[without]) if without else 0)
            parts += [f"{count} {words}"] if count else []
        parts += [f"{spurious} not lost at all"] if spurious else []
        if not lost and not parts:
            return "It lost no packet."
        told = f": {', '.join(parts)}" if parts else ""
        return f"It declared {lost} of {int(row['packets_sent'])} packets lost{told}."

    def _window(self) -> str:
        timeouts = int(self.row["timeouts"])
        waited = f" It had {timeouts} probe timeout{'s' if timeouts > 1 else ''}." if timeouts else ""
        if not self.cuts:
            return f"Its window never fell by 5 % or more.{waited}"
        parts = [
            f"{count} for {cause}" if cause != NO_LOSS else f"{count} without a loss or a mark"
            for cause, count in self.cuts.most_common()
        ]
        total = self.cuts.total()
        times = f"{total} time{'s' if total > 1 else ''}"
        return f"Its window fell by 5 % or more {times}: {', '.join(parts)}.{waited}"

    def _delay(self) -> str:
        row = self.row
        if not math.isfinite(row["mean_rtt_s"]):
            return ""
        mean, least, waits, p95 = (
            text(row[name], "s", 3)
            for name in ("mean_rtt_s", "min_rtt_s", "mean_queue_delay_s", "p95_queue_delay_s")
        )
        return (
            f"Its RTT was {mean} on average and {least} at least; a packet waited {waits} in queues on average, "
            f"5 % of them {p95} or more."
        )


def account(trial: Trial, flow: str, floor_s: float | None = None) -> Account:
    """What happened to a flow of a trial that was traced."""
    assert trial.trace is not None, "asked for"
    outcomes = trial.outcomes
    own = outcomes.flows.filter(pl.col("flow") == flow)
    row = {name: math.nan if value is None else value for name, value in own.row(0, named=True).items()}
    shares = next((one.shares for one in limits(outcomes) if one.flow == flow), {})
    streams = outcomes.streams
    streams = streams if streams.is_empty() else streams.filter(pl.col("flow") == flow)
    return Account(flow, row, streams, shares, cuts(trial.trace, flow), floor_s)


def _or_no(value: float | None, unit: str, none: str) -> str:
    return text(value, unit, 3) if value is not None and math.isfinite(value) else none
