"""Traces that `thalweg run --trace` writes as Parquet or CSV: packets, samples and limits of each flow."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import polars as pl

from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.packets import Packets
from thalweg.foreign.reading.view import NONE, Steps, View, steps

_PARQUET = b"PAR1"
_CSV = b"time_s,kind,"
_CUT = "what comes after its last line, which is cut off"
_NEEDED = ("time_s", "kind", "flow")


def is_own(data: bytes) -> bool:
    """Whether a file looks like one."""
    return data.startswith((_PARQUET, _CSV))


def views(data: bytes) -> list[View]:
    """A view for each flow. Raises DamageError."""
    if not data.startswith(_PARQUET) and not data.endswith(b"\n"):
        return [replace(view, missing=(*view.missing, _CUT)) for view in views(data[: data.rfind(b"\n") + 1])]
    try:
        table = (
            pl.read_parquet(io.BytesIO(data))
            if data.startswith(_PARQUET)
            else pl.read_csv(io.BytesIO(data), infer_schema_length=None)
        )
    except Exception as error:  # polars raises many things for damaged files
        raise DamageError(f"it is damaged ({str(error).splitlines()[0][:120]})") from None
    lacks = [name for name in _NEEDED if name not in table.columns]
    if lacks:
        raise DamageError(f"it has no column {lacks[0]}", "", "a trace that `thalweg run --trace` writes")
    try:
        kind = pl.col("kind").cast(pl.String)
        packets = table.filter(kind == "packet") if "first_packet" in table.columns else table.clear()
        return of_tables(table.filter(kind == "flow"), packets)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DamageError(
            f"its columns are not the columns of a trace ({str(error).splitlines()[0][:120]})"
        ) from None


def of_tables(samples: pl.DataFrame, packets: pl.DataFrame, logged: bool = True) -> list[View]:
    """Views of the tables of a trace; `logged`: with window, pacing and limits, or only with packets."""
    flows = packets.with_columns(pl.col("flow").cast(pl.String)).partition_by(
        "flow", as_dict=True, maintain_order=True
    )
    named = samples.with_columns(pl.col("flow").cast(pl.String))
    return [
        _view(str(name), named.filter(pl.col("flow") == name), rows, logged) for (name,), rows in flows.items()
    ]


def _view(name: str, samples: pl.DataFrame, rows: pl.DataFrame, logged: bool) -> View:
    packets = Packets()
    columns = ("time_s", "event", "first_packet", "last_packet", "size_bytes")
    pending: list[tuple[int, int]] = []
    since = math.nan
    for time, event, first, last, size in rows.select(columns).iter_rows():
        if pending and (event != "acknowledged" or time != since):
            packets.acknowledged(since, pending)
            pending = []
        if event == "sent":
            packets.sent(time, first, size)
        elif event == "lost":
            packets.lost(time, first)
        else:
            since = time
            pending.append((first, first if last is None else last))
    if pending:
        packets.acknowledged(since, pending)
    begin = float(samples["time_s"][0]) if samples.height else float(rows["time_s"][0])
    table = packets.table(begin)
    end = max(float(rows["time_s"][-1]), float(samples["time_s"][-1]) if samples.height else 0.0)
    more = {"rtt": table.rtt}
    if logged:
        more |= {
            "window": _column(samples, "window_bytes", begin),
            "pacing_bps": _column(samples, "pacing_bps", begin),
            "in_flight": _column(samples, "in_flight_bytes", begin),
        }
    return View(
        name=name,
        vantage="sender",
        source="a trace of Thalweg",
        duration_s=end - begin,
        sent_s=table.sent_s,
        sent_bytes=table.sizes,
        acked_s=table.acked_s,
        acked_by=table.acked_by,
        lost_s=table.lost_s,
        handshake_s=float(table.sent_s[0]) if table.sent_s.size else math.nan,
        limits=limits_of(samples, begin) if logged else (),
        **more,  # type: ignore[arg-type]
    )


def limits_of(samples: pl.DataFrame, begin: float) -> tuple[tuple[float, str], ...]:
    """What limited a flow from each time on."""
    if "limited" not in samples.columns:
        return ()
    rows = samples.select("time_s", pl.col("limited").cast(pl.String)).drop_nulls()
    changed = rows.filter((pl.col("limited") != pl.col("limited").shift()).fill_null(True))
    return tuple((float(time) - begin, str(by)) for time, by in changed.iter_rows() if by)


def _column(samples: pl.DataFrame, name: str, begin: float) -> Steps:
    if name not in samples.columns:
        return NONE
    rows = samples.select("time_s", pl.col(name).cast(pl.Float64)).drop_nulls()
    rows = rows.filter(pl.col(name).is_finite())
    return steps((rows["time_s"].to_numpy() - begin).tolist(), np.asarray(rows[name]).tolist())
