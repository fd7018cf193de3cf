"""Trials through the native module: reproducible, complete, interruptible."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from thalweg import Interrupted, Outcomes, RequestError, Scenario, _native
from thalweg.cli import main

ROOT = Path(__file__).parents[2]
LOSSY = {"path.loss": '{ model = "random", rate = "1 %" }'}
"""Enough chance for two seeds to differ."""


@pytest.fixture
def scenario(scenario_file: Path) -> Scenario:
    """The short download on a path that loses packets."""
    return Scenario.load(scenario_file, overrides=LOSSY)


def reproducible(outcomes: Outcomes) -> list[pl.DataFrame]:
    """All columns but the one that measures this machine."""
    return [outcomes.flows, outcomes.links, outcomes.trials.drop("core_s")]


def as_bytes(table: pl.DataFrame) -> bytes:
    return table.write_ipc(None, compression="uncompressed").getvalue()


def test_equal_seeds_give_equal_bytes_on_one_thread_and_on_two(scenario: Scenario) -> None:
    alone, two = (reproducible(scenario.trials(40, seed=7, jobs=jobs)) for jobs in (1, 2))
    assert [as_bytes(table) for table in alone] == [as_bytes(table) for table in two]
    assert alone[2]["trace_hash"].n_unique() == 40


def test_a_trial_alone_is_the_trial_among_many_with_or_without_its_trace(scenario: Scenario) -> None:
    many = scenario.trials(5, seed=7)
    for trace in (False, True):
        alone = scenario.run(seed=9, trace=trace)
        assert alone.trace_hash == many.trace_hash(2)
        assert_frame_equal(alone.flows.drop("trial"), many.flows.filter(pl.col("trial") == 2).drop("trial"))


def test_a_scenario_reads_back_as_it_runs(scenario: Scenario) -> None:
    again = Scenario.from_toml(scenario.toml, scenario.name)
    assert again.run(seed=3).trace_hash == scenario.run(seed=3).trace_hash


def test_outcomes_agree_with_each_other_and_with_the_scenario(scenario: Scenario) -> None:
    outcomes = scenario.trials(20)
    flow = outcomes.flows.join(outcomes.links.filter(pl.col("link") == "down"), on="trial", suffix="_link")
    assert flow["finished"].all()
    assert (flow["bytes_delivered"] == 200_000).all()
    assert (flow["completion_s"] >= scenario.floor_s).all()
    assert (flow["min_rtt_s"] >= 0.040).all()
    assert (flow["closed_s"] >= flow["completion_s"] + 0.040).all()
    assert (flow["packets_lost_at_random"] == flow["lost_packets"]).all()
    assert flow["realised_loss"].is_between(0, 0.1).all()
    # 20 trials of some 145 packets: 2900 draws of 1 %, deviation 0.18 %; four of them either way.
    assert 0.0028 < flow["lost_packets"].to_numpy().sum() / flow["packets_sent"].to_numpy().sum() < 0.0172
    rate = flow["bytes_delivered"] * 8 / (flow["completion_s"] - flow["start_s"])
    assert ((rate - flow["mean_rate_bps"]).abs() <= 1e-6 * rate).all()


def test_criteria_name_the_column_that_they_bound(scenario: Scenario) -> None:
    (criterion,) = scenario.criteria
    assert criterion["column"] in scenario.trials(1).flows.columns
    assert (criterion["at_most"], criterion["unit"], criterion["informative"]) == (5.0, "s", False)
    assert criterion["floor"] == scenario.floor_s


def test_a_trace_and_its_outcome_count_the_same(scenario: Scenario) -> None:
    trial = scenario.run(seed=1, trace=True)
    assert trial.trace is not None
    drops = trial.trace.drops.filter(pl.col("link") == "down")
    assert set(drops["reason"]) <= {"queue", "aqm", "shrunk", "loss"}
    link = trial.links.row(by_predicate=pl.col("link") == "down", named=True)
    assert drops.height == link["dropped_packets"] + link["lost_packets"]
    assert trial.trace.flows["time_s"].is_sorted()
    assert trial.trace.flows["time_s"][-1] <= trial.outcomes.trials["end_s"][0]


def test_progress_is_heard_and_its_errors_stop_the_run(scenario: Scenario) -> None:
    heard: list[int] = []
    scenario.trials(50, on_progress=heard.append)
    assert heard == sorted(heard)
    assert heard[0] >= 0
    assert heard[-1] == 50  # the end is reported, however fast it comes

    def refuse(_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scenario.trials(1_000_000, on_progress=refuse)


def test_ctrl_c_keeps_the_trials_that_are_finished(scenario: Scenario) -> None:
    finished = threading.Event()

    def press() -> None:
        finished.wait()
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(Interrupted) as stop:
        scenario.trials(1_000_000, on_progress=lambda done: finished.set() if done else None)
    outcomes = stop.value.outcomes
    assert outcomes is not None
    assert 0 < outcomes.n < 1_000_000
    assert outcomes.flows["finished"].all()


def test_a_trial_that_ends_unfinished_is_reported_and_decides_nothing(
    scenario_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 99 % loss: the handshake alone needs luck, and probe timeouts double up to the limit of 100 s.
    arguments = ["run", str(scenario_file), "--set", 'path.loss={ model = "random", rate = "99 %" }']
    limit = ["--set", "time_limit=100 s"]
    says = "flow main did not finish within the simulated time limit of 100 s"
    assert main([*arguments, *limit]) == 1  # over its target, whatever it would have been
    assert capsys.readouterr().err == f"error: {says}\n"
    assert main([*arguments, *limit, "--set", "pass=[]"]) == 2
    assert capsys.readouterr().err == f"error: {says}\n"
    assert main([*arguments, *limit, "--trials", "3"]) == 1
    assert f"3 of 3 trials: {says}" in capsys.readouterr().err


def test_a_defect_is_no_verdict(
    scenario_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def panic(*_: object) -> None:
        raise RuntimeError("the simulator has panicked")

    monkeypatch.setattr(Scenario, "trials", panic)
    assert main(["run", str(scenario_file)]) == 70
    assert "this is a defect of thalweg" in capsys.readouterr().err


def test_the_committed_schema_is_the_one_of_the_simulator() -> None:
    committed = (ROOT / "docs" / "reference" / "schemas" / "scenario.schema.json").read_text(encoding="utf-8")
    assert committed == _native.scenario_schema() + "\n", "make schema"


@pytest.mark.parametrize("n", [0, 2**20 + 1, 10**9, 10**30])
def test_more_trials_than_a_set_of_seeds_has_are_refused_before_memory_is_taken(
    n: int, scenario: Scenario, scenario_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RequestError, match="a number of trials; accepted: 1 to 1048576"):
        scenario.trials(n)
    assert main(["run", str(scenario_file), "-n", str(n)]) == 2
    assert "1048576" in capsys.readouterr().err


def test_a_message_names_ten_of_many_flows_that_did_not_finish() -> None:
    flow = '[[flow]]\nname = "f{}"\ncontroller = "cubic"\ndownload = "1 MB"\n'
    text = 'title = "t"\ntime_limit = "100 ms"\n[path]\nrate = "1 Mbps"\nrtt = "40 ms"\n'
    outcomes = Scenario.from_toml(text + "".join(flow.format(n) for n in range(30)), "t").trials(1)
    assert str(outcomes.unfinished()).endswith(
        "flow f8 and flow f9 and 20 more did not finish within the simulated time limit of 100 ms"
    )
