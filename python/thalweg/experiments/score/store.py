"""A stored score: a folder like a study's, which `thalweg compare` compares with others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from thalweg.experiments.score.document import Score
from thalweg.experiments.score.figures import LEAST_SHARE, RATE, RTT, of_stream
from thalweg.experiments.studies.runner.folder import samples_table, write_study_files
from thalweg.experiments.studies.runner.portable import portable
from thalweg.experiments.studies.runner.result import Row, StudyResult

_NUMBERS = (RATE, RTT, "loss", LEAST_SHARE)


def save(scored: Score, folder: Path) -> None:
    """Writes the rows, the scenarios and the values of all trials, in place of an older score.

    Raises RequestError.
    """
    document = scored.document
    name, suite, seed = document["controller"]["name"], str(document["name"]), document["seed"]
    result = StudyResult(
        "score", document["title"], suite, name, document["trials"], seed, command=document["command"]
    )
    result.rows = list(_rows(scored))
    result.settings = {"suite": suite, **{key: str(document[key]) for key in ("baseline", "seed_set")}}
    files: dict[str, bytes] = {}
    scenarios = {name: portable(scenario, files) for name, scenario in scored.scenarios.items()}
    write_study_files(folder, result, scenarios, samples_table(scored.samples, seed), named=files)


def _rows(scored: Score) -> Iterator[Row]:
    for half in ("open", "held_back"):
        for row in scored.document[half]["scenarios"]:
            numbers = {key: (row.get(key) or {}).get("value") for key in _NUMBERS}
            numbers |= {"score": row["score"], "taken": row.get("taken")}
            for stream in row.get("streams", []):
                named = ((column, of) for column, of in stream.items() if column != "stream")
                numbers |= {of_stream(stream["stream"], column): (of or {}).get("value") for column, of in named}
            yield {"half": half, "scenario": row["name"], **numbers}
