"""The study transient from outside: measurements of one's own, the command line, a small run of the whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.base.files.document import HEAD
from thalweg.cli import main
from thalweg.experiments.studies.transient.checks import LARGE, SMALL, checks, tail
from thalweg.experiments.studies.transient.figures import plot_areas
from thalweg.experiments.studies.transient.fit import Fit
from thalweg.experiments.studies.transient.measure import StepResponse, row
from thalweg.experiments.studies.transient.metric import Reactions
from thalweg.experiments.studies.transient.parameters import PRESETS, Cell, Parameters, Step
from thalweg.experiments.studies.transient.series import react_to_steps, read_series
from thalweg.experiments.studies.transient.study import STUDY

Capture = pytest.CaptureFixture[str]
QUICK = ["--trials", "2", "-c", "cubic", "--buffer", "40 packets", "--duration", "6s"]


def write(file: Path, rows: list[str], header: str = "time_s,throughput_bps") -> Path:
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return file


RTT = 0.05


def slow_start(empty: int = 10, full: int = 40) -> list[str]:
    """Nothing, then 12 Mbps, a row for each 50 ms."""
    return [f"{0.05 * row:.2f},{0 if row < empty else 12e6}" for row in range(empty + full)]


def test_a_measurement_gets_the_answer_of_the_metric(tmp_path: Path) -> None:
    measured = read_series(write(tmp_path / "flow.csv", slow_start()))
    (reaction,) = react_to_steps(measured, 0.05, available_bps=12e6)
    # As in test_transient: the mark is at the 19th round trip, and ten of them were empty.
    assert reaction.reactions.reaction_s[0] == pytest.approx(19 * 0.05)
    assert reaction.reactions.undershoot[0] == pytest.approx(10 / 19)


def test_rows_of_any_length_become_round_trips(tmp_path: Path) -> None:
    rows = [f"{0.01 * row:.2f},{0 if row < 50 else 12e6}" for row in range(250)]
    measured = read_series(write(tmp_path / "flow.csv", rows))
    (reaction,) = react_to_steps(measured, 0.05, available_bps=12e6)
    assert reaction.reactions.undershoot[0] == pytest.approx(10 / 19)


def test_the_bandwidth_of_the_file_counts_and_the_metric_is_armed_again_at_each_step(tmp_path: Path) -> None:
    # 12 Mbps at once; at 2.5 s the bandwidth doubles, and the flow follows 10 round trips later: all of the change
    # is missing in 10 of 19.
    rows = [f"{0.05 * row:.2f},{24e6 if row >= 50 else 12e6},{24e6 if row >= 60 else 12e6}" for row in range(110)]
    measured = read_series(write(tmp_path / "flow.csv", rows, "time_s,available_bps,throughput_bps"))
    first, second = react_to_steps(measured, 0.05, [0, 2.5])
    assert first.reactions.area[0] == pytest.approx(0)
    assert second.reactions.undershoot[0] == pytest.approx(10 / 19)


def test_overshoot_is_measured_on_the_sent_rate(tmp_path: Path) -> None:
    rows = [f"{0.05 * row:.2f},12e6,{18e6 if row < 6 else 12e6}" for row in range(50)]
    measured = read_series(write(tmp_path / "flow.csv", rows, "time_s,throughput_bps,sent_bps"))
    (reaction,) = react_to_steps(measured, 0.05, available_bps=12e6)
    assert reaction.reactions.overshoot[0] == pytest.approx(6 * 0.5 / 15)


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        ("time,throughput_bps", ["0,1"], ":1: there is no column time_s; accepted: "),
        ("time_s,throughput_bps,time_s", ["0,1,0"], ":1: two columns are named 'time_s'"),
        ("time_s,throughput_bps", ["0,1", "0.1,fast"], ":3: throughput_bps = 'fast'; accepted: a number from 0"),
        ("time_s,throughput_bps", ["0,1", "0.1,-1"], ":3: throughput_bps = '-1'; accepted: a number from 0"),
        ("time_s,throughput_bps", ["0,1", "0.1,nan"], ":3: throughput_bps = 'nan'; accepted: a number from 0"),
        ("time_s,throughput_bps", ["0,1", "0.1"], ":3: 1 values; accepted: 2"),
        ("time_s,throughput_bps", ["0.1,1", "0.1,1"], ":3: time_s = 0.1; accepted: more than 0.1"),
        ("time_s,throughput_bps", ["0,1"], ": 1 rows of numbers; accepted: at least 2"),
    ],
)
def test_a_bad_file_is_refused_at_its_line(
    header: str, rows: list[str], says: str, tmp_path: Path, capsys: Capture
) -> None:
    file = write(tmp_path / "flow.csv", rows, header)
    assert f"{file}{says}" in refusal(["--series", str(file), "--rtt", "50ms"], capsys)


def test_a_file_that_is_not_there_or_is_no_text_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert "no such file" in refusal(["--series", str(tmp_path / "none.csv"), "--rtt", "50ms"], capsys)
    (tmp_path / "picture.csv").write_bytes(bytes(range(128, 256)))
    assert "not UTF-8" in refusal(["--series", str(tmp_path / "picture.csv"), "--rtt", "50ms"], capsys)
    (tmp_path / "empty.csv").touch()
    assert ":1: there is no column" in refusal(["--series", str(tmp_path / "empty.csv"), "--rtt", "50ms"], capsys)


def test_a_measurement_too_short_or_without_bandwidth_is_refused(tmp_path: Path) -> None:
    measured = read_series(write(tmp_path / "flow.csv", slow_start(2, 10)))
    with pytest.raises(RequestError, match="18 round trips"):
        react_to_steps(measured, 0.05, available_bps=12e6)
    with pytest.raises(RequestError, match="available_bps"):
        react_to_steps(measured, 0.05)
    with pytest.raises(RequestError, match="at most 10000000"):
        react_to_steps(measured, 1e-9, available_bps=12e6)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--preset", "papper"], "did you mean paper?"),
        (["--rtt", "50"], "--rtt '50': expected a time"),
        (["--step", "20s"], "--step '20s': accepted: AT:rate=RATE"),
        (["--step", "20s:rate=fast"], "rate 'fast': expected a rate"),
        (["--step", "20s:rate=0 bps"], "accepted: a rate above 0"),
        (["--step", "70s:rate=6 Mbps"], "--duration '60 s': accepted: from 70.9 s on"),
        (["--step", "9s:rate=6 Mbps", "--step", "8s:rate=9 Mbps"], "accepted: from 9.9 s on"),
        (["--buffer", "many"], "many"),
        (["-c", "cubik"], "cubik"),
        (["--queue", "taildrop"], "taildrop"),
        (["--series", "x.csv"], "--series requires --rtt"),
        (["--series", "x.csv", "--rtt", "9ms", "--buffer", "1 bdp"], "--buffer: cannot be combined with --series"),
    ],
)
def test_a_bad_option_is_refused_with_the_accepted_forms(arguments: list[str], says: str, capsys: Capture) -> None:
    assert says in refusal(arguments, capsys)


def test_every_preset_is_a_scenario_that_can_be_run() -> None:
    for preset in PRESETS.values():
        assert STUDY.scenarios(preset)


def test_each_step_has_a_row_and_the_available_bandwidth_follows_it() -> None:
    steps = (Step("4 s", "rate", "24 Mbps"), Step("8 s", "rtt", "100 ms"), Step("12 s", "flow", "same"))
    chosen = Parameters(buffers=("100 packets",), controllers=("bbr",), duration="20 s", steps=steps)
    done = STUDY.run(chosen, trials=2)
    (measured,) = done.cells.values()
    assert [row["step"] for row in done.result.rows] == [step.title for step in chosen.all_steps]
    available = [float(curves.available.mean()) / 1e6 for curves in measured]
    assert available == pytest.approx([12, 24, 24, 12], rel=0.02)
    # The noise of the capacity is 2 Mbps in each ms: 0.28 in 50 ms, 0.2 in the mean of two trials.
    assert 0.1 < float(measured[0].available.std()) / 1e6 < 0.4
    assert done.result.checks == []


def test_a_delivered_rate_is_never_far_above_the_available_one() -> None:
    done = STUDY.run(Parameters(buffers=("40 packets",), controllers=("cubic",), duration="10 s"), trials=3)
    ((reaction,),) = done.cells.values()
    # Delay noise moves a packet or two of 50 from one bin to the next.
    assert float((reaction.delivered / reaction.available).max()) < 1.08
    assert float((reaction.delivered / reaction.available)[40:].mean()) > 0.9


def test_the_study_prints_one_document_and_stores_a_page(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "study"
    assert main(["study", "transient", *QUICK, "--format", "json", "--out", str(folder)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {*HEAD, "preset", "rows", "checks"} <= document.keys()
    assert document["preset"] == "custom"
    stored = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    for beside in ("files", "hashes", "sha256"):
        assert stored.pop(beside)
    assert stored == document
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Normalized Area" in page
    assert "Theoretical reactions (figure 1(a) of the poster)" in page
    assert page.count("data-figure=") == 4  # the theory, areas, areas as coded, mean rates
    assert (folder / "scenarios" / "40packets-cubic.toml").exists()
    assert (folder / "reactions.parquet").exists()


def test_the_page_has_room_for_a_controller_that_never_converged() -> None:
    areas = {("40 packets", "reno"): np.array([]), ("40 packets", "bbr"): np.array([0.2, 0.3])}
    chart = plot_areas(areas, {"40 packets": "reno 2"}, "areas")
    assert "did not converge: reno 2" in chart.to_json()


def test_a_measurement_is_printed_as_a_study(tmp_path: Path, capsys: Capture) -> None:
    file = str(write(tmp_path / "flow.csv", slow_start()))
    own = ["study", "transient", "--series", file, "--rtt", "50ms", "--rate", "12 Mbps"]
    assert main([*own, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["undershoot"] == pytest.approx(10 / 19, rel=1e-5)
    assert main(own) == 0
    assert "did not converge" not in capsys.readouterr().out


def refusal(arguments: list[str], capture: Capture) -> str:
    """The one message of a refused study."""
    assert main(["study", "transient", *arguments]) == 2
    said = capture.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    return said.err


def test_the_table_and_the_checks_take_the_same_median() -> None:
    # Ten areas, 0.1 to 1.0: an even number, so that the definitions of a median differ (0.5, 0.55 or 0.6).
    areas = np.arange(1, 11) / 10
    zeros = np.zeros(10)
    reactions = Reactions(
        converged=np.ones(10, dtype=np.bool_),
        mark=np.full(10, 20),
        reaction_s=areas,
        overshoot=areas,
        undershoot=zeros,
        level=np.ones(10),
        span_s=areas,
        settled=zeros,
    )
    fit = Fit(damping=zeros, frequency=zeros, dead_s=zeros, quality=zeros)
    shown = row(Cell("40 packets", "reno"), "start", StepResponse(reactions, fit, None, RTT, zeros, zeros, zeros))
    cells = {Cell(buffer, name): areas for buffer in (SMALL, LARGE) for name in ("reno", "cubic", "bbr1")}
    first = checks(cells)[0].measured
    assert shown["area_median"] == pytest.approx(0.55)
    assert first.startswith("median areas 0.55 (reno, 40 packets) and 0.55 (bbr1, 40 packets)")
    # 95 % is a position of 8.55 among ten; the tail takes the next value that was measured, the last.
    assert shown["area_p95"] == pytest.approx(0.955)
    assert tail(areas) == pytest.approx(1.0 / 0.55)
