"""What a probe measured, and the files that hold it.

Our file is CSV, or CSV in gzip if its name ends in `.gz`: times in whole nanoseconds, nothing where there is
none. Lines that begin with `#` say where it comes from.

```
number,sent_ns,arrived_ns,returned_ns,received_ns,replies,counted
0,0,0,21000,1034000,1,1
1,20000000,,,,0,
```

The file of octoping (June 2023) is read as well: `number, sent, received, echo, rtt, up_t, down_t, phase` in
microseconds. Its column `echo` is zero and `down_t` holds the time of the echo instead; a row of zeros but
for number and time of sending is a loss. So is the JSON of irtt (`importers/irtt.py`).
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from thalweg.base.errors import RequestError
from thalweg.base.files.gzipped import unpacked
from thalweg.base.files.regular_file import read_regular
from thalweg.base.files.whole_file import whole_file

READ = (
    "a CSV file of `thalweg probe run` or of octoping, or JSON of `irtt client -o`; "
    "`thalweg probe export` also reads bandwidth models of netem-trace"
)
"""The forms of files that messages name."""
_SHOWN = 60
"""Most characters of a line in a message."""
if TYPE_CHECKING:
    import numpy.typing as npt


Floats: TypeAlias = "npt.NDArray[np.floating[Any]]"
Counts: TypeAlias = "npt.NDArray[np.int64]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"

_COLUMNS = ["number", "sent_ns", "arrived_ns", "returned_ns", "received_ns", "replies", "counted"]
_OCTOPING = ["number", "sent", "received", "echo", "rtt", "up_t", "down_t", "phase"]
_LARGEST = 1 << 28
"""Largest file of a probe."""
_BEYOND = 2.0**63
"""Numbers of a file are whole numbers of 64 bits."""


@dataclass(frozen=True)
class Series:
    """One entry per request, in the order of sending. Times in seconds; nan for what did not come back."""

    name: str
    sent: Floats
    """When the client sent the request, by its clock, from the first request on."""
    arrived: Floats
    """When it arrived at the server, by the server's clock, from any origin."""
    returned: Floats
    """When the server sent the reply."""
    received: Floats
    """When the reply arrived at the client, by its clock."""
    replies: Counts
    """Replies to the request: more than one if the network made copies."""
    counted: Counts
    """Requests that the server had seen when it replied; 0 if that is not known."""

    @property
    def answered(self) -> Mask:
        """Which requests got a reply."""
        return np.isfinite(self.received)

    @property
    def rtt(self) -> Floats:
        """Round-trip times, without the time that the server took."""
        rtt: Floats = (self.received - self.sent) - (self.returned - self.arrived)
        return rtt

    @property
    def interval_s(self) -> float:
        """The interval: the median time between two requests; NaN for fewer than two."""
        return float(np.median(np.diff(self.sent))) if len(self.sent) > 1 else float("nan")

    @property
    def duration_s(self) -> float:
        """From the first request to the last."""
        return float(self.sent[-1] - self.sent[0]) if len(self.sent) else 0.0

    def renamed(self, name: str) -> Series:
        """The same under another name."""
        return replace(self, name=name)


def write_series(series: Series, file: Path, remark: str = "") -> None:
    """Writes a file, all or nothing. Raises RequestError."""
    text = io.StringIO()
    for line in remark.splitlines():
        text.write(f"# {line}\n")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    times = [_nanos(column) for column in (series.sent, series.arrived, series.returned, series.received)]
    counted = ["" if count == 0 else str(count) for count in series.counted]
    table.writerows(zip(range(len(series.sent)), *times, series.replies.tolist(), counted, strict=True))
    data = text.getvalue().encode()
    if file.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    with whole_file(file) as partial:
        partial.write_bytes(data)


def _nanos(times: Floats) -> list[str]:
    return ["" if np.isnan(time) else str(round(time * 1e9)) for time in times.tolist()]


