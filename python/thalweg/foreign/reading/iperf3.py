"""JSON of iperf3 (`-J`): the intervals of each stream, with what the kernel says about a sender."""

from __future__ import annotations

import json
from typing import Any

from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.qlog_log import number
from thalweg.foreign.reading.view import View, steps

_LEAST_S = 1e-6
"""An interval is longer."""
_LACKS = ("single packets: it has intervals",)


def is_iperf3(data: bytes) -> bool:
    """Whether a file looks like one."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"{") and b'"start"' in head and (b'"iperf' in head or b'"connected"' in head)


def views(data: bytes) -> list[View]:
    """A view for each stream. Raises DamageError."""
    try:
        document = json.loads(data)
    except json.JSONDecodeError as error:
        raise DamageError(
            f"it is not JSON: {error.msg}", f"line {error.lineno}, column {error.colno}", "iperf3 -J"
        ) from None
    except ValueError as error:
        raise DamageError(f"it is not JSON ({str(error)[:120]})", "", "iperf3 -J") from None
    intervals = document.get("intervals")
    if isinstance(document.get("error"), str) and not intervals:
        raise DamageError(f"iperf3 failed: {document['error'][:120]}")
    rows: dict[str, list[dict[str, Any]]] = {}
    for interval in intervals if isinstance(intervals, list) else ():
        streams = interval.get("streams") if isinstance(interval, dict) else None
        for one in streams if isinstance(streams, list) else ():
            if isinstance(one, dict) and number(one.get("seconds")) > _LEAST_S and number(one.get("bytes")) >= 0:
                rows.setdefault(str(one.get("socket"))[:20], []).append(one)
    if not rows:
        raise DamageError("it has no interval of a stream", "", "iperf3 -J")
    return [_view(name, found) for name, found in rows.items()]


def _view(name: str, rows: list[dict[str, Any]]) -> View:
    is_sender = any("snd_cwnd" in row or row.get("sender") is True for row in rows)
    begins = [max(0.0, number(row.get("start"))) for row in rows]
    ends = [begin + number(row["seconds"]) for begin, row in zip(begins, rows, strict=True)]
    said = {"bytes": sum(number(row["bytes"]) for row in rows)}
    if any("retransmits" in row for row in rows):
        said["retransmissions"] = sum(
            max(0.0, number(row.get("retransmits"))) for row in rows if "retransmits" in row
        )
    if any("lost_packets" in row for row in rows):
        said["lost"] = sum(max(0.0, number(row.get("lost_packets"))) for row in rows if "lost_packets" in row)
        said["packets"] = sum(max(0.0, number(row.get("packets"))) for row in rows if "packets" in row)
    sampled = [(end, row) for end, row in zip(ends, rows, strict=True) if number(row.get("rtt")) > 0]
    windows = [(end, row) for end, row in zip(ends, rows, strict=True) if number(row.get("snd_cwnd")) > 0]
    return View(
        name=name,
        vantage="sender" if is_sender else "receiver",
        source="iperf3",
        protocol="UDP" if "packets" in said else "TCP",
        duration_s=max(ends),
        rtt=steps([end for end, _ in sampled], [number(row["rtt"]) / 1e6 for _, row in sampled]),
        window=steps([end for end, _ in windows], [number(row["snd_cwnd"]) for _, row in windows]),
        rates_bps=steps(begins, [8 * number(row["bytes"]) / number(row["seconds"]) for row in rows]),
        said=said,
        missing=_LACKS,
    )
