"""The store: what is written is what is read, and never half a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from thalweg.errors import RequestError
from thalweg.outcome import Outcomes
from thalweg.store.results import Store, SuiteResult

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


def test_an_interrupted_run_keeps_exactly_the_finished_scenarios(tmp_path: Path, outcomes_of: Make) -> None:
    planned = [outcomes_of([4.5], name=name) for name in ("one", "two", "three")]
    store(tmp_path / "r", planned, finished=2)
    (tmp_path / "r" / ".three.partial").mkdir()  # what kill -9 leaves of a scenario being written
    assert [outcomes.scenario.name for outcomes in SuiteResult.load(tmp_path / "r").outcomes] == ["one", "two"]


def test_a_new_run_replaces_an_older_result_but_no_other_folder(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path / "r", [outcomes_of([4.5], name="old")], finished=1)
    (tmp_path / "r" / "mine.txt").write_text("kept", encoding="utf-8")
    store(tmp_path / "r", [outcomes_of([4.5], name="new")], finished=1)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["metadata.json", "mine.txt", "new"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(RequestError, match="is not empty and holds no result"):
        store(tmp_path / "other", [outcomes_of([4.5])], finished=0)


def test_metadata_holds_all_that_is_needed_to_run_the_trials_again(tmp_path: Path, outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.5, 4.6])
    store(tmp_path / "r", [outcomes], finished=1)
    metadata = json.loads((tmp_path / "r" / "metadata.json").read_text(encoding="utf-8"))
    assert metadata["scenarios"][0]["toml"] == outcomes.scenario.toml
    assert (metadata["seed"], metadata["trials"]) == (1, 2)
    assert {"suite", "version", "host", "started", "wall_s", "core_s"} <= metadata.keys()


@pytest.mark.parametrize(
    ("metadata", "message"),
    [(None, "has no metadata.json"), ("{", "metadata.json"), ('{"format": "other"}', "not a result that")],
)
def test_a_folder_that_is_no_result_is_refused(tmp_path: Path, metadata: str | None, message: str) -> None:
    if metadata is not None:
        (tmp_path / "metadata.json").write_text(metadata, encoding="utf-8")
    with pytest.raises(RequestError, match=message):
        SuiteResult.load(tmp_path)


def test_a_damaged_table_is_one_message(tmp_path: Path, outcomes_of: Make) -> None:
    store(tmp_path / "r", [outcomes_of([4.5])], finished=1)
    (tmp_path / "r" / "hand-made" / "flows.parquet").write_bytes(b"not parquet")
    with pytest.raises(RequestError, match="damaged"):
        SuiteResult.load(tmp_path / "r")
