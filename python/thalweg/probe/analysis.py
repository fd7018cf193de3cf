"""The analysis of one series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.probe.clocks import OneWay, one_way
from thalweg.probe.dependence import Dependence, dependence
from thalweg.probe.distribution import BIN_S, Censored, Histogram, histogram, percentiles, undo_in_order
from thalweg.probe.in_order import InOrderLine, filter_in_order, find_in_order_line
from thalweg.probe.losses import Losses, count_losses
from thalweg.probe.series import Floats, Mask, Series
from thalweg.probe.timers import TIMERS, Firings, run_timer
from thalweg.probe.wifi_fit import WifiFit, fit_published, fit_wifi, published_entry, scenario_entry

SHARES = {"min": 0.0, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.5": 0.995, "max": 1.0}


REJECTED = 0.05
"""Below this chance of such delays, a model does not fit."""


@dataclass(frozen=True)
class Analysis:
    """The analysis of one series."""

    series: Series
    losses: Losses
    one_way: OneWay
    kept: Mask
    """The answered requests that the in-order filter keeps."""
    line: InOrderLine
    dependence: Dependence
    histogram: Histogram
    filtered_histogram: Histogram
    up: Censored
    """Delays above the least of the way up, with in-order delivery undone."""
    down: Censored
    fits: dict[str, WifiFit]
    """Both directions together, and each."""
    published: WifiFit
    """Only the fraction, both directions together."""
    timers: list[Firings]
    """Along all round-trip times."""
    filtered_timers: list[Firings]
    """Along those that the in-order filter keeps."""

    @property
    def rtt(self) -> Floats:
        """Round-trip times of the answered requests."""
        return self.series.rtt[self.series.answered]

    def percentiles(self, filtered: bool = False) -> dict[str, float]:
        """Percentiles of the round-trip times."""
        values = self.rtt[self.kept] if filtered else self.rtt
        return dict(zip(SHARES, percentiles(values, tuple(SHARES.values())), strict=True))

    def entries(self) -> dict[str, str]:
        """Values of the key `jitter` of a scenario: the fitted model, and the published one."""
        return {
            "fitted": scenario_entry(self.fits["both"].model),
            "published": published_entry(self.published.model),
        }

    def path(self) -> str:
        """Lines of a scenario's `[path]`: the least round-trip time, the jitter that fits, and the losses."""
        lines = [f'rtt = "{self.percentiles()["min"] * 1e3:.4g} ms"']
        lines.append(f"jitter = {self.entries()['published' if self.published_fits else 'fitted']}")
        if self.losses.lost:
            up, down = self.losses.shares
            lines.append(f'loss = "{100 * down:.3g} %"')
            lines += [f'up.loss = "{100 * up:.3g} %"'] if up != down else []
        return "\n".join(lines)

    @property
    def published_fits(self) -> bool:
        """Whether the delays do not contradict the published scales, which have a number less to be fitted."""
        return self.published.probability >= REJECTED

    @property
    def remark(self) -> str:
        """What to know of the jitter in `path`."""
        fitted, published = (f"{of.probability:.2g}" for of in (self.fits["both"], self.published))
        if self.published_fits:
            return f"the published scales fit (p = {published})"
        if self.fits["both"].probability >= REJECTED:
            return f"fitted (p = {fitted}); the published scales do not fit (p = {published})"
        return (
            f"fitted, and no model fits well (p = {fitted}; with the published scales {published}): "
            "thalweg probe export writes the delays themselves, as a trace"
        )

    def document(self) -> dict[str, Any]:
        """The numbers, for JSON; None if unknown."""
        losses = self.losses
        return {
            "name": self.series.name,
            "sent": losses.sent,
            "answered": losses.answered,
            "interval_s": _number(self.series.interval_s),
            "duration_s": self.series.duration_s,
            "loss": losses.loss,
            "lost_up": losses.lost_up,
            "lost_down": losses.lost_down,
            "longest_loss": losses.longest_loss,
            "copies": losses.copies,
            "reordered_up": losses.reordered_up,
            "reordered_down": losses.reordered_down,
            "rtt_s": _numbers(self.percentiles()) | {"mean": float(self.rtt.mean())},
            "filtered_rtt_s": _numbers(self.percentiles(filtered=True)),
            "kept_by_filter": float(self.kept.mean()),
            "up_s": _above(self.one_way.up),
            "down_s": _above(self.one_way.down),
            "clock": {
                "offset_s": self.one_way.offset_s,
                "drift": self.one_way.drift,
                "uncertain_s": self.one_way.uncertain_s,
            },
            "in_order_line": {
                "found": self.line.found,
                "below_s": _number(self.line.below_s),
                "on_line": self.line.on_line,
                "candidates": self.line.candidates,
            },
            "dependence": self._dependence(),
            "histogram": _histograms(self.histogram, self.filtered_histogram),
            "timers": [
                {
                    "name": raw.timer.name,
                    "formula": raw.timer.formula,
                    "source": raw.timer.source,
                    "spurious": raw.count,
                    "spurious_filtered": kept.count,
                }
                for raw, kept in zip(self.timers, self.filtered_timers, strict=True)
            ],
            "wifi": {name: _fit(fit) for name, fit in self.fits.items()}
            | {"published_scales": _fit(self.published)},
            "jitter": self.entries(),
            "path": self.path(),
        }

    def _dependence(self) -> dict[str, Any]:
        found = self.dependence
        median = float(np.median(found.events)) if found.events else None
        return {
            "mean_delay_s": found.mean_s,
            "correlation": {str(lag): _number(value) for lag, value in found.correlation.items()},
            "decay_s": _number(found.decay_s),
            "events": len(found.events),
            "event_s": {"median": median, "longest": max(found.events, default=None)},
        }


