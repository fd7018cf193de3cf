"""Files of probes, their commands, and their use in a scenario."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.probe.analysis import analyze
from thalweg.probe.mechanism.reference import reference
from thalweg.probe.report.figures import plot_cumulative, plot_histogram, plot_next, plot_series, plot_wifi
from thalweg.probe.series import Series, read_series, write_series
from thalweg.probe.simulated import simulate_probe

Capture = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "docs" / "how-to" / "probe"

OWN = "number,sent_ns,arrived_ns,returned_ns,received_ns,replies,counted\n"
OCTOPING = """\
number, sent, received, echo, rtt, up_t, down_t, phase
0, 100, 5001200, 0, 2100, 1050, 2200, 5000050
1, 20100, 5021300, 0, 2300, 1150, 22400, 5000050
2, 40100, 0, 0, 0, 0, 0, 0
3, 60100, 5061100, 0, 2000, 950, 62100, 5000050
3, 60100, 5061100, 0, 2900, 950, 63000, 5000050
"""


def test_the_file_of_octoping_is_read_with_its_echo_in_the_wrong_column(tmp_path: Path) -> None:
    file = tmp_path / "near.csv"
    file.write_text(OCTOPING)
    series = read_series(file)
    assert series.name == "near"
    assert series.answered.tolist() == [True, True, False, True]
    assert (series.rtt[series.answered] * 1e6).tolist() == pytest.approx([2100, 2300, 2000])
    assert series.replies.tolist() == [1, 1, 0, 2]
    assert series.interval_s == pytest.approx(0.02)
    # up = received - sent - phase: 1100, 1200 and 1000 us, down 1000, 1100 and 1000 us, and equal least ways.
    ways = analyze(series).one_way
    assert (ways.up * 1e6).tolist() == pytest.approx([1100, 1200, 1000])
    assert (ways.down * 1e6).tolist() == pytest.approx([1000, 1100, 1000])
    assert ways.offset_s == pytest.approx(5.0)


def test_a_mended_octoping_file_has_its_echo_in_its_column(tmp_path: Path) -> None:
    file = tmp_path / "mended.csv"
    header = OCTOPING.splitlines()[0]
    file.write_text(f"{header}\n0, 100, 1200, 2200, 2100, 1100, 1000, 0\n")
    assert read_series(file).rtt[0] == pytest.approx(2.1e-3)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_file_stores_times_to_the_nanosecond(name: str, tmp_path: Path) -> None:
    nan = np.nan
    series = Series(
        "a",
        np.array([0.0, 0.020000001, 0.04]),
        np.array([0.0, nan, 0.041]),
        np.array([0.000021, nan, 0.042]),
        np.array([0.001034567, nan, 0.043]),
        np.array([1, 0, 2]),
        np.array([1, 0, 2]),
    )
    write_series(series, tmp_path / name, "where it comes from\nin two lines")
    again = read_series(tmp_path / name)
    assert again.name == "a"
    for column in ("sent", "arrived", "returned", "received", "replies", "counted"):
        np.testing.assert_allclose(getattr(again, column), getattr(series, column), rtol=0, atol=1e-12)
    write_series(series, tmp_path / f"2{name}")
    first, second = (tmp_path / name).read_bytes(), (tmp_path / f"2{name}").read_bytes()
    assert (first == second) == (b"where" not in first and not name.endswith("gz"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing was measured"),
        ("a,b\n1,2\n", ":1: these are not the columns of a probe"),
        (f"# x\n{OWN}0,1,2\n", ":3: '0,1,2': expected 7 numbers"),
        (f"{OWN}0,x,1,1,1,1,1\n", ":2: '0,x,1,1,1,1,1': expected 7 numbers"),
        (f"{OWN}0,0,,,,0,\n", "no request was answered"),
        (f"{OWN}", "no request was answered"),
        (f"{OWN}{'1' * 200_000},0,0,0,0,1,1\n", "not a CSV file"),
        (f"{OWN}0,0,0,0,1e30,1,1\n", ":2: '0,0,0,0,1e30,1,1': expected 7 numbers"),
        (f"{OWN}0,5,0,0,4,1,1\n", "received before its request was sent"),
        ("\xff\xfe", "these are not the columns"),
    ],
)
def test_a_file_that_is_no_probe_is_refused(text: str, says: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text, encoding="utf-8")
    assert main(["probe", "analyze", str(file)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {file}")
    assert says in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


def test_a_clock_that_jumped_is_refused_and_one_that_is_far_off_is_not(tmp_path: Path, capsys: Capture) -> None:
    minute = 60_000_000_000
    for jump, status in ((0, 0), (2 * minute, 2)):
        far_off = 10**17
        lines = [
            f"{i},{i * 10**7},{far_off + i * jump},{far_off + i * jump},{i * 10**7 + 10**6},1,{i + 1}"
            for i in range(2)
        ]
        file = tmp_path / "x.csv"
        file.write_text(OWN + "\n".join(lines) + "\n", encoding="utf-8")
        for command in (["analyze", str(file)], ["export", str(file), "-o", str(tmp_path / "x.jitter")]):
            assert main(["probe", *command]) == status
            assert ("a clock jumped" in capsys.readouterr().err) == (status == 2)


def test_a_series_of_less_than_a_microsecond_is_no_trace_of_jitter(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "x.csv"
    file.write_text(f"{OWN}0,0,0,0,1000,1,1\n1,1,1,1,1001,1,2\n", encoding="utf-8")
    assert main(["probe", "export", str(file), "-o", str(tmp_path / "x.jitter")]) == 2
    assert "no delay lies within" in capsys.readouterr().err
    assert not (tmp_path / "x.jitter").exists()


def test_files_that_cannot_be_read_are_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "broken.csv.gz").write_bytes(b"\x1f\x8b\x08rest")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    for name in ("broken.csv.gz", "binary.csv", "missing.csv", "."):
        assert main(["probe", "analyze", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.startswith("error: cannot read")


@pytest.mark.soak
def test_a_file_that_unpacks_to_more_than_is_read_is_refused_and_not_cut(tmp_path: Path) -> None:
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"1" * ((256 << 20) + 1), compresslevel=1))
    with pytest.raises(RequestError, match=r"bomb\.csv\.gz: it has more than 256 MiB when it is unpacked$"):
        read_series(file)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mechanisms are compared with a fifth of the draws: for tests that do not ask which one is named."""
    monkeypatch.setattr("thalweg.probe.mechanism.naming.reference", lambda pace: reference(pace, 40))


