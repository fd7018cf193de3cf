"""A trace as qlog, the log format of QUIC; the engine writes it, for pages too (`crates/columns/src/qlog`).

- `.sqlog`: the current drafts, a JSON text sequence; the name of the flow is the `group_id`.
- `.qlog`: the older form that qvis reads, one JSON document with a trace for each flow.

Packets of the handshake, packets that carry only an acknowledgement, and the frames of data packets are not
recorded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError

if TYPE_CHECKING:
    from thalweg.engine.trace import Trace

Vantage: TypeAlias = Literal["client", "server"]
"""The vantage point of the log: the sender of the data."""


def written(trace: Trace, vantage: Vantage, *, sequence: bool) -> str:
    """A trace as `.sqlog`, or else as `.qlog`. Raises RequestError if columns are missing."""
    tables = {
        "packets": trace.packets,
        "frames": trace.frames,
        "held": trace.held,
        "drops": trace.drops,
        "flows": trace.flows,
    }
    columns = {name: _known(table).to_dict(as_series=False) for name, table in tables.items()}
    try:
        return _native.qlog_of(json.dumps(columns), vantage, sequence)
    except ValueError as error:
        raise RequestError(f"this trace cannot be written as qlog: {error}") from None


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """A table without numbers that are none: JSON has no infinity."""
    numbers = pl.selectors.float()
    return table.with_columns(pl.when(numbers.is_finite()).then(numbers))