def pooled(analyses: Sequence[Analysis]) -> tuple[Histogram, Histogram]:
    """The histograms of several series in one: of all answers, and of those that the in-order filter keeps."""
    return (
        Histogram.pool([analysis.histogram for analysis in analyses]),
        Histogram.pool([analysis.filtered_histogram for analysis in analyses]),
    )


def document(analyses: Sequence[Analysis]) -> dict[str, Any]:
    """The analysis of these series, for JSON; several also have a pooled histogram."""
    document: dict[str, Any] = {"probes": [analysis.document() for analysis in analyses]}
    if len(analyses) > 1:
        document["pooled_histogram"] = _histograms(*pooled(analyses))
    return document


def _histograms(everything: Histogram, kept: Histogram) -> dict[str, Any]:
    return {
        "bin_s": BIN_S,
        "counts": everything.counts.tolist(),
        "beyond": everything.beyond,
        "filtered_counts": kept.counts.tolist(),
        "filtered_beyond": kept.beyond,
    }


def analyze(series: Series) -> Analysis:
    """Analyzes a series with at least one answer."""
    got = series.answered
    rtt, ways = series.rtt, one_way(series)
    # The order of sending holds for the filter: on a path that keeps it, that is the order of arrival.
    kept = filter_in_order(series.received[got])
    whole = np.full(len(rtt), np.nan)
    whole[np.flatnonzero(got)[kept]] = rtt[got][kept]
    up = undo_in_order(series.sent[got], ways.up - ways.up.min())
    down = _undo_down(series, ways)
    fits = {"both": fit_wifi(Censored.join([up, down])), "up": fit_wifi(up), "down": fit_wifi(down)}
    return Analysis(
        series=series,
        losses=count_losses(series),
        one_way=ways,
        kept=kept,
        line=find_in_order_line(rtt, series.interval_s),
        dependence=dependence(series),
        histogram=histogram(rtt[got]),
        filtered_histogram=histogram(rtt[got][kept]),
        up=up,
        down=down,
        fits=fits,
        published=fit_published(Censored.join([up, down])),
        timers=[run_timer(timer, rtt) for timer in TIMERS],
        filtered_timers=[run_timer(timer, whole) for timer in TIMERS],
    )


def _undo_down(series: Series, ways: OneWay) -> Censored:
    """The way down, whose packets are sent in the order in which the requests arrived."""
    returned = series.returned[series.answered]
    order = np.argsort(returned, kind="stable")
    return undo_in_order(returned[order], (ways.down - ways.down.min())[order])


def _above(delay: Floats) -> dict[str, float | None]:
    found = dict(zip(SHARES, percentiles(delay, tuple(SHARES.values())), strict=True))
    return _numbers(found) | {"mean": float(delay.mean())}


def _fit(fit: WifiFit) -> dict[str, float | int]:
    model = fit.model
    return {
        "fraction": model.fraction,
        "short_s": model.short_s,
        "long_s": model.long_s,
        "mean_s": model.mean_s,
        "requested_mean_s": model.requested_mean_s,
        "ks_distance": fit.distance,
        "ks_probability_at_most": fit.probability,
        "exact": fit.exact,
        "held": fit.held,
    }


def _numbers(values: dict[str, float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