@pytest.mark.usefixtures("few_draws")
def test_an_analysis_is_a_document_or_tables_and_a_page(tmp_path: Path, capsys: Capture) -> None:
    files = [str(EXAMPLES / f"{name}.csv.gz") for name in ("good", "far")]
    page = tmp_path / "page.html"
    assert main(["probe", "analyze", *files, "--format", "json", "-o", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    probes = told["probes"]
    # The histogram of all is the sum of theirs, and loses no probe.
    pooled, (good, far) = told["pooled_histogram"], [probe["histogram"] for probe in probes]
    both = zip(good["filtered_counts"], far["filtered_counts"], strict=True)
    assert pooled["filtered_counts"] == [first + other for first, other in both]
    assert sum(pooled["counts"]) + pooled["beyond"] == sum(probe["answered"] for probe in probes)
    assert [probe["name"] for probe in probes] == ["good", "far"]
    assert probes[0]["wifi"]["both"]["fraction"] == 0
    assert probes[1]["wifi"]["both"]["fraction"] == pytest.approx(0.02, rel=0.3)
    assert probes[1]["in_order_line"]["found"]
    assert probes[1]["loss"] == pytest.approx(0.01, abs=0.005)
    html = page.read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in html.lower()
    assert "src=" not in html.split("<script>")[0]
    assert html.count("<figure data-figure") == 2 + 2 * 4  # cumulative and pooled; four of each
    assert "good, far, pooled: histogram of RTT" in html
    assert main(["probe", "analyze", *files]) == 0
    tables = capsys.readouterr().out
    assert "srtt + 4 var" in tables
    assert 'model = "two-components"' in tables


@pytest.mark.usefixtures("few_draws")
def test_equal_names_are_distinguished_and_pages_must_be_html(tmp_path: Path, capsys: Capture) -> None:
    file = str(EXAMPLES / "good.csv.gz")
    assert main(["probe", "analyze", file, file, "--format", "json"]) == 0
    names = [probe["name"] for probe in json.loads(capsys.readouterr().out)["probes"]]
    assert names == ["good", "good (2)"]
    assert main(["probe", "analyze", file, "--format", "json"]) == 0
    assert "pooled_histogram" not in json.loads(capsys.readouterr().out)
    assert main(["probe", "analyze", file, "-o", str(tmp_path / "page.txt")]) == 2
    assert "must end in .html" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2, 60])
