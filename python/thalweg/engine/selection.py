"""Some flows of a trial: the others play, and are not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.engine.outcome import Trial

_REQUEST_OR_END = r"/(\d+|client|server)$"
"""What a trace adds to the name of a flow: the number of a request, or the end that sends media."""


def only(trial: Trial, flows: Sequence[str] | None) -> Trial:
    """The trial with these flows, of those that it has; None: all. Links keep the packets of all flows.

    Raises RequestError for a name that no flow has.
    """
    if flows is None:
        return trial
    known = trial.flows["flow"].unique(maintain_order=True).to_list()
    for name in flows:
        if name not in known:
            raise RequestError(
                f"no flow has the name {name!r}{did_you_mean(name, known)}; accepted: {', '.join(known)}"
            )
    outcomes = replace(trial.outcomes, flows=trial.outcomes.flows.filter(pl.col("flow").is_in(flows)))
    trace = trial.trace and replace(
        trial.trace,
        flows=_of(trial.trace.flows, flows),
        frames=_of(trial.trace.frames, flows),
        drops=_of(trial.trace.drops, flows),
    )
    return replace(trial, outcomes=outcomes, trace=trace)


def _of(rows: pl.DataFrame, flows: Sequence[str]) -> pl.DataFrame:
    return rows.filter(pl.col("flow").str.replace(_REQUEST_OR_END, "").is_in(flows))
