"""The store: results are read back as written, and a scenario is never partial."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from thalweg.base.errors import RequestError
from thalweg.base.files.document import HEAD
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.comparison.study import StoredStudy
from thalweg.experiments.sweep.result import SweepResult
from thalweg.results.suite_result import Store, SuiteResult
from unsealing import unseal

Make = Callable[..., Outcomes]


def store(folder: Path, planned: list[Outcomes], finished: int) -> SuiteResult:
    """Stores the first `finished` of the planned outcomes."""
    result = SuiteResult("c4", "A suite", "a document", seed=1)
    scenarios = [outcomes.scenario for outcomes in planned]
    with Store(folder, result, scenarios, trials=planned[0].n) as opened:
        for outcomes in planned[:finished]:
            opened.add(outcomes)
            result.outcomes.append(outcomes)
        if finished == len(planned):
            opened.finish()
    return result


def test_a_stored_result_reads_back_as_it_was(tmp_path: Path, outcomes_of: Make) -> None:
    written = store(tmp_path / "r", [outcomes_of([4.5, float("nan")])], finished=1)
    read = SuiteResult.load(tmp_path / "r")
    assert read.document() == written.document()
    assert read["hand-made"].flows.equals(written.outcomes[0].flows)
    assert read["hand-made"].scenario == written.outcomes[0].scenario


def test_a_stored_call_reads_back_with_its_streams(tmp_path: Path) -> None:
    outcomes = Scenario.load("c4/media-10mbps").trials(2)
    written = store(tmp_path / "r", [outcomes], finished=1)
    read = SuiteResult.load(tmp_path / "r")
    assert read["media-10mbps"].streams.equals(outcomes.streams)
    assert read["media-10mbps"].streams.height == 2 * 3  # audio, video and video-high of each trial
    assert read["media-10mbps"].verdict() == outcomes.verdict()
    assert read.document() == written.document()


def test_a_document_of_another_version_is_refused(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path / "r", [outcomes_of([4.5])], finished=1)
    file = tmp_path / "r" / "experiment.json"
    unseal(file)
    file.write_text(
        file.read_text(encoding="utf-8").replace("thalweg-experiment/1", "thalweg-experiment/0"), "utf-8"
    )
    with pytest.raises(
        RequestError, match=r"not an experiment that this version reads \(thalweg-experiment/1\); run it again$"
    ):
        SuiteResult.load(tmp_path / "r")


@pytest.mark.parametrize("name", ["metadata.json", "study.json", "sweep.json"])
def test_what_an_earlier_version_stored_has_one_message(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}", encoding="utf-8")
    for load in (SuiteResult.load, StoredStudy.load, SweepResult.load):
        with pytest.raises(
            RequestError, match=f"{name} is of an earlier version; run it again into another folder$"
        ):
            load(tmp_path)


def test_an_interrupted_run_keeps_exactly_the_finished_scenarios(tmp_path: Path, outcomes_of: Make) -> None:
    planned = [outcomes_of([4.5], name=name) for name in ("one", "two", "three")]
    store(tmp_path / "r", planned, finished=2)
    (tmp_path / "r" / ".three.partial").mkdir()  # what kill -9 leaves of a scenario being written
    assert [outcomes.scenario.name for outcomes in SuiteResult.load(tmp_path / "r").outcomes] == ["one", "two"]


def test_a_new_run_replaces_an_older_result_but_no_other_folder(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path / "r", [outcomes_of([4.5], name="old")], finished=1)
    (tmp_path / "r" / "mine.txt").write_text("kept", encoding="utf-8")
    store(tmp_path / "r", [outcomes_of([4.5], name="new")], finished=1)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["experiment.json", "mine.txt", "new"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(RequestError, match="is not empty and holds no suite"):
        store(tmp_path / "other", [outcomes_of([4.5])], finished=0)


def test_metadata_holds_all_that_is_needed_to_run_the_trials_again(tmp_path: Path, outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.5, 4.6])
    store(tmp_path / "r", [outcomes], finished=1)
    text = (tmp_path / "r" / "experiment.json").read_text(encoding="utf-8")
    metadata = json.loads(text)
    assert text == json.dumps(metadata, indent=2) + "\n"  # its parts are made apart
    assert metadata["scenarios"][0]["toml"] == outcomes.scenario.toml
    assert (metadata["seed"], metadata["trials"]) == (1, 2)
    assert [*HEAD] == [*metadata][: len(HEAD)]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "has no experiment.json"),
        ("", "experiment.json: this is not JSON"),
        ("{", "experiment.json"),
        ('{"format": "other"}', "not an experiment that"),
    ],
)
def test_a_folder_without_a_result_is_refused(tmp_path: Path, metadata: str | None, message: str) -> None:
    if metadata is not None:
        (tmp_path / "experiment.json").write_text(metadata, encoding="utf-8")
    with pytest.raises(RequestError, match=message):
        SuiteResult.load(tmp_path)


def test_a_damaged_table_is_one_message(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path / "r", [outcomes_of([4.5])], finished=1)
    (tmp_path / "r" / "hand-made" / "flows.parquet").write_bytes(b"not parquet")
    with pytest.raises(RequestError, match="damaged"):
        SuiteResult.load(tmp_path / "r")


@pytest.mark.parametrize(("table", "column"), [("flows", "mean_rate_bps"), ("links", "utilisation")])
def test_words_in_a_column_of_numbers_are_refused(table: str, column: str, tmp_path: Path) -> None:
    store(tmp_path / "r", [Scenario.load("c4/media-10mbps").trials(2)], finished=1)
    file = tmp_path / "r" / "media-10mbps" / f"{table}.parquet"
    pl.read_parquet(file).with_columns(pl.lit("fast").alias(column)).write_parquet(file)
    unseal(tmp_path / "r" / "experiment.json")
    with pytest.raises(RequestError, match=f"{table}.parquet: {column} holds String; accepted: numbers"):
        SuiteResult.load(tmp_path / "r")
