"""The metric on a measurement of one's own: a CSV file of rates over time.

The first line names the columns, in any order; other columns are ignored:

time_s           begin of a row's interval, rising; an interval ends where the next one begins
throughput_bps   mean rate that was delivered in it
sent_bps         mean rate that was sent in it; optional, stands for `throughput_bps` where overshoot is concerned
available_bps    mean bandwidth that was available in it; optional if the command gives a rate

Rows become bins of one round trip, as in the study. Sent and delivered rates must be measured at the same place,
the bottleneck: a delay between them counts as overshoot and undershoot.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.transient.columns import SERIES_COLUMNS
from thalweg.experiments.studies.transient.fit import Fit, fit_reaction
from thalweg.experiments.studies.transient.measure import run_values
from thalweg.experiments.studies.transient.metric import SPAN_RTTS, WINDOW_RTTS, Rates, Reactions, react

TIME, THROUGHPUT, SENT, AVAILABLE = "time_s", "throughput_bps", "sent_bps", "available_bps"
_MOST_BINS = 10_000_000
_ACCEPTED = f"a first line with {TIME},{THROUGHPUT} and optionally {SENT},{AVAILABLE}"


@dataclass(frozen=True)
class Measurement:
    """Rates over time; all arrays have one value for each interval."""

    begin_s: Rates
    """Where each interval begins, and at last where the last one ends: one value more."""
    throughput: Rates
    sent: Rates | None
    available: Rates | None


@dataclass(frozen=True)
class StepReaction:
    """How a measured flow reacted to one step, and the curves of it."""

    at_s: float
    reactions: Reactions
    fit: Fit
    every_s: float
    throughput: Rates
    sent: Rates | None
    available: Rates

    def row(self) -> Row:
        """As plain data, under SERIES_COLUMNS."""
        values = {"step_s": [self.at_s], **run_values(self.reactions, self.fit)}
        return {column.key: _plain(values[column.key][0]) for column in SERIES_COLUMNS}


def _plain(value: Any) -> str | float | int | None:
    if isinstance(value, str):
        return value
    if isinstance(value, np.bool_):
        return int(value)
    return None if np.isnan(value) else float(value)


def read_series(file: Path) -> Measurement:
    """Reads a measurement. Raises RequestError that names file, line, column, value and what is accepted."""
    try:
        with file.open(encoding="utf-8", newline="") as text:
            lines = csv.reader(text)
            header = [name.strip() for name in next(lines, [])]
            missing = [name for name in (TIME, THROUGHPUT) if name not in header]
            if missing:
                raise RequestError(f"{file}:1: there is no column {missing[0]}; accepted: {_ACCEPTED}")
            twice = next((name for name in header if header.count(name) > 1), None)
            if twice is not None:
                raise RequestError(f"{file}:1: two columns are named {twice!r}; accepted: {_ACCEPTED}")
            columns: dict[str, list[float]] = {
                name: [] for name in (TIME, THROUGHPUT, SENT, AVAILABLE) if name in header
            }
            for cells in lines:
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise RequestError(
                        f"{file}:{lines.line_num}: {len(cells)} values; accepted: {len(header)}, one a column"
                    )
                for name, values in columns.items():
                    values.append(_number(cells[header.index(name)], f"{file}:{lines.line_num}: {name}"))
                if len(columns[TIME]) > 1 and columns[TIME][-1] <= columns[TIME][-2]:
                    raise RequestError(
                        f"{file}:{lines.line_num}: {TIME} = {columns[TIME][-1]:g}; "
                        f"accepted: more than {columns[TIME][-2]:g}, the time of the line before"
                    )
    except FileNotFoundError:
        raise RequestError(f"{file}: no such file") from None
    except OSError as error:
        raise RequestError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise RequestError(f"{file}: not UTF-8 text; accepted: {_ACCEPTED}") from None
    except csv.Error as error:
        raise RequestError(f"{file}:{lines.line_num}: {error}; accepted: {_ACCEPTED}") from None
    if len(columns[TIME]) < 2:
        raise RequestError(f"{file}: {len(columns[TIME])} rows of numbers; accepted: at least 2")
    begin = np.array(columns[TIME])
    arrays = {name: np.array(values) for name, values in columns.items()}
    return Measurement(
        np.append(begin, 2 * begin[-1] - begin[-2]), arrays[THROUGHPUT], arrays.get(SENT), arrays.get(AVAILABLE)
    )


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not (np.isfinite(number) and number >= 0):
        raise RequestError(f"{where} = {text!r}; accepted: a number from 0 on")
    return number


def react_to_steps(
    measurement: Measurement,
    rtt_s: float,
    steps_s: Sequence[float] | None = None,
    available_bps: float | None = None,
) -> list[StepReaction]:
    """Applies the metric after each step; by default, the first row is the only one.

    `available_bps` is the available bandwidth where the measurement has none. Raises RequestError.
    """
    begin, end = float(measurement.begin_s[0]), float(measurement.begin_s[-1])
    if end - begin > _MOST_BINS * rtt_s:
        raise RequestError(
            f"round trips of {rtt_s:g} s in {end - begin:g} s of measurement; "
            f"accepted: at most {_MOST_BINS} of them, bins that one step could fill"
        )
    if measurement.available is None and available_bps is None:
        raise RequestError(f"a series without the column {AVAILABLE} requires --rate")
    known = measurement.available
    available = known if known is not None else np.full(len(measurement.throughput), available_bps)
    starts = list(steps_s) if steps_s else [begin]
    reactions = []
    before_available = before_sent = 0.0
    if starts[0] > begin:
        before_available = _mean(measurement, available, max(begin, starts[0] - WINDOW_RTTS * rtt_s), starts[0])
        offered = measurement.throughput if measurement.sent is None else measurement.sent
        before_sent = _mean(measurement, offered, max(begin, starts[0] - WINDOW_RTTS * rtt_s), starts[0])
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        bins = int((stop - start) / rtt_s + 1e-9)
        if start < begin or bins < SPAN_RTTS:
            raise RequestError(
                f"step at {start:g} s: {max(bins, 0)} round trips until {stop:g} s; accepted: a step from "
                f"{begin:g} s on with {SPAN_RTTS} round trips of {rtt_s:g} s after it"
            )
        edges = start + np.arange(bins + 1) * rtt_s
        delivered = _bins(measurement, measurement.throughput, edges)
        sent = None if measurement.sent is None else _bins(measurement, measurement.sent, edges)
        there = _bins(measurement, available, edges)
        mean = float(there.mean())
        reaction = react(delivered, there, rtt_s, sent, before_available)
        offered = delivered if sent is None else sent
        fit = fit_reaction(offered, np.array([before_sent]), reaction, rtt_s, 1)
        reactions.append(
            StepReaction(start, reaction, fit, rtt_s, delivered[0], None if sent is None else sent[0], there[0])
        )
        before_available, before_sent = mean, float(offered[0, -WINDOW_RTTS:].mean())
    return reactions


def _bins(measurement: Measurement, rates: Rates, edges: Rates) -> Rates:
    """Mean rates between edges, as one row."""
    total = np.concatenate([[0.0], np.cumsum(rates * np.diff(measurement.begin_s))])
    return np.asarray(
        np.diff(np.interp(edges, measurement.begin_s, total))[None, :] / np.diff(edges), dtype=np.float64
    )


def _mean(measurement: Measurement, rates: Rates, begin: float, end: float) -> float:
    return float(_bins(measurement, rates, np.array([begin, end]))[0, 0])
