"""Files of irtt become series and traces of jitter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.probe.analysis import analyze
from thalweg.probe.series import read_series

Capture = pytest.CaptureFixture[str]
EPOCH = 1_700_000_000_000_000_000
MS = 1_000_000


def trip(number: int, up_ms: float = 10.0, down_ms: float = 20.0, **changed: Any) -> dict[str, Any]:
    """A round trip as irtt writes it: sent every 20 ms, 50 us at the server, whose clock is 7 s ahead."""
    sent = number * 20 * MS
    arrived = sent + round(up_ms * MS)
    returned = arrived + 50_000
    received = returned + round(down_ms * MS)

    def both(time: int, ahead: int = 0) -> dict[str, int]:
        return {"wall": EPOCH + ahead + time, "monotonic": 1 + ahead + time}

    ahead = 7_000 * MS
    stamps: dict[str, Any] = {
        "client": {"receive": both(received), "send": both(sent)},
        "server": {"receive": both(arrived, ahead), "send": both(returned, ahead)},
    }
    return {"seqno": number, "lost": "false", "timestamps": stamps | changed, "delay": {}, "ipdv": {}}


def lost(number: int) -> dict[str, Any]:
    """One whose reply did not come back: irtt writes zeros."""
    none = {"wall": 0, "monotonic": 0}
    sent = trip(number)["timestamps"]["client"]["send"]
    stamps = {"client": {"receive": none, "send": sent}, "server": {"receive": none, "send": none}}
    return {"seqno": number, "lost": "true", "timestamps": stamps}


def written(file: Path, trips: list[Any]) -> Path:
    """A file as `irtt client -o` writes it."""
    data = json.dumps({"version": {}, "config": {}, "stats": {}, "round_trips": trips}).encode()
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def test_round_trips_of_irtt_are_a_series_to_the_nanosecond(tmp_path: Path) -> None:
    # irtt compresses by default. Its order does not matter, the sequence number does.
    file = written(tmp_path / "far.json.gz", [trip(2, down_ms=25.000001), trip(0), lost(1), trip(3, up_ms=11)])
    series = read_series(file)
    assert series.name == "far"
    assert series.answered.tolist() == [True, False, True, True]
    assert series.replies.tolist() == [1, 0, 1, 1]
    assert series.interval_s == pytest.approx(0.02)
    # Without the 50 us of the server: 10 + 20, 10 + 25.000001 and 11 + 20 ms.
    np.testing.assert_allclose(series.rtt[series.answered], [30e-3, 35.000001e-3, 31e-3], rtol=0, atol=1e-12)
    # The least delay is taken to be the same both ways, 15 ms of 30; the rest keeps its direction.
    ways = analyze(series).one_way
    np.testing.assert_allclose(ways.up - ways.up.min(), [0, 0, 1e-3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ways.down - ways.down.min(), [0, 5.000001e-3, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("clock", ["wall", "monotonic"])
def test_either_clock_of_irtt_is_enough_and_one_timestamp_of_the_server_too(clock: str, tmp_path: Path) -> None:
    trips = [trip(number, down_ms=20 + number) for number in range(3)]
    whole = read_series(written(tmp_path / "whole.json", trips))
    for each in trips:
        for action in ("send", "receive"):
            del each["timestamps"]["client"][action]["wall" if clock == "monotonic" else "monotonic"]
        each["timestamps"]["server"]["send"] = {}
    series = read_series(written(tmp_path / "one.json", trips))
    # The 50 us of the server then belong to the way back: a wall clock of 1.7e18 ns loses nothing either.
    np.testing.assert_allclose(series.rtt, whole.rtt + 50e-6, rtol=0, atol=1e-12)


def test_a_measurement_of_irtt_is_replayed_with_its_delays(tmp_path: Path, capsys: Capture) -> None:
    down_ms = [20, 23, 20, 28, 21]
    file = written(tmp_path / "a.json", [trip(number, down_ms=delay) for number, delay in enumerate(down_ms)])
    assert main(["probe", "export", str(file), "-o", str(tmp_path / "a.jitter")]) == 0
    assert capsys.readouterr().out == 'jitter = { model = "trace", file = "a.jitter" }\n'
    delays = [int(line.split()[1]) for line in (tmp_path / "a.jitter").read_text().splitlines()]
    # Above the least of 20 ms; the last line closes the period with the first delay.
    assert delays == [0, 3000, 0, 8000, 1000, 0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "this is not JSON"),
        ("{" * 100_000, "this is not JSON"),
        ('{"a":' * 100_000, "this is not JSON"),
        ("{}", "there is no list round_trips"),
        ('{"round_trips": [7]}', "round_trips[0]: expected an object with the whole number seqno"),
        ('{"round_trips": [{"seqno": 1.5}]}', "round_trips[0]: expected an object with the whole number seqno"),
        (
            '{"round_trips": [{"seqno": 0}]}',
            "round_trips[0].timestamps: expected an object with",
        ),
        (
            '{"round_trips": [{"seqno": 0, "timestamps": {"client": {"send": {"wall": "x"}}}}]}',
            "client.send.wall = x: expected whole nanoseconds",
        ),
        (
            '{"round_trips": [{"seqno": 0, "timestamps": {"client": 5}}]}',
            "client = 5: expected an object",
        ),
        (
            '{"round_trips": [{"seqno": 0, "timestamps": {"client": {"send": {"wall": 1e400}}}}]}',
            "client.send.wall = inf: expected whole nanoseconds",
        ),
        (json.dumps({"round_trips": [trip(0), trip(0)]}), "round_trips[1]: seqno 0 appears twice"),
        (
            json.dumps({"round_trips": [trip(0), lost(1) | {"timestamps": {}}]}),
            "times of the client by the same",
        ),
        (json.dumps({"round_trips": [trip(0, server={})]}), "run `irtt client` with --tstamp=both"),
        (json.dumps({"round_trips": [lost(0)]}), "no request was answered"),
        (json.dumps({"round_trips": []}), "no request was answered"),
    ],
)
def test_a_file_that_irtt_has_not_written_is_refused(
    text: str, says: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    assert main(["probe", "analyze", str(file)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {file}")
    assert says in said.err
    assert len(said.err.splitlines()) == 1
