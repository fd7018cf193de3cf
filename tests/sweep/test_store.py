"""The store of a sweep: what runs is what is missing, whoever stopped it, and nothing is mixed or lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from short_download import SCENARIO
from thalweg import ResultError, Scenario, Sweep, SweepResult, _native
from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Report, T, Take, unheard
from thalweg.cli import main
from thalweg.engine.outcome import Trial
from thalweg.experiments.sweep.run import Run
from thalweg.experiments.sweep.store import Store
from thalweg.trials.machine import ThisMachine
from thalweg.trials.store.shard import Shard
from thalweg.trials.store.trial_files import parquet
from thalweg.trials.threads import Threads

Capture = pytest.CaptureFixture[str]
AXES: dict[str, Any] = {"path.rate": ["5 Mbps", "20 Mbps"], "controller.main": ["cubic", "c4"]}


@pytest.fixture(name="scenario")
def scenario_file(tmp_path: Path) -> str:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return str(file)


@dataclass
class Counting:
    """This machine, which knows the trials that it has played; after some batches it stops, as Ctrl-C does."""

    batches: int = 10**6
    played: list[tuple[str, int]] = field(default_factory=list)
    width: int = 2
    lanes: int = 1
    name: str = "two threads that count"

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        ThisMachine(self.width).play(self.counted(batches), take, report)

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        return ThisMachine(self.width).each(scenario, seeds, take, report)

    def counted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            self.batches -= 1
            if self.batches < 0:
                raise KeyboardInterrupt
            self.played += [(scenario.toml, seed) for scenario in batch.scenarios for seed in batch.seeds]
            yield batch


def play(sweep: Sweep, folder: Path, batches: int = 10**6) -> Counting:
    executor = Counting(batches=batches)
    sweep.play(folder, executor, Shard())
    assert len(set(executor.played)) == len(executor.played)
    return executor


def values(folder: Path) -> pl.DataFrame:
    """All trials of a sweep but for the time that they took."""
    return SweepResult.load(folder).scan().drop("core_s", "replay").collect().sort("index", "seed")


def test_the_rows_of_a_sweep_are_those_of_trials(scenario: str, tmp_path: Path) -> None:
    result = Sweep(scenario, AXES, trials=5, seed=7).run(tmp_path / "out")
    for rate in ("5 Mbps", "20 Mbps"):
        for controller in ("cubic", "c4"):
            outcomes = Scenario.load(scenario, {"path.rate": rate}, {"main": controller}).trials(5, seed=7)
            own = result.scan().filter(
                (pl.col("path.rate_bps") == float(rate.split()[0]) * 1e6)
                & (pl.col("controller.main") == controller)
            )
            found = own.sort("seed").collect()
            assert found["trace_hash"].to_list() == outcomes.trials["trace_hash"].to_list()
            for column in ("completion_s", "mean_rate_bps", "packets_sent", "finished"):
                assert found[f"flow.main.{column}"].to_list() == outcomes.flows[column].to_list()
            utilisation = outcomes.links.filter(pl.col("link") == "down")["utilisation"].to_list()
            assert found["link.down.utilisation"].to_list() == utilisation


def test_a_sweep_that_is_finished_runs_nothing(scenario: str, tmp_path: Path) -> None:
    sweep = Sweep(scenario, AXES, trials=5)
    assert len(play(sweep, tmp_path / "out").played) == 20
    assert play(sweep, tmp_path / "out").played == []


@pytest.mark.parametrize(
    ("more", "trials", "seed", "missing"),
    [
        ({}, 8, 1, 12),  # seeds
        ({}, 5, 3, 8),  # other seeds, of which some are there
        ({"path.rate": ["5 Mbps", "10 Mbps", "20 Mbps"]}, 5, 1, 10),  # a value
        ({"path.rtt": ["40 ms", "80 ms"]}, 5, 1, 20),  # an axis, whose first value is what the scenario has
        ({"path.rtt": ["0.04 s"]}, 5, 1, 0),  # the same in other words
        ({"path.rate": ["20000 kbps"]}, 5, 1, 0),
        ({"controller.main": ["cubic:beta=0.8", "c4"]}, 5, 1, 10),
    ],
)
def test_a_plan_that_has_grown_runs_only_the_rest(
    more: dict[str, Any], trials: int, seed: int, missing: int, scenario: str, tmp_path: Path
) -> None:
    play(Sweep(scenario, AXES, trials=5), tmp_path / "out")
    grown = Sweep(scenario, {**AXES, **more}, trials=trials, seed=seed)
    assert grown.estimate(tmp_path / "out").missing == missing
    assert len(play(grown, tmp_path / "out").played) == missing
    play(grown, tmp_path / "new")
    assert values(tmp_path / "out").equals(values(tmp_path / "new"), null_equal=True)


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_a_sweep_that_was_interrupted_goes_on_from_there(
    batches: int, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thalweg.trials.pace.BATCH_S", 1e-9)  # as many trials as threads in a batch
    sweep = Sweep(scenario, AXES, trials=7)
    first = play(sweep, tmp_path / "out", batches)
    second = play(sweep, tmp_path / "out")
    assert len(first.played) + len(second.played) == 28
    assert not set(first.played) & set(second.played)
    play(sweep, tmp_path / "new")
    assert values(tmp_path / "out").equals(values(tmp_path / "new"), null_equal=True)


def test_a_killed_sweep_loses_little_and_ends_as_one_that_was_not(scenario: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario}"\ntrials = 30\nset = {{ "flow.main.download" = "10 MB" }}\n'
        '[axes]\n"path.rate" = { from = "5 Mbps", to = "50 Mbps", steps = 10 }\n',
        encoding="utf-8",
    )
    program = "import sys; from thalweg.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]
    chance = random.Random(18)
    for _ in range(4):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 2))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, check=False).returncode == 0
    Sweep.load(plan).run(tmp_path / "new")
    assert values(tmp_path / "out").equals(values(tmp_path / "new"), null_equal=True)
    assert not list((tmp_path / "out").rglob(".thalweg-partial-*"))


def test_trials_of_another_engine_stay_apart(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    sweep = Sweep(scenario, AXES, trials=2)
    with monkeypatch.context() as other:
        other.setattr(_native, "engine", lambda: "0.0.9+0123456789abcdef")
        play(sweep, tmp_path / "out")
    assert len(play(sweep, tmp_path / "out").played) == 8
    result = SweepResult.load(tmp_path / "out")
    assert result.others == ["0.0.9+0123456789abcdef"]
    assert result.scan().collect().height == 8


def test_the_engine_is_named_by_version_and_sources() -> None:
    version, _, sources = _native.engine().partition("+")
    assert version == _native.version()
    assert len(sources) == 16


def test_a_controller_in_python_is_known_by_its_text(scenario: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "import thalweg\n\n\nclass Mine(thalweg.Controller):\n"
    text += "    def on_ack(self, event, path):\n        return {}\n"

    def sweep() -> Sweep:
        return Sweep(scenario, {"controller.main": [str(file), "cubic"]}, trials=2)

    file.write_text(text.format(20_000), encoding="utf-8")
    play(sweep(), tmp_path / "out")
    assert play(sweep(), tmp_path / "out").played == []
    file.write_text(text.format(30_000), encoding="utf-8")
    assert len(play(sweep(), tmp_path / "out").played) == 2


def test_a_controller_of_this_process_alone_is_refused(scenario: str, tmp_path: Path) -> None:
    import thalweg  # noqa: PLC0415

    mine = type(
        "Mine", (thalweg.Controller,), {"on_ack": lambda self, event, path: None, "__module__": "__main__"}
    )
    with pytest.raises(RequestError, match="Mine cannot be identified later; use a class in a file"):
        Sweep(scenario, {"controller.main": [mine]}).run(tmp_path / "out")


def test_the_merge_of_sweeps_of_before_says_what_it_is_called_now(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "merge", "a", "b", "--out", "c"]) == 2
    assert (
        capsys.readouterr().err
        == "error: thalweg sweep merge: it is `thalweg merge a b --out c`, for any experiment\n"
    )


def test_a_shard_runs_its_share_and_merged_shards_are_the_sweep(scenario: str, tmp_path: Path) -> None:
    axes = {**AXES, "path.rtt": {"from": "10 ms", "to": "80 ms", "steps": 20}}
    for of, some in ((3, axes), (5, AXES)):  # whole points are dealt out, and trials of each
        sweep, root = Sweep(scenario, some, trials=7), tmp_path / str(of)
        play(sweep, root / "whole")
        ran = [sweep.play(root / str(n), ThisMachine(), Shard(n, of)).ran for n in range(1, of + 1)]
        assert sum(ran) == 7 * sweep.points
        assert min(ran) > 0.4 * max(ran)
        folders = [str(root / str(n)) for n in range(1, of + 1)]
        for _ in range(2):  # the second time, all are there
            assert main(["merge", *folders, "--out", str(root / "merged"), "-q"]) == 0
        assert values(root / "merged").equals(values(root / "whole"), null_equal=True)
        assert play(sweep, root / "merged").played == []


def test_the_store_of_another_sweep_is_refused_and_stays(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    Sweep(scenario, AXES, trials=2).run(out)
    before = values(out)
    with pytest.raises(RequestError, match=r"holds a sweep of .*short.toml', the plan is of 'c4/simple-20mbps'"):
        Sweep("c4/simple-20mbps", AXES, trials=2).run(out)
    Sweep(scenario, {**AXES, "path.rtt": ["10 ms"]}, trials=2).run(tmp_path / "other")
    assert main(["merge", str(out), str(tmp_path / "other"), "--out", str(out)]) == 2
    assert values(out).equals(before, null_equal=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(RequestError, match="is not empty and holds no sweep"):
        Sweep(scenario, AXES, trials=2).run(tmp_path / "full")


def test_a_damaged_file_is_named_and_its_trials_run_again(scenario: str, tmp_path: Path) -> None:
    sweep = Sweep(scenario, AXES, trials=4)
    whole = sweep.run(tmp_path / "out").scan().collect().height
    (file,) = (tmp_path / "out" / "trials").rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(
        ResultError, match=r"000001-\w{32}\.parquet is damaged .*; move it out of the store and run"
    ):
        sweep.run(tmp_path / "out")
    file.unlink()
    assert sweep.run(tmp_path / "out").scan().collect().height == whole


def test_more_than_a_day_of_work_wants_to_be_confirmed(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    plan = tmp_path / "plan.toml"
    axes = "\n".join(
        f'"{key}" = {{ from = "{low}", to = "{high}", steps = 1000 }}'
        for key, low, high in (
            ("path.rate", "5 Mbps", "50 Mbps"),
            ("path.rtt", "10 ms", "100 ms"),
            ("path.buffer", "10 ms", "100 ms"),
        )
    )
    plan.write_text(f'scenario = "{scenario}"\n[axes]\n{axes}\n', encoding="utf-8")
    begin = time.monotonic()
    assert main(["sweep", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert time.monotonic() - begin < 30
    message = capsys.readouterr().err
    assert message.startswith("error: 99999999992 trials of about")  # but for those that were measured
    assert "days" in message
    assert "accepted: --yes" in message


def test_a_store_reads_and_writes_the_seeds_of_its_points(tmp_path: Path) -> None:
    store = Store(tmp_path, "engine")
    store.know(["a", "a", "b"], [1, 2, 2**63])
    assert store.seeds(["a", "b", "c"]) == {"a": {1, 2}, "b": {2**63}}


def test_a_panic_is_one_failed_row(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_batches, play_trial = _native.run_batches, Threads.play_trial

    def batches(scenarios: Sequence[_native.Scenario], seeds: Sequence[int], *more: Any) -> bool:
        if 3 in seeds and any("5 Mbps" in scenario.toml for scenario in scenarios):
            raise _native.Panicked("the simulator has panicked")
        return run_batches(scenarios, seeds, *more)

    def alone(self: Threads, own: Scenario, seed: int) -> _native.Outcomes:
        if seed == 3 and "5 Mbps" in own.toml:
            raise _native.Panicked("the simulator has panicked")
        return play_trial(self, own, seed)

    monkeypatch.setattr(_native, "run_batches", batches)
    monkeypatch.setattr(Threads, "play_trial", alone)
    sweep = Sweep(scenario, AXES, trials=5)
    tally = sweep.play(tmp_path / "out", ThisMachine(), Shard())
    assert (tally.trials, tally.ran, len(tally.errors)) == (20, 20, 2)
    failed = SweepResult.load(tmp_path / "out").scan().filter(pl.col("error").is_not_null()).collect()
    assert failed.select("path.rate_bps", "controller.main", "seed", "error").sort("controller.main").rows() == [
        (5e6, controller, 3, "the simulator has panicked") for controller in ("c4", "cubic")
    ]
    assert play(sweep, tmp_path / "out").played == []


def test_an_interruption_of_the_first_trials_leaves_nothing_behind(scenario: str, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        Sweep(scenario, AXES, trials=5).run(tmp_path / "out", executor=Counting(batches=0))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("steps", [10_000, 100])
def test_a_dry_run_of_a_huge_space_answers(steps: int, scenario: str) -> None:
    axes = {
        key: {"from": low, "to": high, "steps": steps}
        for key, low, high in (("path.rate", "5 Mbps", "50 Mbps"), ("path.rtt", "10 ms", "100 ms"))
    }
    estimate = Sweep(scenario, axes, trials=3).estimate()
    assert (estimate.points, estimate.trials, estimate.present) == (steps**2, 3 * steps**2, 0)
    assert estimate.wall_s > 0
    with pytest.raises(RequestError, match="points; accepted: at most"):
        Sweep(scenario, {**axes, **{f"flow.main.{n}": axes["path.rtt"] for n in range(9)}})


def test_shards_merged_one_after_the_other_have_the_points_of_all(scenario: str, tmp_path: Path) -> None:
    sweep = Sweep(scenario, AXES, trials=2)
    for number in (1, 2):
        sweep.play(tmp_path / str(number), ThisMachine(), Shard(number, 2))
        assert main(["merge", str(tmp_path / str(number)), "--out", str(tmp_path / "all"), "-q"]) == 0
    assert SweepResult.load(tmp_path / "all").points.height == 4


def test_a_shard_without_trials_merges_with_the_others(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    sweep = Sweep(scenario, AXES, trials=1)
    folders = [str(tmp_path / str(number)) for number in (1, 2, 3)]
    ran = [sweep.play(Path(folder), ThisMachine(), Shard(n + 1, 3)).ran for n, folder in enumerate(folders)]
    assert ran == [0, 0, 4]  # each shard takes a share of the trials of each point: of one trial, the last has it
    empty = SweepResult.load(folders[0])
    assert empty.rows.height == 0
    assert empty.scan().collect_schema().names() == ["index", *empty.axes, "seed", "error", "replay"]
    assert empty.to_xarray().sizes["seed"] == 1
    assert main(["sweep", "report", folders[0], "--only", "path.rate=5 Mbps"]) == 2
    assert "is a shard without trials" in capsys.readouterr().err
    assert main(["sweep", "report", folders[0], "--out", str(tmp_path / "page.html")]) == 2
    assert "is a shard without trials" in capsys.readouterr().err
    play(sweep, tmp_path / "whole")
    assert main(["merge", *folders, "--out", str(tmp_path / "all"), "-q"]) == 0
    assert values(tmp_path / "all").equals(values(tmp_path / "whole"), null_equal=True)
    flows = SweepResult.load(tmp_path / "whole").head["flows"]
    assert SweepResult.load(tmp_path / "all").head["flows"] == flows != []


def test_a_refused_plan_leaves_nothing_that_refuses_the_mended_one(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", str(tmp_path / "out")
    body = SCENARIO.replace("[path]", "[scenario.path]").replace("[[", "[[scenario.")
    text = f'trials = 1\n[axes]\n"path.rate" = ["5 Mbps", "20 Mbs"]\n[scenario]\n{body}'
    plan.write_text(text)
    assert main(["sweep", str(plan), "--out", out, "-q"]) == 2
    plan.write_text(text.replace("Mbs", "Mbps"))
    assert main(["sweep", str(plan), "--out", out, "-q"]) == 0


def test_a_ctrl_c_while_rows_are_written_loses_none(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep(scenario, AXES, trials=50)
    write, stops = Store.write_frame, [True]

    def stopped(store: Store, frame: pl.DataFrame) -> None:
        if stops:
            stops.clear()
            time.sleep(0.2)  # until the main thread waits
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        write(store, frame)

    monkeypatch.setattr(Store, "write_frame", stopped)
    monkeypatch.setattr(
        "thalweg.trials.store.writer.BATCH_S", 1e9
    )  # all rows wait for the end, however slow the machine
    first = sweep.play(tmp_path / "out", ThisMachine(2), Shard())
    stored = SweepResult.load(tmp_path / "out").scan().collect()
    assert not stops
    assert not first.complete
    assert stored.height == first.ran
    assert stored.unique(["index", "seed"]).height == first.ran


def test_a_ctrl_c_that_makes_polars_panic_is_a_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["called `Result::unwrap()` on an `Err` value: PyErr { type: <class 'KeyboardInterrupt'> }", "other"]

    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException(said.pop(0))

    monkeypatch.setattr(pl, "scan_parquet", panics)
    for expected in (KeyboardInterrupt, pl.exceptions.PanicException):
        with pytest.raises(expected):
            parquet(Path("points.parquet"))


def test_a_ctrl_c_while_the_first_trials_are_measured_keeps_what_is_finished(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep(scenario, AXES, trials=5)

    def interrupted(run: Run) -> None:
        measure(run)
        raise KeyboardInterrupt

    measure = Run._pilot
    monkeypatch.setattr(Run, "_pilot", interrupted)
    first = sweep.play(tmp_path / "out", ThisMachine(1), Shard())
    # One trial of each of the four points.
    assert (first.complete, first.ran) == (False, 4)
    assert SweepResult.load(tmp_path / "out").scan().collect().height == 4
    monkeypatch.undo()
    then = sweep.play(tmp_path / "out", ThisMachine(1), Shard())
    assert (then.complete, then.present, then.ran) == (True, 4, 16)


def test_slow_first_trials_of_an_estimate_or_a_refused_run_are_not_stored(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "thalweg.trials.store.writer.BATCH_S", 0.0
    )  # as if each trial took longer than what may be lost
    sweep, before = Sweep(scenario, AXES, trials=3), sorted(tmp_path.rglob("*"))
    assert sweep.estimate().missing == 12
    assert sweep.estimate(tmp_path / "out").missing == 12
    with monkeypatch.context() as shorter:
        shorter.setattr("thalweg.experiments.sweep.run.DAY_S", 1e-9)
        with pytest.raises(RequestError, match="accepted: --yes"):
            sweep.run(tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before
    assert sweep.run(tmp_path / "out").scan().collect().height == 12


def test_an_estimate_measures_missing_trials_where_the_first_ones_are_there(scenario: str, tmp_path: Path) -> None:
    Sweep(scenario, AXES, trials=1).run(tmp_path / "out")
    grown = Sweep(scenario, AXES, trials=3)
    estimate = grown.estimate(tmp_path / "out")
    assert (estimate.present, estimate.missing) == (4, 8)
    assert estimate.trial_s > 0
    tally = grown.play(tmp_path / "out", ThisMachine(1), Shard())
    assert (tally.present, tally.ran) == (4, 8)


@pytest.mark.parametrize(
    "name", ["experiment.json", "points.parquet", "trials/ENGINE/FILE", "../plan.toml", "../a.csv"]
)
def test_a_table_replaces_neither_the_store_nor_what_it_is_made_of(
    name: str, scenario: str, tmp_path: Path, capsys: Capture
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(f'scenario = "{scenario}"\ntrials = 1\n[axes]\n"path.rate" = ["5 Mbps", "20 Mbps"]\n')
    assert main(["sweep", str(plan), "--out", str(out), "-q"]) == 0
    (trials,) = (out / "trials").rglob("*.parquet")
    file = trials if "FILE" in name else out / name
    other = ["--parquet", str(file)] if name == "../a.csv" else []
    assert main(["sweep", str(plan), "--out", str(out), "--csv", str(file), *other]) == 2
    assert "would replace what" in capsys.readouterr().err
    assert main(["sweep", str(plan), "--out", str(out), "-q"]) == 0
