"""The time series of one trial, and the files that they are written to.

Times are seconds since the start of the trial, sizes bytes, rates bits per second.

- `.parquet` and `.csv` hold all series in one table ordered by time; the column `kind` tells which
  series a row belongs to (`flow`, `variable`, `link`, `drop`), and a column that does not apply is empty.
- `.sqlog` is qlog as a JSON text sequence (draft-ietf-quic-qlog-main-schema, section 5; event names of
  draft-ietf-quic-qlog-quic-events): congestion state and recovery metrics of the sender, with the name of
  the flow as `group_id`, and drops on links as an event of our own, `thalweg:drop`. Limits: no packet
  events; times and RTTs are milliseconds, as qlog has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.errors import RequestError

FORMATS = (".parquet", ".csv", ".sqlog")

_METRICS = {
    "smoothed_rtt_s": ("smoothed_rtt", 1e3),
    "latest_rtt_s": ("latest_rtt", 1e3),
    "window_bytes": ("congestion_window", 1),
    "in_flight_bytes": ("bytes_in_flight", 1),
    "pacing_bps": ("pacing_rate", 1),
}
"""Our columns, their names in qlog, and the factor between: qlog counts milliseconds."""


@dataclass(frozen=True)
class Trace:
    """Time series of one trial."""

    flows: pl.DataFrame
    """Per flow on change and on ACK: window, bytes in flight, RTT, rates, state."""
    variables: pl.DataFrame
    """Variables of the controllers, one value a row."""
    links: pl.DataFrame
    """Per link on change: capacity, queue, bytes delivered, packets dropped and marked."""
    drops: pl.DataFrame
    """Every drop: when, where, whose, why."""

    @staticmethod
    def of(native: _native.Trace) -> Trace:
        """Makes tables of the columns that the simulator hands over."""
        tables = (native.flows, native.variables, native.links, native.drops)
        return Trace(*(pl.DataFrame(dict(columns)) for columns in tables))

    def table(self) -> pl.DataFrame:
        """All series in one table, ordered by time."""
        parts = {"flow": self.flows, "variable": self.variables, "link": self.links, "drop": self.drops}
        named = [part.select(pl.lit(kind).alias("kind"), pl.all()) for kind, part in parts.items()]
        whole = pl.concat(named, how="diagonal_relaxed").sort("time_s", maintain_order=True)
        return whole.select("time_s", pl.exclude("time_s")).fill_nan(None)

    def save(self, file: str | Path) -> None:
        """Writes the trace; the ending of the name chooses the format. Raises RequestError."""
        target = Path(file)
        if target.suffix not in FORMATS:
            raise RequestError(f"{target}: a trace ends in one of {', '.join(FORMATS)}")
        try:
            if target.suffix == ".parquet":
                self.table().write_parquet(target)
            elif target.suffix == ".csv":
                self.table().write_csv(target)
            else:
                with target.open("w", encoding="utf-8") as out:
                    for record in self._qlog():
                        # RFC 7464: every record of a JSON text sequence starts with RS and ends with LF.
                        out.write(f"\x1e{json.dumps(record, allow_nan=False)}\n")
        except OSError as error:
            raise RequestError(f"cannot write {target}: {error.strerror or error}") from None

    def _qlog(self) -> Iterator[dict[str, Any]]:
        yield {
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": f"thalweg {_native.version()}",
            "event_schemas": ["urn:ietf:params:qlog:events:quic", "urn:thalweg:qlog:drop"],
            "trace": {
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": {"clock_type": "monotonic"},
                },
                "vantage_point": {"type": "server"},
            },
        }
        samples = self.flows.select(pl.lit("sample").alias("kind"), pl.all())
        drops = self.drops.select(pl.lit("drop").alias("kind"), pl.all())
        known: dict[str, dict[str, Any]] = {}
        states: dict[str, str] = {}
        rows = pl.concat([samples, drops], how="diagonal_relaxed").sort("time_s", maintain_order=True)
        for row in rows.iter_rows(named=True):
            flow = row["flow"]
            head = {"time": round(row["time_s"] * 1e3, 6), "group_id": flow}
            if row["kind"] == "drop":
                yield {**head, "name": "thalweg:drop", "data": {"link": row["link"], "reason": row["reason"]}}
                continue
            state = row["state"]
            if state != states.get(flow):
                change = {"old": states[flow], "new": state} if flow in states else {"new": state}
                yield {**head, "name": "quic:congestion_state_updated", "data": change}
                states[flow] = state
            metrics = {
                name: row[column] * factor
                for column, (name, factor) in _METRICS.items()
                if row.get(column) is not None and row[column] == row[column]
            }
            before = known.setdefault(flow, {})
            changed = {name: value for name, value in metrics.items() if before.get(name) != value}
            if changed:
                before.update(changed)
                yield {**head, "name": "quic:recovery_metrics_updated", "data": changed}
