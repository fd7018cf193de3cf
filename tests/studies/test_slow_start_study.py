"""The study `slow-start`: its metric on samples made by hand, and the study from end to end."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.slow_start.checks import checks
from thalweg.experiments.studies.slow_start.measure import gather, row, take, together
from thalweg.experiments.studies.slow_start.metric import REDUCTIONS, exit_of, is_early, is_late, times_until
from thalweg.experiments.studies.slow_start.metric import STARTS as STARTS_OF_TRACES
from thalweg.experiments.studies.slow_start.parameters import STARTS, Cell, Parameters
from thalweg.experiments.studies.slow_start.study import STUDY

BASE = Cell("cubic", "classic", "20 Mbps", "40 ms", 2.0, "0 ms", 0.0)
ONE_PATH = Parameters(
    rates=("20 Mbps",), rtts=("40 ms",), buffers_bdp=(2.0,), jitters=("0 ms",), applications=(0.0,), phases=1
)


def samples(*phases: str) -> list[str]:
    return list(phases)


def test_the_window_that_is_left_is_that_after_the_recovery_period() -> None:
    times, windows = np.arange(5.0), np.array([10.0, 40.0, 36.0, 20.0, 21.0])
    end = exit_of(times, windows, samples(*["rapid start"] * 2, *["recovery"] * 2, "congestion avoidance"))
    assert (end.at_s, end.reached_bytes, end.left_bytes, end.over_s) == (2.0, 40.0, 21.0, 4.0)


def test_the_slow_start_after_a_safe_retreat_is_not_congestion_avoidance_yet() -> None:
    # draft-ietf-tsvwg-careful-resume-22 section 3.5: the window is half of PipeSize, the threshold beta of it.
    phases = samples("unvalidated", "recovery", "slow start", "slow start", "congestion avoidance")
    end = exit_of(np.arange(5.0), np.array([80.0, 20.0, 21.0, 27.0, 28.0]), phases)
    assert (end.at_s, end.reached_bytes, end.left_bytes, end.over_s) == (1.0, 80.0, 28.0, 4.0)
    unfinished = exit_of(np.arange(3.0), np.array([80.0, 20.0, 21.0]), phases[:3])
    assert np.isnan(unfinished.left_bytes)


def test_a_safe_retreat_in_a_trial_leaves_what_congestion_avoidance_begins_with() -> None:
    # Half of what it remembers is 150 kB, for a path that holds 20 kB and a buffer of 14 kB.
    text = """
