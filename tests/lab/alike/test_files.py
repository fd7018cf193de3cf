"""Files that the page opens, under Node: a series of the probe as Python reads it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from lab.alike.conftest import HERE, Ask
from thalweg.probe.jitter_trace import Direction, jitter_trace
from thalweg.probe.series import read_series, write_series

SHIPPED = HERE.parents[2] / "docs/how-to/probe"
TRACES = "field/traces.ts"


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
    files = [["a.pcap", ""], ["far.csv", series], ["b.json", "{}"], ["c.jitter", "0 1\n5000 2\n"], ["d.xyz", ""]]
    first, *messages = ask("../../tests/lab/alike/opened.ts", [["opened", files]])[0]
    assert first.startswith("a.pcap: thalweg explain reads it")
    assert [message and message.split(":")[0] for message in messages] == [None, "b.json", None, "d.xyz"]
