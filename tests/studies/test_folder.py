"""The folder of a study: what is in it is named in its document, and one study at a time writes there."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.cli.status import INTERRUPTED
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Interrupted, Scenario
from thalweg.experiments.studies.runner.folder import reserve_folder, write_study_files
from thalweg.experiments.studies.runner.result import StudyResult
from unsealing import unseal

Capture = pytest.CaptureFixture[str]
TABLE = pl.DataFrame({"x": np.arange(3)})
STUDY = ["study", "fairness", "-c", "cubic", "--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail"]
STUDY += ["--flows", "3", "--duration", "20 s", "-n", "1", "--format", "json", "--out"]
"""Two rows: a pair and three flows."""


def study(seed: int = 1) -> StudyResult:
    return StudyResult("by-hand", "A study", "nowhere", "default", 1, seed, rows=[{"x": 1}])


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_study_removes_the_files_of_the_older_one_and_no_others(tmp_path: Path) -> None:
    tables, picture = {"flows": TABLE, "requests": TABLE}, {"runs.png": Path.touch}
    write_study_files(tmp_path, study(), {"one": "", "two": ""}, tables, picture)
    assert (tmp_path / "runs.png").exists()
    (tmp_path / "report.html").touch()
    mine = {"thesis.parquet", "scenarios/mine.toml", "mine.png"}
    for name in mine:
        (tmp_path / name).touch()
    write_study_files(tmp_path, study(), {"two": ""}, {"runs": TABLE})
    assert names(tmp_path) == {"experiment.json", "scenarios/two.toml", "runs.parquet"} | mine


def test_each_flipped_bit_of_the_trials_of_a_study_is_found(tmp_path: Path, capsys: Capture) -> None:
    trials = pl.DataFrame({"cell": "one", "measure": "x", "seed": range(40), "value": np.linspace(1, 2, 40)})
    write_study_files(tmp_path, study(), {}, {"trials": trials})
    assert main(["compare", str(tmp_path), str(tmp_path), "--fail-above", "5 %"]) == 0
    file, chance = tmp_path / "trials.parquet", np.random.default_rng(1)
    whole = file.read_bytes()
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[chance.integers(len(whole))] ^= 1 << chance.integers(8)
        file.write_bytes(damaged)
        capsys.readouterr()
        assert main(["compare", str(tmp_path), str(tmp_path), "--fail-above", "5 %"]) == 2
        assert capsys.readouterr().err.startswith(f"error: {file} is damaged")


def test_an_older_study_stays_until_the_pictures_of_the_new_one_are_there(tmp_path: Path) -> None:
    write_study_files(tmp_path, study(seed=1), {}, {})

    def stop(picture: Path) -> None:
        with pytest.raises(RequestError, match="another run writes its result"):
            write_study_files(tmp_path, study(seed=3), {}, {})
        raise RequestError(f"cannot write {picture}: no space left on device")

    with pytest.raises(RequestError, match="no space left"):
        write_study_files(tmp_path, study(seed=2), {}, {}, {"runs.png": stop})
    assert json.loads((tmp_path / "experiment.json").read_text(encoding="utf-8"))["seed"] == 1
    assert names(tmp_path) == {"experiment.json"}


def test_a_part_of_a_study_stays_beside_the_older_one_until_the_next_run(tmp_path: Path) -> None:
    root = write_study_files(tmp_path, study(seed=1), {"one": ""}, {}, complete=False)
    assert root == tmp_path  # there is nothing that it could replace
    root = write_study_files(tmp_path, study(seed=2), {"two": ""}, {}, complete=False)
    assert root == tmp_path / ".unfinished"
    assert json.loads((tmp_path / "experiment.json").read_text(encoding="utf-8"))["seed"] == 1
    assert json.loads((root / "experiment.json").read_text(encoding="utf-8"))["seed"] == 2
    write_study_files(tmp_path, study(seed=3), {"three": ""}, {})
    assert names(tmp_path) == {"experiment.json", "scenarios/three.toml"}


@pytest.mark.parametrize(
    "name",
    [
        "../victim.parquet",
        "/etc/victim.parquet",
        "scenarios/../../victim.toml",
        "deep/er.parquet",
        "notes.txt",
        "",
        ".hidden.parquet",
        "scenarios/flows.parquet",
        "./flows.parquet",
        "nul\0.parquet",
        7,
    ],
)
def test_a_name_in_a_document_leads_to_nothing_but_a_file_of_a_study(name: object, tmp_path: Path) -> None:
    folder, victim = tmp_path / "study", tmp_path / "victim.parquet"
    write_study_files(folder, study(), {"one": ""}, {"flows": TABLE})
    victim.touch()
    (folder / "notes.txt").touch()
    unseal(folder / "experiment.json")
    document = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    (folder / "experiment.json").write_text(json.dumps({**document, "files": [name]}), encoding="utf-8")
    kept = names(tmp_path)
    with pytest.raises(RequestError, match=r"experiment.json: files.0 = .*accepted: NAME.parquet"):
        write_study_files(folder, study(), {"two": ""}, {})
    assert names(tmp_path) == kept


def test_a_second_study_into_a_folder_is_refused_before_its_trials(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a trial has run")

    monkeypatch.setattr(Scenario, "trials", never)
    with reserve_folder(tmp_path):
        assert main([*STUDY, str(tmp_path)]) == 2
    busy = f"error: another run writes its result to {tmp_path}; choose another folder\n"
    assert capsys.readouterr().err == busy


@pytest.mark.parametrize("broken", ["not JSON", '{"files": ["../victim.parquet"]}', '{"files": 7}'])
def test_an_older_study_that_cannot_be_replaced_is_refused_before_the_trials(
    broken: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a trial has run")

    (tmp_path / "experiment.json").write_text(broken, encoding="utf-8")
    monkeypatch.setattr(Scenario, "trials", never)
    assert main([*STUDY, str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'experiment.json'}: ")


def test_entries_that_conflict_with_a_study_are_refused_at_its_start(tmp_path: Path) -> None:
    write_study_files(tmp_path, study(), {}, {"flows": TABLE})
    (tmp_path / "scenarios").touch()
    with pytest.raises(RequestError, match="scenarios is in the way"), reserve_folder(tmp_path):
        pass
    (tmp_path / "scenarios").unlink()
    (tmp_path / "flows.parquet").unlink()
    (tmp_path / "flows.parquet").mkdir()
    with pytest.raises(RequestError, match=r"flows\.parquet is a folder"), reserve_folder(tmp_path):
        pass


def test_a_reserved_folder_that_is_removed_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, flock = tmp_path / "new", fcntl.flock

    def too_late(handle: int, how: int) -> None:
        monkeypatch.undo()
        folder.rmdir()  # as who held it last does, where there was none before
        flock(handle, how)

    folder.mkdir()
    monkeypatch.setattr(fcntl, "flock", too_late)
    with reserve_folder(folder):
        assert folder.is_dir()
        with pytest.raises(RequestError, match="another run writes"), reserve_folder(folder):
            pass


def test_a_folder_is_reserved_until_its_study_is_written(tmp_path: Path) -> None:
    with reserve_folder(tmp_path / "a" / ".." / "new"):
        write_study_files(tmp_path / "new", study(), {}, {})
        with pytest.raises(RequestError, match="another run writes"), reserve_folder(tmp_path / "new"):
            pass
    with reserve_folder(tmp_path / "new"):
        pass
    assert names(tmp_path) == {"new/experiment.json"}


def test_a_reserved_folder_that_gets_nothing_leaves_nothing(tmp_path: Path) -> None:
    with reserve_folder(tmp_path / "missing" / ".." / "deep" / "study"):
        assert (tmp_path / "deep" / "study").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_study_beside_an_older_one_keeps_its_rows(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*STUDY, str(tmp_path)]) == 2  # one trial settles nothing
    older = (tmp_path / "experiment.json").read_text(encoding="utf-8")
    trials = Scenario.trials
    played: list[str] = []

    def once(self: Scenario, n: int, seed: int, **_: object) -> Outcomes:
        if played:
            raise Interrupted(None)
        played.append(self.name)
        return trials(self, n, seed)

    monkeypatch.setattr(Scenario, "trials", once)
    capsys.readouterr()
    assert main([*STUDY, str(tmp_path), "--seed-set", "2"]) == INTERRUPTED
    part = tmp_path / ".unfinished"
    said = f"wrote {part} and {part / 'report.html'}; {tmp_path} keeps its older study"
    assert said in capsys.readouterr().err
    assert (tmp_path / "experiment.json").read_text(encoding="utf-8") == older
    kept = json.loads((part / "experiment.json").read_text(encoding="utf-8"))
    assert (kept["seed"], len(kept["rows"])) == (2**20 + 1, 1)
    assert (part / "report.html").is_file()


def test_what_is_no_result_at_all_is_told_as_such_next_to_a_study(tmp_path: Path, capsys: Capture) -> None:
    write_study_files(tmp_path / "study", study(), {}, {})
    (tmp_path / "merged" / "trials").mkdir(parents=True)
    for other, says in (("merged", "holds no study: it has trials only"), ("none", "there is no such folder")):
        assert main(["compare", str(tmp_path / "study"), str(tmp_path / other)]) == 2
        assert says in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "study")]) == 2
    assert capsys.readouterr().err.startswith("error: 1 folder; accepted: 2 to 26")
