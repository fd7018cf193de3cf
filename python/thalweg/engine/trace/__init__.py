"""The time series of one trial, and the files that they are written to.

Times are seconds since the start of the trial, sizes bytes, rates bits per second.

- A controller that does not pace has no pacing rate: the value is not a number, or empty in a file.
- `.parquet` and `.csv` hold all series in one table ordered by time; the column `kind` tells which
  series a row belongs to (`flow`, `variable`, `link`, `drop`, `packet`, `held`, `frame`); a column that does not
  apply is empty.
- `.sqlog` and `.qlog` are qlog: see `thalweg.engine.trace.qlog`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from thalweg import _native
from thalweg.base.columns import frame
from thalweg.base.errors import RequestError
from thalweg.base.files.whole_file import whole_file
from thalweg.engine.trace import qlog

_UNPACED_BPS = 1200 * 8 * 1e9
"""A controller that does not pace asks for a packet each nanosecond, or leaves the rate out: the smallest packet
that a path of QUIC carries has 1200 bytes (RFC 9000 section 14)."""

FORMATS = (".parquet", ".csv", ".sqlog", ".qlog")

PACKETS = {
    "time_s": float,
    "flow": str,
    "event": str,
    "first_packet": int,
    "last_packet": int,
    "size_bytes": int,
}
"""The columns of `Trace.packets`."""
HELD = {"time_s": float, "link": str, "flow": str, "held_s": float}
"""The columns of `Trace.held`."""
FRAMES = {
    "time_s": float,
    "flow": str,
    "stream": str,
    "delay_s": float,
    "deadline_s": float,
    "frozen_s": float,
    "counted": bool,
    "encoder_bps": float,
    "told_bps": float,
}
"""The columns of `Trace.frames`."""

DROP_REASONS = {
    "queue": "full queues",
    "aqm": "queue management",
    "ack-filter": "filters of ACKs",
    "shrunk": "queues that became smaller",
    "flushed": "queues that were emptied",
    "loss": "random loss",
    "policer": "policers",
}
"""The reasons of `Trace.drops`, in words."""


@dataclass(frozen=True)
class Trace:
    """Time series of one trial."""

    flows: pl.DataFrame
    """Per flow: window, bytes in flight, RTT, rates, state and limit, after each event but departures.

    `pacing_bps` is NaN while a flow is not paced.
    """
    variables: pl.DataFrame
    """Variables of the controllers, one value a row."""
    links: pl.DataFrame
    """Per link on change: capacity, queue, bytes delivered, packets dropped and marked."""
    drops: pl.DataFrame
    """Every drop: when, where, whose, why."""
    packets: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PACKETS))
    """What became of the packets of each sender of data: sent, acknowledged (in runs), lost. The kernel's TCP
    does not tell."""
    held: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=HELD))
    """Packets that came out of a link later than transmission and propagation explain, and by how much: held back
    by jitter, or behind a packet that was. In virtual time."""
    frames: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=FRAMES))
    """Frames of calls by nominal time: delay until the last byte arrived (NaN if it never did), the deadline of
    the stream, whether the numbers of the stream count the frame, and, with an encoder, its rate at the frame and
    the rate that congestion control told it (NaN if none). In virtual time."""

    def __post_init__(self) -> None:
        """An unpaced flow has no pacing rate, whatever the source of the trace."""
        paced = pl.col("pacing_bps") < _UNPACED_BPS
        rate = pl.when(paced).then("pacing_bps").otherwise(math.nan).alias("pacing_bps")
        object.__setattr__(self, "flows", self.flows.with_columns(rate))

    @staticmethod
    def of(native: _native.Trace) -> Trace:
        """Makes tables of the columns that the simulator hands over."""
        tables = (native.flows, native.variables, native.links, native.drops, native.packets)
        flows, *others = map(frame, (*tables, native.held, native.frames))
        return Trace(flows, *others)

    def table(self) -> pl.DataFrame:
        """All series in one table, ordered by time; the number of a packet by itself is there once."""
        last = pl.when(pl.col("last_packet") > pl.col("first_packet")).then("last_packet")
        parts = {
            "flow": self.flows,
            "variable": self.variables,
            "link": self.links,
            "drop": self.drops,
            "packet": self.packets.with_columns(last.alias("last_packet")),
            "held": self.held,
            "frame": self.frames,
        }
        named = [part.select(pl.lit(kind).alias("kind"), pl.all()) for kind, part in parts.items()]
        whole = pl.concat(named, how="diagonal_relaxed").sort("time_s", maintain_order=True)
        return whole.select("time_s", pl.exclude("time_s")).fill_nan(None)

    def save(self, file: str | Path, vantage: qlog.Vantage = "server") -> None:
        """Writes the trace, whole or not at all; its ending chooses the format, `vantage` says whose qlog it is.

        Raises RequestError.
        """
        target = Path(file)
        if target.suffix not in FORMATS:
            raise RequestError(f"{target}: a trace ends in one of {', '.join(FORMATS)}")
        with whole_file(target) as partial:
            # Open files: Polars takes no path that is not UTF-8.
            if target.suffix == ".parquet":
                with partial.open("wb") as out:
                    self.table().write_parquet(out, compression_level=9, statistics=False)
            elif target.suffix == ".csv":
                with partial.open("wb") as out:
                    self.table().write_csv(out)
            else:
                text = qlog.written(self, vantage, sequence=target.suffix == ".sqlog")
                partial.write_text(text, encoding="utf-8")
