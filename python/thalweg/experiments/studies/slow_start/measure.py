"""The measurements of `slow-start` from the traces of one cell, and the rows made of them.

Time begins when the first full packet leaves. Bytes are those that the sender knows to have arrived, so each
time includes the way back of an acknowledgement. What the handshake delivered does not count: nothing that was
sent after the first full packet can be acknowledged sooner than an RTT of the path later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from thalweg.engine.outcome import Trial
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.slow_start.metric import Values, exit_of, is_early, is_late, times_until
from thalweg.experiments.studies.slow_start.parameters import Cell, Parameters
from thalweg.judging.statistics.quantiles import median

LEVELS = tuple(1500 * 10**n for n in range(5))
PUBLISHED_LEVELS = (1_000_000, 5_300_000)
"""Levels of the transfers in section 1.4 of draft-ietf-tsvwg-careful-resume-22."""
_FULL_PACKET = 1200

TrialNumbers = dict[str, Values]
"""The numbers of a cell, one value for each trial."""


def level_column(level: int) -> str:
    """The column of the time until so many bytes.

    >>> level_column(15000)
    'until_15000_s'
    """
    return f"until_{level}_s"


def take(parameters: Parameters, cell: Cell, trial: Trial) -> dict[str, float]:
    """The numbers of one trial, from its trace."""
    assert trial.trace is not None
    flow, packets = trial.trace.flows, trial.trace.packets
    full = packets.filter((pl.col("event") == "sent") & (pl.col("size_bytes") >= _FULL_PACKET))
    begin_s = float(full["time_s"][0]) if full.height else float("nan")
    times = flow["time_s"].to_numpy()
    delivered = flow["delivered_bytes"].to_numpy().astype(float)
    before = delivered[times < begin_s + 0.99 * cell.rtt_s]
    acknowledged = np.maximum.accumulate(delivered - (before[-1] if len(before) else 0.0))
    end = exit_of(times, flow["window_bytes"].to_numpy().astype(float), flow["state"].to_list())
    dropped = trial.trace.drops.filter((pl.col("reason") == "queue") & (pl.col("link") == "down"))
    levels = (*LEVELS, *PUBLISHED_LEVELS)
    until = times_until(times, acknowledged, levels)
    pipe, whole = parameters.pipe_bytes(cell), parameters.full_bytes(cell)
    return {
        "exit_s": end.at_s - begin_s,
        "reached_of_pipe": end.reached_bytes / pipe,
        "left_of_pipe": end.left_bytes / pipe,
        "early": float(is_early(end, pipe)),
        "late": float(is_late(end, whole)),
        "dropped": float(dropped.filter(pl.col("time_s") <= end.over_s).height),
        **{level_column(level): at - begin_s for level, at in zip(levels, until, strict=True)},
    }


def together(cells: Mapping[Cell, TrialNumbers]) -> Iterator[tuple[Cell, TrialNumbers]]:
    """The phases of each path and start as one: the cell of the first of them, with the trials of all."""
    groups: dict[tuple[str, str, str], list[tuple[Cell, TrialNumbers]]] = {}
    for cell, measured in cells.items():
        groups.setdefault((cell.condition, cell.controller, cell.start), []).append((cell, measured))
    for group in groups.values():
        columns = group[0][1]
        yield group[0][0], {name: np.concatenate([measured[name] for _, measured in group]) for name in columns}


def gather(trials: Sequence[Mapping[str, float]]) -> TrialNumbers:
    """The numbers of all trials of a cell by their names."""
    return {name: np.array([trial[name] for trial in trials]) for name in trials[0]}


def row(cell: Cell, measured: TrialNumbers) -> Row:
    """One row of the table out of the trials of all phases of a path: medians, and shares of trials.

    A trial that never comes to a number counts as one with an infinite time; a start that is never left has no
    exit.
    """
    trials = len(measured["early"])
    left = np.isfinite(measured["exit_s"])
    return {
        "condition": cell.condition,
        "controller": cell.controller,
        "start": cell.start,
        "rate": cell.rate,
        "rtt": cell.rtt,
        "buffer_bdp": cell.buffer_bdp,
        "jitter": cell.jitter,
        "application": cell.application,
        "n": trials,
        **{level_column(level): _time(measured[level_column(level)]) for level in (*LEVELS, *PUBLISHED_LEVELS)},
        "left": float(left.mean()),
        "exit_s": _time(measured["exit_s"][left]),
        "reached_of_pipe": median(measured["reached_of_pipe"]),
        "left_of_pipe": _time(measured["left_of_pipe"][np.isfinite(measured["left_of_pipe"])]),
        "early": float(measured["early"].mean()),
        "late": float(measured["late"].mean()),
        "dropped": median(measured["dropped"]),
    }


def _time(values: Values) -> float | None:
    if not len(values):
        return None
    middle = median(np.where(np.isfinite(values), values, np.inf))
    return middle if np.isfinite(middle) else None
