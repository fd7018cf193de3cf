"""What holds of every experiment that stores its trials: nothing that is there runs again, whatever happened."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

from experiments.stored import EXPERIMENTS, SPLIT, line, prepare, run
from short_download import SCENARIO
from thalweg.base.files.document import DOCUMENT, HEAD, read
from thalweg.base.files.stored import kind_in
from thalweg.trials.store.trial_files import write_trials

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
SECOND = """
[[flow]]
name = "other"
controller = "reno"
download = "20 MB"
"""
MINE = """
from numbers_of_mine import WINDOW
from thalweg import Controller


class Mine(Controller):
    def on_ack(self, event, path):
        self.window = WINDOW
"""
Whole: TypeAlias = "Callable[[str], tuple[Path, Any]]"
EVERY = pytest.mark.parametrize("name", EXPERIMENTS)
KINDS = {name: {"traces": "study", "score": "study"}.get(name, name) for name in EXPERIMENTS}
"""The kind of each in its document."""
LONG = dict.fromkeys(("suite", "study", "traces", "score"), pytest.mark.soak)
"""Experiments whose shards take seven seconds or more."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the experiments read."""
    folder = tmp_path_factory.mktemp("experiments")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def whole(root: Path) -> Whole:
    """Folder and values of an experiment that nothing has disturbed: it runs when it is asked for first."""

    @cache
    def whole_(name: str) -> tuple[Path, Any]:
        folder = root / f"{name}-whole"
        run(root, *EXPERIMENTS[name].words, "--out", folder.name)
        return folder, EXPERIMENTS[name].values(folder)

    return whole_


@EVERY
def test_every_document_begins_with_the_same_keys(whole: Whole, name: str) -> None:
    folder, _ = whole(name)
    document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    assert [*document][: len(HEAD)] == [*HEAD]
    assert document == {**read(folder / DOCUMENT), **document}
    assert document["kind"] == kind_in(folder) == KINDS[name]


@EVERY
def test_no_experiment_writes_over_one_of_another_kind(root: Path, whole: Whole, name: str) -> None:
    other = "suite" if name == "sweep" else "sweep"
    folder, values = whole(other)
    said = run(root, *EXPERIMENTS[name].words, "--out", folder.name, expected=(2,))
    told = f"{folder.name} holds a {other}, and not a {KINDS[name]}; choose another folder"
    assert said.startswith("error: ")
    assert said.strip().endswith(told)
    assert EXPERIMENTS[other].values(folder) == values


def stored_files(folder: Path) -> list[str]:
    """Files that are whole; one that is being written has another name."""
    return sorted(file.name for file in folder.glob("trials/*/0*.parquet"))


@EVERY
def test_a_second_run_plays_nothing_and_says_so(root: Path, whole: Whole, name: str) -> None:
    experiment, (folder, values) = EXPERIMENTS[name], whole(name)
    before = stored_files(folder)
    assert before
    said = run(root, *experiment.words, "--out", folder.name)
    assert stored_files(folder) == before
    counts = re.search(r"(\d+) of (\d+) trials were in|(\d+) trials: 0 ran, (\d+) were there", said)
    assert counts is not None, said
    first, second = (int(number) for number in counts.groups() if number is not None)
    assert first == second > 0
    assert experiment.values(folder) == values


@EVERY
def test_a_run_that_was_killed_goes_on_to_the_same_result(root: Path, whole: Whole, name: str) -> None:
    experiment, folder = EXPERIMENTS[name], root / f"{name}-killed"
    process = subprocess.Popen(
        line(*experiment.words, "--out", folder.name),
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not stored_files(folder):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = stored_files(folder)
    run(root, *experiment.words, "--out", folder.name)
    assert set(kept) <= set(stored_files(folder))
    assert experiment.values(folder) == whole(name)[1]


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in SPLIT])
def test_merged_shards_are_the_whole(root: Path, whole: Whole, name: str) -> None:
    experiment = EXPERIMENTS[name]
    shards = [f"{name}-shard-{number}" for number in (1, 2, 3)]
    for number, shard in enumerate(shards, 1):
        run(root, *experiment.words, "--out", shard, "--shard", f"{number}/3", expected=(0,))
    run(root, "merge", *shards, "--out", f"{name}-merged", expected=(0,))
    before = stored_files(root / f"{name}-merged")
    run(root, *experiment.words, "--out", f"{name}-merged")
    assert stored_files(root / f"{name}-merged") == before, "some trials were in no shard"
    assert experiment.values(root / f"{name}-merged") == whole(name)[1]


@pytest.mark.soak
@EVERY
def test_a_cluster_plays_the_same_trials(root: Path, whole: Whole, name: str) -> None:
    pytest.importorskip("distributed")
    experiment = EXPERIMENTS[name]
    run(root, *experiment.words, "--out", f"{name}-cluster", "--cluster", "local:2")
    assert experiment.values(root / f"{name}-cluster") == whole(name)[1]


@pytest.mark.parametrize("name", SPLIT)
def test_an_experiment_does_not_differ_from_itself(root: Path, whole: Whole, name: str) -> None:
    folder, _ = whole(name)
    said = run(root, "compare", folder.name, folder.name, expected=(0,))
    assert re.search(r"(?<!\d)0 of [1-9]\d* medians differ|No comparison differs", said), said


