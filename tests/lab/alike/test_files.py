"""Files that the page opens, under Node: a series of the probe as Python reads it, and logs of other stacks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.alike.conftest import HERE, Ask
from thalweg.probe.jitter_trace import Direction, jitter_trace
from thalweg.probe.series import read_series, write_series

SHIPPED = HERE.parents[2] / "docs/how-to/probe"
QLOG, TRACES = "field/qlog.ts", "field/traces.ts"


@pytest.mark.parametrize("name", ["far", "good", "near-to-far"])
def test_a_series_of_the_probe_says_the_same_as_in_python(ask: Ask, name: str) -> None:
    file = SHIPPED / f"{name}.csv.gz"
    text = gzip.decompress(file.read_bytes()).decode()
    assert text.startswith("#"), "files of the probe begin with a remark"
    series = read_series(file)
    [field] = ask(TRACES, [["readSeries", text, file.name]])
    sent, lost = len(series.sent), int((~series.answered).sum())
    assert field["about"] == f"a probe of {sent} packets in {series.duration_s:.1f} s, {lost} without an answer"
    assert field["facts"]["rttS"] == pytest.approx(series.rtt[series.answered].min(), abs=1e-9)
    (drawn,) = field["picture"]["panels"][0]["lines"]
    assert drawn["values"] == pytest.approx(series.rtt[series.answered].tolist(), abs=1e-9)
    lab = np.array(field["facts"]["jitter"].removeprefix("us: ").split(), np.int64).reshape(-1, 2)
    ours = np.array(jitter_trace(series, Direction.HALF).split(), np.int64).reshape(-1, 2)
    assert np.abs(lab[:-1] - ours[:-1]).max() <= 1  # a half of a microsecond is rounded


def test_remarks_of_any_number_stand_anywhere_and_messages_count_their_lines(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    write_series(read_series(SHIPPED / "far.csv.gz"), file, remark="one\ntwo, with a comma\n\nfour")
    lines = file.read_text().splitlines()
    assert [line[:1] for line in lines[:5]] == ["#", "#", "#", "#", "n"]
    mixed = "\n".join([*lines[:9], "# in between", "", *lines[9:]]) + "\n"
    whole, again = ask(TRACES, [["readSeries", text, "x.csv"] for text in (file.read_text(), mixed)])
    assert whole["facts"] == again["facts"]
    lines[8] = "8,oops,,,,,"
    for text, said in (
        ("\n".join(lines), 'line 9: "8,oops'),
        ("# only\n# remarks\n", 'line 1: ""; accepted: a series'),
    ):
        with pytest.raises(AssertionError, match="accepted") as found:
            ask(TRACES, [["readSeries", text, "x.csv"]])
        assert said in str(found.value)


def test_a_file_that_opens_takes_the_message_of_the_one_before_away(ask: Ask) -> None:
    series = gzip.decompress((SHIPPED / "far.csv.gz").read_bytes()).decode()
    files = [["a.pcap", ""], ["far.csv", series], ["b.qlog", "{}"], ["c.jitter", "0 1\n5000 2\n"], ["d.xyz", ""]]
    first, *messages = ask("../../tests/lab/alike/opened.ts", [["opened", files]])[0]
    assert first.startswith("a.pcap: the lab cannot read it; accepted: a controller")
    assert [message and message.split(":")[0] for message in messages] == [None, "b.qlog", None, "d.xyz"]


def trace(end: str, rows: list[list[Any]], **more: Any) -> dict[str, Any]:
    """One trace as picoquic writes it: rows, in microseconds."""
    return {
        "vantage_point": {"name": "backend", "type": end},
        "event_fields": ["relative_time", "category", "event", "data"],
        "configuration": {"time_units": "us"},
        "events": rows,
        **more,
    }


def metrics(count: int) -> list[list[Any]]:
    """Samples 50 ms apart, with an RTT of 46 ms and more."""
    return [
        [50_000 * number, "recovery", "metrics_updated", {"cwnd": 15_000 + number, "latest_rtt": 46_000 + number}]
        for number in range(count)
    ]


def qlog(*traces: dict[str, Any]) -> str:
    return json.dumps({"qlog_version": "draft-00", "traces": [*traces]})


def test_microseconds_are_the_unit_of_round_trip_times_too(ask: Ask) -> None:
    text = qlog(trace("server", metrics(11), description="01020304"))
    milliseconds = text.replace('"us"', '"ms"')
    short, long = ask(QLOG, [["readQlog", one, "x.qlog"] for one in (text, milliseconds)])
    assert short["facts"]["rttS"] == pytest.approx(0.046)
    assert short["picture"]["end"] == pytest.approx(0.5)
    rtts = next(panel for panel in short["picture"]["panels"] if panel["id"] == "rtt")["lines"][0]
    assert rtts["values"] == pytest.approx([0.046 + 1e-6 * number for number in range(11)])
    assert long["facts"]["rttS"] == pytest.approx(46.0)
    assert long["picture"]["end"] == pytest.approx(500)


@pytest.mark.parametrize(
    ("traces", "said"),
    [
        ([("server", {})], "qlog of 5 events, seen"),
        # Both ends of one connection, by its ID, or the only log of each.
        ([("client", {"description": "0102aabb"}), ("server", {"description": "0102aabb"})],
         "5 events, the longest of 2 vantage points (client), seen"),
        ([("client", {"common_fields": {"ODCID": "7"}}), ("server", {"common_fields": {"ODCID": "7"}})],
         "5 events, the longest of 2 vantage points (client), seen"),
        ([("client", {"common_fields": {"group_id": "g"}}), ("server", {"common_fields": {"group_id": "g"}}),
          ("network", {"common_fields": {"group_id": "g"}})],
         "5 events, the longest of 3 vantage points (client), seen"),
        ([("client", {}), ("server", {})], "5 events, the longest of 2 vantage points (client), seen"),
        ([("client", {"description": "a test"}), ("server", {"description": "the same test"})],
         "5 events, the longest of 2 vantage points (client), seen"),
        # Several connections, each seen from one end or from both.
        ([("client", {}), ("client", {})], "5 events, the longest of 2 connections, seen"),
        ([("server", {"description": "01020304"}), ("server", {"description": "05060708"})],
         "5 events, the longest of 2 connections (01020304), seen"),
        ([("client", {"common_fields": {"ODCID": "7"}}), ("server", {"common_fields": {"ODCID": "8"}})],
         "5 events, the longest of 2 connections (7), seen"),
        ([("client", {}), ("server", {}), ("client", {}), ("server", {})],
         "5 events, the longest of 2 connections, the longest of 2 vantage points (client), seen"),
    ],
)  # fmt: skip
def test_logs_of_both_ends_of_a_connection_are_one_connection(
    ask: Ask, traces: list[tuple[str, dict[str, Any]]], said: str
) -> None:
    # The first is the longest.
    logs = [trace(end, metrics(5 - min(place, 1)), **more) for place, (end, more) in enumerate(traces)]
    [field] = ask(QLOG, [["readQlog", qlog(*logs), "x.qlog"]])
    assert said in field["about"]


def test_events_of_both_ends_that_name_one_group_are_not_mixed(ask: Ask) -> None:
    def log(end: str, size: int) -> dict[str, Any]:
        events = [
            {"time": number, "group_id": "c1", "name": "transport:packet_sent",
             "data": {"header": {"packet_number": number}, "raw": {"length": size}}}
            for number in range(10)
        ]  # fmt: skip
        return {"vantage_point": {"type": end}, "events": events[: 10 if end == "server" else 9]}

    [field] = ask(QLOG, [["readQlog", qlog(log("client", 40), log("server", 1000)), "x.qlog"]])
    assert field["about"].startswith("qlog of 10 events, the longest of 2 vantage points (server)")
    assert field["facts"]["transfer"] == 10_000
