"""The time series of one trial, and the files that they are written to.

Times are seconds since the start of the trial, sizes bytes, rates bits per second.

- `.parquet` and `.csv` hold all series in one table ordered by time; the column `kind` tells which
  series a row belongs to (`flow`, `variable`, `link`, `drop`, `packet`); a column that does not apply is empty.
- `.sqlog` and `.qlog` are qlog: see `thalweg.qlog`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from thalweg import _native, qlog
from thalweg.errors import RequestError

FORMATS = (".parquet", ".csv", ".sqlog", ".qlog")

_PACKETS = {
    "time_s": pl.Float64,
    "flow": pl.String,
    "event": pl.String,
    "first_packet": pl.Int64,
    "last_packet": pl.Int64,
    "size_bytes": pl.Int64,
}


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
    packets: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_PACKETS))
    """What became of the packets of each sender of data: sent, acknowledged (in runs), lost. The kernel's TCP
    does not tell."""

    @staticmethod
    def of(native: _native.Trace) -> Trace:
        """Makes tables of the columns that the simulator hands over."""
        tables = (native.flows, native.variables, native.links, native.drops, native.packets)
        return Trace(*(pl.DataFrame(dict(columns)) for columns in tables))

    def table(self) -> pl.DataFrame:
        """All series in one table, ordered by time."""
        parts = {
            "flow": self.flows,
            "variable": self.variables,
            "link": self.links,
            "drop": self.drops,
            "packet": self.packets,
        }
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
            elif target.suffix == ".sqlog":
                qlog.write_sequence(self, target)
            else:
                qlog.write_for_qvis(self, target)
        except (OSError, pl.exceptions.PolarsError) as error:
            # A disk that fills while Parquet is written is an error of Polars.
            raise RequestError(f"cannot write {target}: {getattr(error, 'strerror', None) or error}") from None
