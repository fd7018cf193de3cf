"""The course of a trial of `wifi-compete`: what the figures of the paper show, as numbers.

- **Initial peak**: the largest window of the main flow before it leaves Initial for the first time. The paper
  calls the growth to it the initial spike.
- **Pig war**: when a flow first goes into the state in which it defends its share.
- **Restart**: when the main flow first goes back to Initial, which a new minimum RTT makes it do as well.
- **Spike**: the first time, after Initial, that the window of the main flow is at least twice its median over the
  second before.
- **Catch-up**: the first time that the window of the main flow is within a tenth of the background's, or above it.
- **Thirds**: the share of the main flow, of all that was delivered, in each third of the time in which both flows
  were active.
- **Afterwards**: the rate of the main flow once the background had closed, over the capacity of the link.

Times count from the start of the trial, in seconds; what did not happen is not a number.

Limits: windows are taken every 50 ms, delivery is as the sender learns of it. Only C4 has a state Initial and
tells of pig wars.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg.engine.outcome import Trial
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg_c4_history.parameters import BACKGROUND, MAIN

if TYPE_CHECKING:
    import numpy.typing as npt


TRACED = 40
"""Trials of a cell that are played with their trace; all, if there are fewer."""
CAPACITY_BPS = 10e6
"""The capacity of the link of all scenarios of this study."""
_EVERY_S = 0.05
_BINS = 20
"""A second of windows."""
_LEAST_AFTERWARDS_S = 0.5
"""A rate over less time says nothing."""

Values: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True)
class Course:
    """What happened in one trial, and when."""

    initial_peak_bytes: float
    main_pig_war_s: float
    background_pig_war_s: float
    restart_s: float
    spike_s: float
    catch_up_s: float
    thirds: tuple[float, float, float]
    afterwards: float


def courses(trials: CellTrials) -> list[Course]:
    """The courses of the first trials of a cell, which are played with their traces."""
    found = trials.each(lambda trial: asdict(course(trial)), "course", TRACED)
    return [Course(**{**values, "thirds": tuple(values["thirds"])}) for values in found]


def course(trial: Trial) -> Course:
    """The course of a trial, which needs its trace."""
    trace = trial.trace
    assert trace is not None
    closed = {str(row["flow"]): float(row["closed_s"]) for row in trial.flows.iter_rows(named=True)}
    flows = {str(name): part for (name,), part in trace.flows.group_by("flow", maintain_order=True)}
    main, background = flows[MAIN], flows.get(BACKGROUND)
    left = _first(main.filter(pl.col("state") != "Initial"))
    before = main if np.isnan(left) else main.filter(pl.col("time_s") <= left)
    peak = before["window_bytes"].max()
    begin = float(main["time_s"][0])
    times = np.arange(begin, closed[MAIN] if np.isfinite(closed[MAIN]) else begin, _EVERY_S)
    windows = _at(main, "window_bytes", times)
    pair: tuple[float, tuple[float, float, float], float] = (np.nan, (np.nan, np.nan, np.nan), np.nan)
    if background is not None:
        others = _at(background, "window_bytes", times)
        caught = times[np.isfinite(others) & (windows >= 0.9 * others)]
        pair = (
            float(caught[0]) if len(caught) else np.nan,
            _thirds(main, background, begin, float(np.fmin(closed[MAIN], closed[BACKGROUND]))),
            _afterwards(main, closed[BACKGROUND], closed[MAIN]),
        )
    return Course(
        float(peak) if isinstance(peak, int) else np.nan,
        _pig_war(trace.variables, MAIN),
        _pig_war(trace.variables, BACKGROUND),
        _first(main.filter((pl.col("time_s") > left) & (pl.col("state") == "Initial"))),
        first_spike(times, windows, left),
        *pair,
    )


def first_spike(times: Values, windows: Values, after: float) -> float:
    """When the window is first twice its median over the second before; `after` is where the search begins.

    >>> times, windows = np.arange(100) * 0.05, np.full(100, 10.0)
    >>> windows[60:64] = 25
    >>> first_spike(times, windows, 1.0), first_spike(times, windows, 3.5)
    (3.0, nan)
    """
    for at in range(_BINS, len(times)):
        if times[at] > after and windows[at] >= 2 * np.median(windows[at - _BINS : at]):
            return float(times[at])
    return float("nan")


def _first(rows: pl.DataFrame) -> float:
    return float(rows["time_s"][0]) if rows.height else float("nan")


def _pig_war(variables: pl.DataFrame, flow: str) -> float:
    on = (pl.col("flow") == flow) & (pl.col("variable") == "pig_war") & (pl.col("value") > 0)
    return _first(variables.filter(on))


def _at(samples: pl.DataFrame, column: str, times: Values) -> Values:
    """The value that holds at each of these times; not a number before the first sample."""
    known = samples.filter(pl.col(column).is_not_null())
    index = np.searchsorted(known["time_s"].to_numpy(), times, side="right")
    values = np.concatenate([[np.nan], known[column].to_numpy().astype(np.float64)])
    return np.asarray(values[index], dtype=np.float64)


def _delivered(samples: pl.DataFrame, begin: float, end: float) -> float:
    first, last = np.nan_to_num(_at(samples, "delivered_bytes", np.array([begin, end])))
    return float(last - first)


def _thirds(main: pl.DataFrame, background: pl.DataFrame, begin: float, end: float) -> tuple[float, float, float]:
    edges = np.linspace(begin, end, 4)

    def share(at: int) -> float:
        own, other = (_delivered(flow, edges[at], edges[at + 1]) for flow in (main, background))
        return own / (own + other) if own + other else float("nan")

    return share(0), share(1), share(2)


def _afterwards(main: pl.DataFrame, begin: float, end: float) -> float:
    """Not a number too if the main flow was done first, or did not finish."""
    if not end - begin >= _LEAST_AFTERWARDS_S:
        return float("nan")
    return 8 * _delivered(main, begin, end) / (end - begin) / CAPACITY_BPS
