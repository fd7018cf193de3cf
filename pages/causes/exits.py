"""How a flow of early C4 first leaves Initial: on delay, on a loss, or after three eras without growth.

Where the third era and an excess of delay come in one instant, the trace does not tell which of them decided.

Source: c4-history.md section 2.5. While an ACK frame is processed, the delay is looked at first, then what was
lost, then the growth (the order of events in `crates/control/src/controller.rs`); so of several causes the
earlier one decides.

Limits: the trace shows the filtered excess of delay, not whether its filter was already full, and a loss by the
loss rate of C4 that rises. Jitter releases many ACKs in one instant, whose causes are taken together.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from thalweg.engine.outcome import Trial
from thalweg_c4_history.parameters import MAIN

Exit = Literal["delay", "loss", "no growth", "delay or no growth"]
EXITS: tuple[Exit, ...] = ("delay", "loss", "no growth", "delay or no growth")
_BEFORE_THE_LAST_ERA = 2
"""Eras without growth before the third, with which Initial ends."""


def first_exit(trial: Trial) -> Exit | None:
    """The cause of the first exit of the main flow; None if it never left. The trial needs its trace."""
    trace = trial.trace
    assert trace is not None
    main = trace.flows.filter(pl.col("flow") == MAIN)
    left = main.filter(pl.col("state") != "Initial")
    if left.is_empty():
        return None
    at = float(left["time_s"][0])
    variables = trace.variables.filter(pl.col("flow") == MAIN)
    excess, eras = (_peak(variables, name, at) for name in ("delay_excess", "no_inc"))
    if excess > 0 and eras > 0:
        return "delay" if eras < _BEFORE_THE_LAST_ERA else "delay or no growth"
    return "loss" if _peak(variables, "loss_rate", at) > _before(variables, "loss_rate", at) else "no growth"


def _before(variables: pl.DataFrame, name: str, at: float) -> float:
    values = variables.filter((pl.col("variable") == name) & (pl.col("time_s") < at))["value"]
    return float(values[-1]) if len(values) else 0.0


def _peak(variables: pl.DataFrame, name: str, at: float) -> float:
    """The largest value that a variable had in this instant."""
    values = variables.filter((pl.col("variable") == name) & (pl.col("time_s") == at))["value"]
    return max([_before(variables, name, at), *map(float, values)])
