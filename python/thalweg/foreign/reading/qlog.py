"""qlog, draft-00 to the newest: one JSON document, a JSON text sequence (RFC 7464), or a document on each line.

Rows of `event_fields` (draft-00 to -02), objects (0.3 and later), `time_units` of ms or us for times and RTTs
alike, times that are relative, absolute or differences, numbers that are written as texts (mvfst), and the
lines of lsquic, which logs what it receives.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.qlog_log import Log, number
from thalweg.foreign.reading.view import View

Json: TypeAlias = Any

ACCEPTED = "qlog: JSON with `traces`, or a JSON text sequence with a header"
_SEPARATOR = b"\x1e"
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_HEADER = ("qlog_version", "qlog_format", "file_schema", "serialization_format")
_LSQUIC = re.compile(rb"\[(\d{1,18}),\"([A-Z_]{1,40})\",\"([A-Z_]{1,40})\",\"[A-Z_]{1,40}\",(\{.*\})\]\s*$")
_MOST_LOGS = 10_000
"""Connections that one file may have."""


def is_qlog(data: bytes) -> bool:
    """Whether a file looks like one."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith((_SEPARATOR, b"{", b"[")) or any(map(_LSQUIC.search, data[:65536].splitlines()))


def views(data: bytes) -> list[View]:
    """The connections and ends in it. Raises DamageError."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if data.lstrip().startswith(_SEPARATOR):
        logs = _of_sequence(_separated(data, _SEPARATOR))
    elif not data.lstrip().startswith((b"{", b"[")):
        logs = _of_lsquic(data)
    elif _has_lines(data):
        logs = _of_sequence(_separated(data, b"\n"))
    else:
        logs = _of_document(data)
    found = [log.view() for log in logs if log.has_packets]
    if not found:
        seen = sorted({name for log in logs for name in log.unread})[:6]
        named = f", only {', '.join(seen)}" if seen else ""
        raise DamageError(
            f"it has no event of packets or metrics{named}",
            "",
            "packet_sent, packet_received, packet_lost or metrics_updated",
        )
    return _named(found)


def _named(found: list[View]) -> list[View]:
    """Names that tell connections and ends apart."""
    names: dict[str, int] = {}
    told = []
    shared = Counter(view.name for view in found)
    for view in found:
        name = f"{view.name}/{view.end}" if shared[view.name] > 1 and view.end else view.name
        names[name] = names.get(name, 0) + 1
        told.append(replace(view, name=name if names[name] == 1 else f"{name}/{names[name]}"))
    return told


def _separated(data: bytes, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a sequence, each with its line."""
    begin, line = 0, 1
    while begin < len(data):
        end = data.find(mark, begin)
        end = len(data) if end < 0 else end
        record = data[begin:end]
        if record.strip():
            yield line, record
        line += data.count(b"\n", begin, end + 1)
        begin = end + 1


def _has_lines(data: bytes) -> bool:
    """Whether each line is a document, the first of which is a header."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip():
        return False
    try:
        header = json.loads(first)
    except ValueError:
        return False
    return isinstance(header, dict) and "traces" not in header and any(key in header for key in _HEADER)


def _of_sequence(records: Iterator[tuple[int, bytes]]) -> list[Log]:
    """Logs of a sequence; each header in it begins a trace, as where files were joined."""
    traces: list[_Trace] = []
    shared = _Shared()
    cut: tuple[int, str] | None = None
    for line, record in records:
        if cut:
            raise DamageError(f"a record is not JSON ({cut[1]})", f"line {cut[0]}", ACCEPTED)
        try:
            value = json.loads(record)
        except ValueError as error:
            # RFC 7464 section 2.3: the last record may have been cut off.
            cut = (line, str(error)[:120])
            continue
        if isinstance(value, dict) and any(key in value for key in _HEADER):
            if len(traces) >= _MOST_LOGS:
                raise DamageError(f"it has more than {_MOST_LOGS} headers")
            traces.append(_Trace(_inner(value, "trace"), value, shared))
        elif not traces:
            raise DamageError("the first record is not a header of qlog", f"line {line}", ACCEPTED)
        else:
            traces[-1].take(value)
    if not traces:
        what = f"no record is whole ({cut[1]})" if cut else "it has no record"
        raise DamageError(what, f"line {cut[0]}" if cut else "", ACCEPTED)
    if cut:
        for log in traces[-1].logs.values():
            log.missing.append("what comes after its last record, which is cut off")
    return [log for trace in traces for log in trace.logs.values()]


def _of_document(data: bytes) -> list[Log]:
    try:
        document = json.loads(data)
    except UnicodeDecodeError as error:
        raise DamageError("it is not UTF-8", f"byte {error.start}", ACCEPTED) from None
    except json.JSONDecodeError as error:
        what = "it is cut off" if error.pos >= len(error.doc.rstrip()) - 1 else f"it is not JSON: {error.msg}"
        raise DamageError(what, f"line {error.lineno}, column {error.colno}", ACCEPTED) from None
    except ValueError as error:
        raise DamageError(f"it is not JSON ({str(error)[:120]})", "", ACCEPTED) from None
    traces = document.get("traces") if isinstance(document, dict) else None
    if not isinstance(traces, list):
        raise DamageError("it has no list of `traces`", "", ACCEPTED)
    read: list[_Trace] = []
    shared = _Shared()
    for table in traces:
        events = table.get("events") if isinstance(table, dict) else None
        if not isinstance(events, list):
            continue
        trace = _Trace(table, document, shared)
        read.append(trace)
        for event in events:
            trace.take(event)
        events.clear()
    return [log for trace in read for log in trace.logs.values()]


def _of_lsquic(data: bytes) -> list[Log]:
    trace = _Trace({"configuration": {"time_units": "us"}, "vantage_point": {"name": "lsquic"}}, {}, _Shared())
    for line in data.splitlines():
        found = _LSQUIC.search(line)
        if found is None:
            continue
        try:
            table = json.loads(found[4])
        except ValueError:
            continue
        name = f"{found[2].decode().lower()}:{found[3].decode().lower()}"
        trace.take({"time": int(found[1]), "name": name, "data": table})
    return list(trace.logs.values())


@dataclass
class _Shared:
    """What the traces of a file count together."""

    unnamed: Counter[str] = field(default_factory=Counter)
    logs: int = 0


class _Trace:
    """A trace of a file: its times, whichever of the formats they have, and the logs in it."""

    def __init__(self, table: dict[str, Json], document: dict[str, Json], shared: _Shared) -> None:
        self._shared = shared
        common = _inner(table, "common_fields")
        configuration = {**_inner(document, "configuration"), **_inner(table, "configuration")}
        kind = str(common.get("time_format", configuration.get("time_format", "")))
        self._is_delta = kind in ("delta", "relative_to_previous_event")
        self._unit = _UNITS.get(str(configuration.get("time_units", "ms")), 1e-3)
        fields = table.get("event_fields")
        self._fields = [str(name).lower() for name in fields] if isinstance(fields, list) else None
        self._last = 0.0
        point = _inner(table, "vantage_point")
        kinds = [str(point.get(key, "")).lower() for key in ("type", "name")]
        self.end = next((kind for kind in kinds if kind in ("client", "server")), kinds[0][:40])
        identity = str(table.get("description", ""))
        is_identity = re.fullmatch(r"([0-9a-fA-F]{2}){1,20}", identity) is not None
        names = [common.get("group_id"), common.get("ODCID"), common.get("dcid"), identity if is_identity else ""]
        self.name = next((str(name)[:80] for name in names if name not in (None, "")), "")
        # Without names, the first log of a client and the first of a server are of one connection.
        if not self.name:
            shared.unnamed[self.end] += 1
            self.name = str(shared.unnamed[self.end])
        version = str(document.get("qlog_version", "")) or str(document.get("file_schema", "")).rpartition(":")[2]
        self.source = f"qlog {version}".strip()[:60]
        self.logs: dict[str, Log] = {}

    def take(self, value: Json) -> None:
        """Takes one event, of any form."""
        if isinstance(value, list):
            value = self._row(value)
        if not isinstance(value, dict):
            return
        time = number(value.get("time", value.get("relative_time")))
        if time != time:  # noqa: PLR0124 - NaN
            return
        self._last = self._last + time if self._is_delta else time
        group = value.get("group_id")
        name = self.name if group is None or isinstance(group, dict | list) else str(group)[:80]
        log = self.logs.get(name)
        if log is None:
            self._shared.logs += 1
            if self._shared.logs > _MOST_LOGS:
                raise DamageError(f"it has more than {_MOST_LOGS} connections")
            log = self.logs[name] = Log(name, self.end, self.source, self._unit)
        event = str(value.get("name", value.get("type", "")))
        data = value.get("data")
        log.take(self._last * self._unit, event, data if isinstance(data, dict) else {})

    def _row(self, row: list[Json]) -> dict[str, Json]:
        """An event of a draft with `event_fields`; without them, the usual ones."""
        fields = self._fields or ["relative_time", "category", "event", "trigger", "data"][-len(row) :]
        named = dict(zip(fields, row, strict=False))
        category, event = (named.get(key, "") for key in ("category", "event"))
        event = event or named.get("event_type", named.get("type", ""))
        time = next((named[key] for key in ("relative_time", "delta_time", "time") if key in named), None)
        if "delta_time" in named:
            self._is_delta = True
        # Writers leave a trigger out of the fields or of the rows.
        data = named.get("data")
        if not isinstance(data, dict):
            data = next((part for part in reversed(row) if isinstance(part, dict)), {})
        return {"time": time, "name": f"{category}:{event}", "data": data, "group_id": named.get("group_id")}


def _inner(table: Json, key: str) -> dict[str, Json]:
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, dict) else {}
