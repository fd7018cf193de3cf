"""The folder of a result: an older result stays until the new one is whole, and nothing leads out of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.outcome import TABLES, Outcomes
from thalweg.results.suite_result import Store, SuiteResult
from unsealing import unseal

Make = Callable[..., Outcomes]
Capture = pytest.CaptureFixture[str]


def open_store(folder: Path, planned: list[Outcomes]) -> Store:
    result = SuiteResult("c4", "A suite", "a document", seed=1)
    return Store(folder, result, [outcomes.scenario for outcomes in planned], trials=planned[0].n)


def store(folder: Path, planned: list[Outcomes]) -> None:
    with open_store(folder, planned) as opened:
        for outcomes in planned:
            opened.add(outcomes)
        opened.finish()


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def files_of(*scenarios: str) -> set[str]:
    return {"experiment.json"} | {f"{name}/{table}.parquet" for name in scenarios for table in TABLES}


HOSTILE = ["../victim", "ABSOLUTE", "..", ".", "", "deep/er", ".unfinished", "experiment.json", "nul\0"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_in_a_document_leads_to_nothing_outside_the_folder(
    name: str, tmp_path: Path, outcomes_of: Make, capsys: Capture
) -> None:
    folder, victim = tmp_path / "r", tmp_path / "victim"
    store(folder, [outcomes_of([4.5], name="one")])
    shutil.copytree(folder / "one", victim)
    kept = names(tmp_path)
    unseal(folder / "experiment.json")
    document = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    document["scenarios"][0]["name"] = name.replace("ABSOLUTE", str(victim))
    (folder / "experiment.json").write_text(json.dumps(document), encoding="utf-8")
    for arguments in (
        ["suite", "c4", "--only", "simple-20mbps", "-n", "1", "--out", str(folder)],
        ["report", str(folder), "-o", str(tmp_path / "page.html")],
        ["compare", str(folder), str(folder)],
        ["replay", str(folder), name, "0"],
    ):
        assert main(arguments) == 2
        said = capsys.readouterr()
        assert f"error: {folder / 'experiment.json'}: scenarios.0.name: " in said.err
        assert len(said.err.splitlines()) == 1
    assert names(tmp_path) == kept


def test_a_link_in_a_result_is_neither_followed_nor_emptied(tmp_path: Path, outcomes_of: Make) -> None:
    folder, victim = tmp_path / "r", tmp_path / "victim"
    store(folder, [outcomes_of([4.5], name="one")])
    (folder / "one").rename(victim)
    (folder / "one").symlink_to(victim)
    with pytest.raises(RequestError, match="leads out of"):
        SuiteResult.load(folder)
    store(folder, [outcomes_of([4.5], name="two")])
    assert names(victim) == {f"{table}.parquet" for table in TABLES}
    with pytest.raises(RequestError, match="one is in the way"):
        store(folder, [outcomes_of([4.5], name="one")])
    assert names(victim) == {f"{table}.parquet" for table in TABLES}


@pytest.mark.parametrize("step", [".unfinished", ".whole", ".moving", ".partial"])
def test_a_link_in_the_place_of_a_step_is_not_followed(step: str, tmp_path: Path, outcomes_of: Make) -> None:
    folder, victim = tmp_path / "r", tmp_path / "victim"
    store(victim, [outcomes_of([4.5], name="one")])
    kept = names(victim)
    store(folder, [outcomes_of([4.5], name="one")])
    (folder / step).symlink_to(victim)
    if step in (".whole", ".moving"):
        with pytest.raises(RequestError, match=f"{step} is in the way"):
            store(folder, [outcomes_of([4.5], name="two")])
        with pytest.raises(RequestError, match="leads out of"):
            SuiteResult.load(folder)
    else:
        store(folder, [outcomes_of([4.5], name="two")])
        assert names(folder) == files_of("two")
        assert not (folder / step).is_symlink()
    assert names(victim) == kept


@pytest.mark.parametrize("step", [".whole", ".moving"])
@pytest.mark.parametrize("home", [".", "one"])
def test_a_link_in_a_replacement_that_was_stopped_does_not_come_into_place(
    step: str, home: str, tmp_path: Path, outcomes_of: Make
) -> None:
    folder = tmp_path / "r"
    store(folder, [outcomes_of([4.5], name="one")])
    (folder / step / home).mkdir(parents=True)
    (folder / step / home / "report.html").symlink_to(tmp_path / "victim")
    store(folder, [outcomes_of([4.5], name="one")])
    assert not any(file.is_symlink() for file in folder.rglob("*"))
    assert not (folder / step).exists()


def test_a_document_or_table_that_is_a_link_out_is_refused(tmp_path: Path, outcomes_of: Make) -> None:
    for name in ("one/flows.parquet", "experiment.json"):
        folder = tmp_path / name.replace("/", "-")
        store(folder, [outcomes_of([4.5], name="one")])
        (folder / name).rename(tmp_path / "outside")
        (folder / name).symlink_to(tmp_path / "outside")
        with pytest.raises(RequestError, match="leads out of"):
            SuiteResult.load(folder)


def test_files_that_are_not_of_the_older_result_stay(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path, [outcomes_of([4.5], name="one")])
    (tmp_path / "one" / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").touch()
    store(tmp_path, [outcomes_of([4.5], name="two")])
    assert names(tmp_path) == files_of("two") | {"one/notes.txt", "thesis/chapter.tex"}


def test_an_older_result_stays_until_the_new_one_is_complete(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path, [outcomes_of([4.5], name="one")])
    (tmp_path / "report.html").touch()
    with open_store(tmp_path, [outcomes_of([4.7], name=name) for name in ("one", "two")]) as opened:
        opened.add(outcomes_of([4.7], name="one"))
        assert SuiteResult.load(tmp_path)["one"].flows["completion_s"].to_list() == [4.5]
    assert names(tmp_path) >= {*files_of("one"), "report.html"}
    # What was finished of the new one can be looked at, until the next run.
    assert SuiteResult.load(tmp_path / ".unfinished")["one"].flows["completion_s"].to_list() == [4.7]
    store(tmp_path, [outcomes_of([4.8], name="two")])
    assert names(tmp_path) == files_of("two")


class Killed(BaseException):
    """Stands for SIGKILL between two calls of the system."""


@contextmanager
def killed_after(calls: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets so many changes of the file system happen, and none after them."""
    left = calls

    def counted(change: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return change(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("rename", "replace", "unlink", "rmdir", "mkdir"):
            patch.setattr(Path, name, counted(getattr(Path, name)))
        yield


@pytest.mark.soak
@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
def test_a_replacement_that_is_killed_at_any_step_leaves_the_older_or_the_new_result(
    tmp_path: Path, outcomes_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = [outcomes_of([4.5], name=name) for name in ("gone", "same")]
    newer = [outcomes_of([4.7], name=name) for name in ("same", "added")]
    seen = []
    for calls in range(100):
        folder = tmp_path / str(calls)
        store(folder, older)
        (folder / "report.html").touch()
        opened = open_store(folder, newer)
        for outcomes in newer:
            opened.add(outcomes)
        try:
            with killed_after(calls, monkeypatch):
                opened.finish()
        except Killed:
            pass
        else:
            break
        finally:
            opened._place.close()  # as the end of the process does
        found = {outcomes.scenario.name: outcomes for outcomes in SuiteResult.load(folder).outcomes}
        times = {outcomes.flows["completion_s"][0] for outcomes in found.values()}
        assert (set(found), times) in (({"gone", "same"}, {4.5}), ({"same", "added"}, {4.7})), calls
        seen.append(times.pop())
        with open_store(folder, newer):
            pass  # the next writer ends what was begun
        expected = files_of("same", "added") if seen[-1] == 4.7 else files_of("gone", "same") | {"report.html"}
        assert names(folder) == expected, calls
    assert names(tmp_path / str(calls)) == files_of("same", "added")
    # The older one up to the first renaming, the new one from then on.
    assert seen == [4.5] + [4.7] * (len(seen) - 1)
    assert len(seen) > 20


@pytest.mark.parametrize("name", ["experiment.json", "report.html", ".hidden"])
def test_a_scenario_whose_name_a_result_needs_is_refused_before_the_first_trial(
    name: str, tmp_path: Path, scenario_file: Path, capsys: Capture
) -> None:
    scenario_file.rename(tmp_path / f"{name}.toml")
    out = tmp_path / "out"
    assert main(["suite", str(tmp_path), "--trials", "1000000", "--out", str(out)]) == 2
    assert f"cannot store a scenario called {name!r}" in capsys.readouterr().err
    assert not out.exists()


def test_two_suites_at_a_time_into_one_folder_are_refused_before_the_first_trial(
    tmp_path: Path, outcomes_of: Make, capsys: Capture
) -> None:
    arguments = ["suite", "c4", "--only", "simple-20mbps", "--out", str(tmp_path), "--trials"]
    with open_store(tmp_path, [outcomes_of([4.5])]):
        assert main([*arguments, "1000000"]) == 2
    assert (
        capsys.readouterr().err == f"error: another run writes its result to {tmp_path}; choose another folder\n"
    )
    assert main([*arguments, "1"]) == 0


def test_a_name_with_the_signs_of_a_pattern_is_a_name(tmp_path: Path, outcomes_of: Make) -> None:
    folder = tmp_path / "results [1-3]*"
    store(folder, [outcomes_of([4.5], name="a*[b]?"), outcomes_of([4.7], name="ab")])
    assert SuiteResult.load(folder)["a*[b]?"].flows["completion_s"].to_list() == [4.5]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('rate = "20 Mbps"', 'trace = "/etc/passwd"', "trace"),
        ('rtt = "40 ms"', 'rtt = "40 ms"\njitter = { model = "trace", file = "../secret" }', "file"),
    ],
)
def test_a_stored_scenario_that_names_a_file_is_not_replayed(
    old: str, new: str, key: str, tmp_path: Path, outcomes_of: Make, capsys: Capture
) -> None:
    outcomes = outcomes_of([4.5], name="one")
    toml = outcomes.scenario.toml.replace(old, new)
    assert toml != outcomes.scenario.toml
    store(tmp_path, [replace(outcomes, scenario=replace(outcomes.scenario, toml=toml))])
    assert main(["replay", str(tmp_path), "one", "0"]) == 2
    assert f"one: {key} = " in capsys.readouterr().err


@pytest.mark.parametrize("command", [["suite", "c4", "--only", "simple-20mbps", "-n", "1"], ["study", "loopback"]])
def test_a_folder_that_cannot_be_is_one_message(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for folder in (tmp_path / ("a" * 300), tmp_path / "loop" / "x"):
        assert main([*command, "--out", str(folder)]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1
        assert said[0].startswith(f"error: cannot write results to {folder}")