@pytest.mark.soak
@EVERY
def test_a_trial_that_was_damaged_is_refused(root: Path, whole: Whole, name: str) -> None:
    experiment, folder = EXPERIMENTS[name], root / f"{name}-damaged"
    run(root, *experiment.words, "--out", folder.name)
    file = next(iter(folder.glob("trials/*/*.parquet")))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    said = run(root, *experiment.words, "--out", folder.name, expected=(2,))
    assert f"{file.name} is damaged" in said


@EVERY
def test_trials_behind_a_link_are_refused(root: Path, name: str) -> None:
    experiment, folder = EXPERIMENTS[name], root / f"{name}-link"
    (root / f"{name}-elsewhere").mkdir()
    folder.mkdir()
    (folder / "trials").symlink_to(root / f"{name}-elsewhere")
    said = run(root, *experiment.words, "--out", folder.name, expected=(2,))
    assert "is in the way" in said
    assert not list((root / f"{name}-elsewhere").iterdir())


def test_a_shard_needs_a_folder(root: Path) -> None:
    for name in set(SPLIT) - {"sweep"}:
        said = run(root, *EXPERIMENTS[name].words, "--shard", "1/2", expected=(2,))
        assert "--shard requires --out DIR" in said


def test_more_trials_play_only_those_that_are_new(root: Path) -> None:
    run(root, "suite", "suite", "-n", "4", "--out", "grown", "--no-report")
    said = run(root, "suite", "suite", "-n", "6", "--out", "grown", "--no-report")
    assert "12 of 18 trials were in grown already" in said


def test_a_scenario_that_changed_runs_again(root: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    run(tmp_path, "suite", "suite", "-n", "4", "--out", "result", "--no-report")
    file = tmp_path / "suite" / "one.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("40 ms", "41 ms"), encoding="utf-8")
    said = run(tmp_path, "suite", "suite", "-n", "4", "--out", "result", "--no-report")
    assert "8 of 12 trials were in result already" in said


def test_the_auditor_sees_trials_that_are_stored(root: Path, whole: Whole) -> None:
    folder, values = whole("suite")
    said = run(root, *EXPERIMENTS["suite"].words, "--out", folder.name, "--audit")
    assert "were in suite-whole already" not in said
    assert EXPERIMENTS["suite"].values(folder) == values


def test_a_criterion_over_time_is_measured_even_where_the_scenario_has_series(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    text = f'sample = "100 ms"\n{SCENARIO.replace("200 kB", "20 MB").replace("5 s", "60 s")}{SECOND}'
    file.write_text(text, encoding="utf-8")
    run(tmp_path, "run", "two.toml", "-n", "2", "--out", "result")
    file.write_text(f'{text}\n[[pass]]\nflow = "main"\nmetric = "starvation"\nat_most = "9 s"\n', encoding="utf-8")
    said = run(tmp_path, "run", "two.toml", "-n", "2", "--out", "result")
    assert "were in result already" not in said
    assert re.search(r"holds +main starvation", said), said


def test_a_controller_that_imports_a_file_which_changed_runs_again(tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "numbers_of_mine.py").write_text("WINDOW = 20_000\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")

    def played() -> str:
        words = line("run", "suite/one.toml", "-c", "main=./mine.py", "-n", "2", "--out", "result")
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stderr + done.stdout

    played()
    assert "2 of 2 trials were in result already" in played()
    (tmp_path / "numbers_of_mine.py").write_text("WINDOW = 40_000\n", encoding="utf-8")
    assert "already" not in played()


def test_trials_of_a_sweep_and_of_others_do_not_mix(root: Path, whole: Whole) -> None:
    run(root, *EXPERIMENTS["suite"].words, "--out", "mixed", "--shard", "1/2")
    said = run(root, *EXPERIMENTS["sweep"].words, "--out", "mixed", expected=(2,))
    assert "mixed holds trials of a suite, a study, a score or a hunt; choose another folder" in said
    run(root, "merge", whole("sweep")[0].name, "--out", "mixed", expected=(2,))


@pytest.mark.soak
def test_an_outcome_that_somebody_made_up_is_refused(tmp_path: Path) -> None:
    prepare(tmp_path)
    words = ("suite", "suite", "-n", "2", "--no-report", "--out", "result")
    run(tmp_path, *words)
    file = next(iter(tmp_path.glob("result/trials/*/0*.parquet")))
    rows = pl.read_parquet(file)
    forged = {
        "no text": rows.with_columns(text=pl.lit(None, dtype=pl.String)),
        "no time": rows.with_columns(core_s=pl.lit(None, dtype=pl.Float64)),
        "a time below zero": rows.with_columns(core_s=pl.lit(-1.0)),
        "no JSON": rows.with_columns(text=pl.lit("{")),
        "another seed": rows.with_columns(text=pl.col("text").str.replace('"seed":[0-9]+', '"seed":77')),
    }
    for name, frame in forged.items():
        for older in file.parent.iterdir():
            older.unlink()
        write_trials(file.parent, 1, frame)
        said = run(tmp_path, *words, expected=(2,))
        assert "accepted: a store as it was written" in said, name
