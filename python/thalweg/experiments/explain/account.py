"""What happened to one flow of one trial, in a few sentences."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import polars as pl

from thalweg.base.quantity import percent, text
from thalweg.engine.outcome import Trial
from thalweg.experiments.explain.cuts import NO_LOSS, Series, cuts
from thalweg.judging.measures import METRICS
from thalweg.results.limited import WORDS, limits

_LEAST_SHARE = 0.01
"""A limit that held a smaller share of the time is not named."""


@dataclass(frozen=True)
class Account:
    """One flow of one trial."""

    flow: str
    row: dict[str, Any]
    """Its outcome, by column."""
    streams: pl.DataFrame
    """Outcomes of its streams of media."""
    shares: dict[str, float]
    """Shares of its time, by the name of the limit; empty if its stack does not tell."""
    cuts: Counter[str]
    """Falls of its window, by cause."""
    dropped: Counter[str]
    """Packets that links dropped of it, in either direction, by reason."""
    floor_s: float | None
    """Its least completion time from its start, if that is known."""

    @property
    def has_started(self) -> bool:
        """Whether the trial came to its start."""
        return bool(self.row["packets_sent"]) or bool(self.row["finished"])

    def sentences(self) -> list[str]:
        """In the order in which one asks: what came of it, what limited it, losses, window, delay."""
        if not self.has_started:
            return [f"{self.flow} ({self.row['controller']}) sent nothing: the trial ended before it could."]
        said = (self._result(), self._limits(), self._losses(), self._window(), self._delay())
        return [sentence for sentence in said if sentence]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "flow": self.flow,
            "sentences": self.sentences(),
            "limited": self.shares,
            "cuts": dict(self.cuts),
        }

    def _result(self) -> str:
        row = self.row
        rate, used = text(row["mean_rate_bps"], "bps"), row["utilisation"]
        link = (
            f" Over the trial, its busiest link was used {percent(used)} of the time."
            if math.isfinite(used)
            else ""
        )
        who = f"{self.flow} ({row['controller']})"
        if not self.streams.is_empty():
            return f"{who}: {'; '.join(map(_of_stream, self.streams.iter_rows(named=True)))}.{link}"
        if not row["finished"]:
            return f"{who} did not finish, at {rate} on average.{link}"
        took = row["completion_s"] - row["start_s"]
        floor = f"; the path allows {text(self.floor_s, 's')} at best" if self.floor_s else ""
        return f"{who} took {text(took, 's')}, at {rate} on average{floor}.{link}"

    def _limits(self) -> str:
        if not self.shares:
            return "Its stack does not say what limited it."
        ordered = sorted(self.shares.items(), key=lambda one: -one[1])
        (most, share), *rest = [one for one in ordered if one[1] >= _LEAST_SHARE]
        words, meaning = WORDS[most]
        others = ", ".join(f"{WORDS[name][0]} {percent(share)}" for name, share in rest)
        more = f" ({others})" if others else ""
        return f"It was limited by {words} {percent(share)} of the time{meaning}{more}."

    def _losses(self) -> str:
        row = self.row
        lost, spurious = int(row["packets_lost"]), int(row["spurious_losses"])
        wrongly = f", {spurious} of them wrongly" if spurious else ""
        policed = int(row["packets_policed"])
        kept = {
            "dropped by queues": int(row["packets_dropped"]) - policed,
            "dropped by policers": policed,
            "lost at random": int(row["packets_lost_at_random"]),
        }
        parts = [f"{count} {words}" for words, count in kept.items() if count]
        truth = f" What links did to its packets: {', '.join(parts)}." if parts else ""
        declared = f"It declared {lost} of {int(row['packets_sent'])} packets lost{wrongly}." if lost else ""
        return f"{declared or 'It declared no packet lost.'}{truth}"

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
            f"Its RTT was {mean} on average and {least} at least; its packets waited {waits} in queues on "
            f"average, and 5 % of them {p95} or more in the worst one."
        )


def account(trial: Trial, flow: str) -> Account:
    """What happened to a flow of a trial that was traced."""
    assert trial.trace is not None, "asked for"
    outcomes, series = trial.outcomes, Series.of(trial.trace, flow)
    own = outcomes.flows.filter(pl.col("flow") == flow)
    row = {name: math.nan if value is None else value for name, value in own.row(0, named=True).items()}
    shares = next((one.shares for one in limits(outcomes) if one.flow == flow), {})
    streams = outcomes.streams
    streams = streams if streams.is_empty() else streams.filter(pl.col("flow") == flow)
    falls = cuts(series, marked=bool(row["packets_marked"]))
    scenario = outcomes.scenario
    # The floor is the first flow's, from the start of the trial.
    floor = scenario.floor_s if flow == scenario.flows[0]["name"] else None
    floor_s = None if floor is None else floor - scenario.starts_s[flow]
    return Account(flow, row, streams, shares, falls, series.reasons, floor_s)


def _of_stream(one: dict[str, Any]) -> str:
    if not one["frames"]:
        return f"no frame of {one['stream']} was counted"
    named = (METRICS[name] for name in ("media-rate", "p95-delay", "frozen"))
    rate, p95, frozen = (text(one[metric.column], metric.unit, 3) for metric in named)
    return f"{one['stream']} had {rate}, a p95 delay of {p95}, and was frozen for {frozen}"
