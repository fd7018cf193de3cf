"""What holds of every experiment that stores its trials: nothing that is there runs again, whatever happened."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.stored import EXPERIMENTS, SPLIT, line, prepare, run

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
EVERY = pytest.mark.parametrize("name", EXPERIMENTS)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the experiments read."""
    folder = tmp_path_factory.mktemp("experiments")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def whole(root: Path) -> dict[str, Any]:
    """What each experiment leaves that nothing has disturbed."""
    found = {}
    for name, experiment in EXPERIMENTS.items():
        run(root, *experiment.words, "--out", f"{name}-whole")
        found[name] = experiment.values(root / f"{name}-whole")
    return found


def stored_files(folder: Path) -> list[str]:
    """Files that are whole; one that is being written has another name."""
    return sorted(file.name for file in folder.glob("trials/*/0*.parquet"))


@EVERY
def test_a_second_run_plays_nothing_and_says_so(root: Path, whole: dict[str, Any], name: str) -> None:
    experiment, folder = EXPERIMENTS[name], root / f"{name}-whole"
    before = stored_files(folder)
    assert before
    said = run(root, *experiment.words, "--out", folder.name)
    assert stored_files(folder) == before
    counts = re.search(r"(\d+) of (\d+) trials were in|(\d+) trials: 0 ran, (\d+) were there", said)
    assert counts is not None, said
    first, second = (int(number) for number in counts.groups() if number is not None)
    assert first == second > 0
    assert experiment.values(folder) == whole[name]


@EVERY
def test_a_run_that_was_killed_goes_on_to_the_same_result(root: Path, whole: dict[str, Any], name: str) -> None:
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
    assert experiment.values(folder) == whole[name]


@pytest.mark.parametrize("name", SPLIT)
def test_merged_shards_are_the_whole(root: Path, whole: dict[str, Any], name: str) -> None:
    experiment = EXPERIMENTS[name]
    shards = [f"{name}-shard-{number}" for number in (1, 2, 3)]
    for number, shard in enumerate(shards, 1):
        run(root, *experiment.words, "--out", shard, "--shard", f"{number}/3", expected=(0,))
    run(root, "merge", *shards, "--out", f"{name}-merged", expected=(0,))
    before = stored_files(root / f"{name}-merged")
    run(root, *experiment.words, "--out", f"{name}-merged")
    assert stored_files(root / f"{name}-merged") == before, "some trials were in no shard"
    assert experiment.values(root / f"{name}-merged") == whole[name]


@EVERY
def test_a_cluster_plays_the_same_trials(root: Path, whole: dict[str, Any], name: str) -> None:
    pytest.importorskip("distributed")
    experiment = EXPERIMENTS[name]
    run(root, *experiment.words, "--out", f"{name}-cluster", "--cluster", "local:2")
    assert experiment.values(root / f"{name}-cluster") == whole[name]


@pytest.mark.parametrize("name", SPLIT)
def test_an_experiment_does_not_differ_from_itself(root: Path, whole: dict[str, Any], name: str) -> None:
    said = run(root, "compare", f"{name}-whole", f"{name}-whole", expected=(0,))
    assert re.search(r"(?<!\d)0 of [1-9]\d* (medians )?differ", said), said


@EVERY
def test_a_trial_that_was_damaged_is_refused(root: Path, whole: dict[str, Any], name: str) -> None:
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


def test_the_auditor_sees_trials_that_are_stored(root: Path, whole: dict[str, Any]) -> None:
    said = run(root, *EXPERIMENTS["suite"].words, "--out", "suite-whole", "--audit")
    assert "were in suite-whole already" not in said
    assert EXPERIMENTS["suite"].values(root / "suite-whole") == whole["suite"]