def read_series(file: Path) -> Series:
    """Reads a file of ours, of octoping or of irtt. Raises RequestError."""
    from thalweg.probe.importers.irtt import irtt_series, is_json  # noqa: PLC0415 - which makes a Series

    text = measured_text(file)
    name = file.name.removesuffix(".gz").removesuffix(".csv").removesuffix(".json")
    series = irtt_series(name, file, text) if is_json(text) else _table(name, file, text)
    if (series.received < series.sent).any():
        raise RequestError(f"{file}: a reply was received before its request was sent")
    if not series.answered.any():
        raise RequestError(f"{file}: no request was answered; there is nothing to analyze")
    return series


def _table(name: str, file: Path, text: str) -> Series:
    try:
        rows = list(csv.reader(io.StringIO(text), skipinitialspace=True))
    except csv.Error as error:
        raise RequestError(f"{file}: this is not a CSV file: {error}") from None
    lines = [(at, [cell.strip() for cell in row]) for at, row in enumerate(rows, start=1)]
    lines = [(at, row) for at, row in lines if any(row) and not row[0].startswith("#")]
    if not lines:
        raise RequestError(f"{file}: nothing was measured; accepted: {READ}")
    at, header = lines[0]
    header = [name for name in header if name]
    if header not in (_COLUMNS, _OCTOPING):
        raise RequestError(
            f"{file}:{at}: these are not the columns of a probe, {','.join(_COLUMNS)}, "
            f"or of octoping, {','.join(_OCTOPING)}; accepted: {READ}"
        )
    table = np.array([_numbers(file, at, row, len(header)) for at, row in lines[1:]]).reshape(-1, len(header))
    return _own(name, table) if header == _COLUMNS else _octoping(name, table)


def measured_text(file: Path) -> str:
    """The text of a file that somebody measured, unpacked. Raises RequestError."""
    try:
        data = read_regular(file, _LARGEST, f"a measurement of at most {_LARGEST >> 20} MiB")
        return unpacked(data, _LARGEST).decode()
    except UnicodeDecodeError:
        raise RequestError(f"cannot read {file}: it is not a text") from None
    except ValueError as error:
        raise RequestError(f"cannot read {file}: {error}") from None


def _shown(row: list[str]) -> str:
    """A line of a file, or as much of it as a message has room for."""
    line = ",".join(row)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _numbers(file: Path, at: int, row: list[str], width: int) -> list[float]:
    cells = row[:-1] if len(row) == width + 1 and not row[-1] else row  # octoping ends its lines with a comma
    try:
        if len(cells) != width:
            raise ValueError
        numbers = [float(cell) if cell else float("nan") for cell in cells]
        if not np.isfinite(numbers[:2]).all() or (np.abs(numbers) >= _BEYOND).any():
            raise ValueError
    except ValueError:
        raise RequestError(
            f"{file}:{at}: {_shown(row)!r}: expected {width} numbers, at least the first two"
        ) from None
    return numbers


def _own(name: str, table: Floats) -> Series:
    table = table[np.argsort(table[:, 0], kind="stable")]
    times = table[:, 1:5] * 1e-9
    times[np.isnan(times).any(axis=1), 1:] = np.nan
    counts = np.nan_to_num(table[:, 5:7]).astype(np.int64)
    return Series(name, times[:, 0], times[:, 1], times[:, 2], times[:, 3], counts[:, 0], counts[:, 1])


def _octoping(name: str, table: Floats) -> Series:
    """One row per reply or loss; a number that comes again is a copy, and its first reply counts."""
    number, sent, arrived, echo, rtt, _, down, _ = np.nan_to_num(table).T
    echo = np.where((echo == 0) & (down > sent), down, echo)
    lost = rtt == 0
    order = np.lexsort((echo, lost, number))
    first = order[np.concatenate([[True], np.diff(number[order]) > 0])] if len(order) else order
    replies = np.array([int(np.sum((number == n) & ~lost)) for n in number[first]], np.int64)
    gone = lost[first]
    at_server = np.where(gone, np.nan, arrived[first]) * 1e-6
    at_client = np.where(gone, np.nan, echo[first]) * 1e-6
    unknown = np.zeros(len(first), np.int64)
    return Series(name, sent[first] * 1e-6, at_server, at_server.copy(), at_client, replies, unknown)