title = "A path that has become worse"
time_limit = "20 s"
[path]
rate = "4 Mbps"
rtt = "40 ms"
buffer = "10 packets"
[[flow]]
name = "main"
controller = "cubic:start=resume"
download = "4 MB"
seed = { window = "300 kB", rtt = "40 ms" }
"""
    trial = Scenario.from_toml(text, "worse").run(1, trace=True)
    assert trial.trace is not None
    flow = trial.trace.flows
    phases = flow["state"].to_list()
    steps = [phase for phase, before in zip(phases, [None, *phases], strict=False) if phase != before]
    retreat = steps.index("recovery")
    assert steps[retreat - 1 : retreat + 3] == ["validating", "recovery", "slow start", "congestion avoidance"]
    times, windows = flow["time_s"].to_numpy(), flow["window_bytes"].to_numpy().astype(float)
    end = exit_of(times, windows, phases)
    avoidance = phases.index("congestion avoidance")
    assert end.left_bytes == windows[avoidance]
    assert end.left_bytes > 1.5 * windows[phases.index("recovery")]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("controller", ["reno", "cubic"])
def test_every_phase_of_a_start_is_known(controller: str, start: str) -> None:
    cell = replace(BASE, controller=controller, start=start)
    trace = ONE_PATH.scenario(cell).run(1, trace=True).trace
    assert trace is not None
    known = {name for name, _ in _native.phases()}
    assert set(trace.flows["state"].unique()) <= known
    assert known > (STARTS_OF_TRACES | REDUCTIONS)


def test_conservative_slow_start_and_the_phases_of_careful_resume_are_no_exit() -> None:
    phases = samples("reconnaissance", "unvalidated", "validating", "slow start", "conservative slow start")
    end = exit_of(np.arange(5.0), np.array([1.0, 9.0, 5.0, 6.0, 7.0]), phases)
    assert np.isnan(end.at_s)
    assert end.reached_bytes == 9.0
    assert not is_early(end, 100.0), "it was never left"


def test_early_and_late_are_on_both_sides_of_the_path() -> None:
    end = exit_of(np.arange(3.0), np.array([10.0, 30.0, 15.0]), samples("slow start", "slow start", "recovery"))
    assert np.isnan(end.left_bytes)
    done = replace(end, left_bytes=15.0)
    assert (is_early(done, 15.0), is_early(done, 15.1)) == (False, True)
    assert (is_late(done, 30.0), is_late(done, 29.9)) == (False, True)


def test_a_level_is_reached_by_the_first_sample_at_it() -> None:
    times, bytes_ = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1500.0, 1500.0])
    assert times_until(times, bytes_, [1, 1500])[0] == 2.0
    assert times_until(times, bytes_, [1500])[0] == 2.0
    assert np.isnan(times_until(times, bytes_, [1501])[0])


def test_bytes_count_from_the_first_full_packet_without_those_of_the_handshake() -> None:
    trial = ONE_PATH.scenario(BASE).run(1, trace=True)
    taken = take(ONE_PATH, BASE, trial)
    # Ten packets leave at once; the first is acknowledged an RTT and its transmission later, with ACKs of two.
    assert 0.040 < taken["until_1500_s"] < 0.044
    # The first flight is less than 15 kB: a second round trip.
    assert 0.080 < taken["until_15000_s"] < 0.095
    # 20 Mbps transmit 15 MB in 6 s and their headers.
    assert 6.0 < taken["until_15000000_s"] < 7.5
    assert taken["dropped"] > 0


def test_phases_of_a_path_are_one_row() -> None:
    cells = {replace(BASE, phase=phase): gather([{"early": float(phase)}] * 2) for phase in range(3)}
    ((cell, measured),) = together(cells)
    assert cell.phase == 0
    assert measured["early"].tolist() == [0, 0, 1, 1, 2, 2]


def test_each_start_ends_as_its_document_says_on_a_quiet_path() -> None:
    done = STUDY.run(ONE_PATH, trials=1)
    rows = {str(one["start"]): one for one in done.result.rows}
    assert list(rows) == list(STARTS)
    assert {name for name, one in rows.items() if one["late"] == 1.0} >= {"classic", "rapid", "resume"}
    assert rows["delay"]["dropped"] == 0
    assert not any(one["early"] for one in rows.values())
    for column in ("until_150000_s", "until_1500000_s"):
        assert float(rows["rapid"][column] or 0) < float(rows["classic"][column] or 0)
    # draft-kazuho-ccwg-rapid-start-02 section 3.3: recovery ends with 0.7 of what path and buffer hold, three BDP.
    assert 1.9 < float(rows["rapid"]["left_of_pipe"] or 0) < 2.3


def test_a_start_that_is_never_left_has_no_exit() -> None:
    parameters = replace(ONE_PATH, starts=("classic", "search"), applications=(0.1,))
    for row_ in STUDY.run(parameters, trials=1).result.rows:
        assert (row_["left"], row_["exit_s"], row_["early"]) == (0.0, None, 0.0)


def test_checks_hold_and_fail_by_their_trials() -> None:
    def measured(late: float, until: float) -> dict[str, np.ndarray]:
        return {
            name: np.full(200, value)
            for name, value in {"early": 0.0, "late": late, "until_150000_s": until}.items()
        }

    path = replace(BASE, rate="200 Mbps")
    cells = {path: measured(1.0, 0.2), replace(path, start="rapid"): measured(1.0, 0.1)}
    assert [one.answer for one in checks(ONE_PATH, cells)] == ["holds", "holds"]
    cells = {path: measured(0.0, 0.1), replace(path, start="rapid"): measured(1.0, 0.2)}
    assert [one.answer for one in checks(ONE_PATH, cells)] == ["fails", "fails"]


def test_a_row_without_an_exit_or_a_time_has_none() -> None:
    trials = take(ONE_PATH, BASE, ONE_PATH.scenario(BASE).run(1, trace=True))
    lost = gather([trials | {"until_15000000_s": float("nan"), "exit_s": float("nan")}])
    assert row(BASE, lost)["until_15000000_s"] is None
    assert row(BASE, lost)["exit_s"] is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"starts": ("fast",)}, "--start 'fast': accepted: classic, hystart"),
        ({"controllers": ("bbr",)}, "--controller 'bbr': accepted: cubic and reno"),
        ({"buffers_bdp": (0.0,)}, "--buffer 0: accepted"),
        ({"applications": (-1.0,)}, "--application -1: accepted"),
        ({"rates": ()}, "nothing to run"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_its_option(given: dict[str, object], says: str) -> None:
    with pytest.raises(RequestError, match=says):
        replace(Parameters(), **given)  # type: ignore[arg-type]


def test_the_command_prints_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "study slow-start --start classic --start rapid --rate 20Mbps --rtt 20ms --buffer 1 --jitter 0ms"
    arguments += " --application 0 --phases 2 -n 3 -c reno:decrease=0.7 --format json"
    assert main(arguments.split()) in (0, 1, 2)
    document = json.loads(capsys.readouterr().out)
    assert [(one["controller"], one["n"]) for one in document["rows"]] == [("reno:decrease=0.7", 6)] * 2
    assert len(document["checks"]) == 2