def test_short_series_have_an_analysis_and_figures_too(count: int) -> None:
    random = np.random.default_rng(count)
    sent = np.arange(count, dtype=np.float64) * 0.02
    arrived = sent + 0.001 + 0.001 * random.random(count)
    received = arrived + 0.001
    ones = np.ones(count, np.int64)
    short = analyze(Series("short", sent, arrived, arrived, received, ones, np.cumsum(ones)))
    json.dumps(short.document(), allow_nan=False)
    for chart in (
        plot_series(short),
        plot_histogram(short),
        plot_next(short),
        plot_wifi(short),
        plot_cumulative([short]),
    ):
        chart.to_dict()


@pytest.mark.soak
def test_the_examples_are_reproduced_from_their_scenarios(tmp_path: Path, capsys: Capture) -> None:
    for name in ("good", "near-to-far", "far"):
        stored = EXAMPLES / f"{name}.csv.gz"
        assert stored.stat().st_size < 100_000
        again = tmp_path / f"{name}.csv.gz"
        assert main(["probe", "simulate", str(EXAMPLES / f"{name}.toml"), "-o", str(again)]) == 0
        for column in ("sent", "arrived", "returned", "received", "replies", "counted"):
            now, then = (getattr(read_series(file), column) for file in (again, stored))
            np.testing.assert_array_equal(now, then)
    capsys.readouterr()


def test_an_exported_trace_replays_the_measured_delays(tmp_path: Path, capsys: Capture) -> None:
    source = EXAMPLES / "near-to-far.csv.gz"
    for way in ("up", "down"):
        target = tmp_path / f"{way}.jitter"
        assert main(["probe", "export", str(source), "--direction", way, "-o", str(target)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == 'jitter = { model = "trace", file = "up.jitter" }'
    text = """\
title = "Replayed"
flow = [{ name = "main", controller = "c4", download = "1 MB" }]
[path]
rate = "1 Gbps"
rtt = "2.2 ms"
buffer = "1 MB"
jitter = { model = "trace", file = "down.jitter" }
up = { jitter = { model = "trace", file = "up.jitter" } }
"""
    (tmp_path / "replay.toml").write_text(text)
    measured = read_series(source)
    replayed = simulate_probe(Scenario.load(tmp_path / "replay.toml"), seed=9)
    # Transmission at another rate shifts a packet by some 10 us, which is as much of its delay where that is
    # level, and five times as much where the delay rises by 100 ms within an interval.
    gap = np.abs(replayed.rtt - measured.rtt)
    assert np.median(gap) < 0.02e-3
    assert np.quantile(gap, 0.95) < 0.1e-3
    assert np.quantile(gap, 0.99) < 1e-3
    # Within a burst, replies are microseconds apart: there another packet may meet the spike.
    assert np.corrcoef(replayed.rtt, measured.rtt)[0, 1] > 0.95
    # And from its text alone, elsewhere.
    loaded = Scenario.load(tmp_path / "replay.toml")
    again = Scenario.from_toml(loaded.toml, "again")
    np.testing.assert_array_equal(simulate_probe(again, seed=9).rtt, replayed.rtt)


def test_a_trace_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    series = read_series(EXAMPLES / "good.csv.gz")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(RequestError, match="cannot write"):
        write_series(series, tmp_path / "folder.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.csv"]
