"""Which reader a file takes: by its content, as its name may be anything."""

from __future__ import annotations

from pathlib import Path

from thalweg.base.errors import RequestError, did_you_mean, printable
from thalweg.base.files.gzipped import unpacked
from thalweg.base.files.regular_file import read_regular
from thalweg.foreign.reading import capture, iperf3, own, qlog
from thalweg.foreign.reading.damage import DamageError
from thalweg.foreign.reading.sound import sound
from thalweg.foreign.reading.view import View, unread

ACCEPTED = (
    "qlog (JSON or a JSON text sequence), pcap, pcapng, JSON of iperf3, a trace of ours; each may be gzipped"
)
_MOST_BYTES = 512 << 20
"""Size of a file, packed or not."""


def read(file: str | Path) -> list[View]:
    """All connections and ends in a file, those with the most bytes first, and what cannot be read of it last.

    Raises RequestError if none can be read.
    """
    path = Path(file)
    shown = printable(str(path))
    data = read_regular(path, _MOST_BYTES, ACCEPTED)
    try:
        views = [_sound(view) for view in _views(_unpacked(data))]
    except DamageError as damage:
        raise RequestError(f"{shown}: {printable(str(damage))}") from None
    except RecursionError:
        raise RequestError(f"{shown}: it is nested too deeply; accepted: {ACCEPTED}") from None
    if not views:
        raise RequestError(f"{shown}: it has no connection with packets; accepted: {ACCEPTED}")
    if all(view.damage for view in views):
        raise RequestError(f"{shown}: {views[0].damage}")
    return sorted(views, key=lambda view: (bool(view.damage), -view.bytes))


def _sound(view: View) -> View:
    try:
        return sound(view)
    except DamageError as damage:
        return unread(printable(view.name), printable(view.source), damage)


def choose(views: list[View], flow: str | None) -> View:
    """The connection that was asked for, or the one with the most bytes. Raises RequestError."""
    if flow is None:
        return views[0]
    found = [view for view in views if view.name == flow]
    if not found:
        raise RequestError(
            f"--flow {flow!r}: the file has no such connection{did_you_mean(flow, [view.name for view in views])}"
        )
    if found[0].damage:
        raise RequestError(f"--flow {flow!r}: {found[0].damage}")
    return found[0]


def _views(data: bytes) -> list[View]:
    if not data.strip():
        raise DamageError("it is empty", "", ACCEPTED)
    if capture.is_capture(data):
        return capture.views(data)
    if own.is_own(data):
        return own.views(data)
    if iperf3.is_iperf3(data):
        return iperf3.views(data)
    if qlog.is_qlog(data):
        return qlog.views(data)
    raise DamageError("its format is not supported", "", ACCEPTED)


def _unpacked(data: bytes) -> bytes:
    try:
        return unpacked(data, _MOST_BYTES)
    except ValueError as error:
        raise DamageError(str(error)) from None
