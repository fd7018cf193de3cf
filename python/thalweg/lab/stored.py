"""What the folder of the lab has to open: results, studies, sweeps, files of other programs; and trials in them.

A result was written by whoever: where it lies is confined to the folder, and what it says is checked by the store
(`results`). The scenario of a sweep is read as one that a page asks for: what it names is in the folder, and
no controller in Python runs unless the lab was told so. A trial is listed with its seed and trace hash: the page
says whether it opens to the same.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.document import DOCUMENT, kind_of
from thalweg.base.files.stored import kind_in
from thalweg.base.quantity import text
from thalweg.engine.catalogue import Entry, find_scenario, list_scenarios
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.comparison.study import StoredStudy
from thalweg.experiments.sweep.result import SweepResult
from thalweg.experiments.sweep.store import TEXT
from thalweg.lab.folder import Folder
from thalweg.lab.foreign import explained, is_listed
from thalweg.results.suite_result import SuiteResult
from thalweg.trials.store.outcome_store import OutcomeStore, outcomes_again

_KINDS = ("suite", "study", "sweep")
"""The experiments that the page opens."""
_DEPTH = 4
_DIGITS = 3
_MOST_FOLDERS = 5_000
_MOST_LISTED = 200
"""Entries of the list: so many results, studies and sweeps, and as many files."""
MOST_TRIALS = 1_000
"""Trials of a scenario, and points of a sweep, that are listed."""


def listed(folder: Folder) -> list[dict[str, str]]:
    """What the folder has to open: `path` below it, and `kind`. Links are not followed."""
    found: list[dict[str, str]] = []
    files: list[dict[str, str]] = []
    waiting = [(folder.path, 0)]
    for visited, (place, depth) in enumerate(waiting):
        if visited == _MOST_FOLDERS or len(found) == _MOST_LISTED:
            break
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
        if DOCUMENT in names and (kind := _kind(place)) in _KINDS:
            found.append({"path": str(place.relative_to(folder.path)), "kind": kind})
            continue
        for entry in islice(filter(is_listed, entries), _MOST_LISTED - len(files)):
            files.append({"path": str(Path(entry.path).relative_to(folder.path)), "kind": "file"})
        if depth < _DEPTH:
            inner = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            waiting += [(Path(entry.path), depth + 1) for entry in inner if not entry.name.startswith(".")]
    return found + files


def _kind(place: Path) -> str:
    """The kind of the experiment in a folder; what cannot be read is of none."""
    try:
        return kind_of(place / DOCUMENT)
    except ResultError:
        return ""


def opened(folder: Folder, path: str) -> dict[str, Any]:
    """The scenarios of a result, study or file, or the points of a sweep, with texts and trials.

    Raises RequestError.
    """
    place = folder.inside(path)
    if place.is_file():
        return explained(place)
    if (place / DOCUMENT).is_file():
        _refuse_links(place)
    kind = kind_in(place)
    if kind == "sweep":
        try:
            return _sweep(folder, place)
        except pl.exceptions.PolarsError as error:
            reason = str(error).partition("\n")[0]
            raise RequestError(f"{place}: the store is damaged: {reason}; accepted: a sweep as it was") from None
    if kind == "study":
        return _study(folder, place)
    result = SuiteResult.load(place)
    standing = result.standing()
    places = standing.scenarios if standing else {}
    scenarios = []
    for outcomes in (*result.outcomes, *result.rivals):
        name = outcomes.scenario.name
        verdict = outcomes.verdict()
        said = places.get(name) or verdict.answer or "no criterion"
        trials = outcomes.trials.head(MOST_TRIALS)
        scenarios.append(
            {
                "name": name,
                "title": outcomes.scenario.title,
                "about": f"{outcomes.n} trials: {said}",
                "toml": outcomes.scenario.toml,
                "seeds": [str(seed) for seed in trials["seed"].to_list()],
                "hashes": trials["trace_hash"].to_list(),
                "criteria": [statistics.document() for statistics in verdict.criteria],
            }
        )
    return {"title": result.title, "version": result.version, "scenarios": scenarios}


def _refuse_links(place: Path) -> None:
    """Refuses a store with files that lie elsewhere, by links of folders too. Raises RequestError."""
    depths = ("*.parquet", "*/*.parquet", "*/*/*.parquet", "*/*.toml")
    tables = (file for depth in depths for file in place.glob(depth))
    for file in (place / DOCUMENT, *tables):
        if os.path.lexists(file) and Path(os.path.realpath(file)) != file:
            raise RequestError(f"{file} is a link, or lies behind one; accepted: a store without links")


def _study(folder: Folder, place: Path) -> dict[str, Any]:
    """The scenarios of a study or a score, with the trials that its store has. Raises RequestError."""
    study = StoredStudy.load(place)
    store = OutcomeStore(place, _native.engine())
    store.load()
    scenarios = []
    for name, toml in study.scenarios().items():
        folder.checked(toml, {})
        resolver = folder.resolver()
        try:
            native = _native.Scenario.from_toml(toml.encode(), name, [], [], resolver)
        except _native.ScenarioError as error:
            raise RequestError(str(error)) from None
        scenario = Scenario(native, name, None, resolver)
        found = store.found(scenario.fingerprint or "", study.seeds[:MOST_TRIALS])
        if not found:
            continue
        seeds = sorted(found)
        outcomes = Outcomes.of(outcomes_again(scenario, seeds, found), scenario.description)
        scenarios.append(
            {
                "name": name,
                "title": scenario.title,
                "about": f"{outcomes.n} trials",
                "toml": scenario.toml,
                "seeds": [str(seed) for seed in seeds],
                "hashes": outcomes.trials["trace_hash"].to_list(),
                "criteria": [],
            }
        )
    return {"title": study.name, "version": study.version, "scenarios": scenarios}


def _base(folder: Folder, reference: str) -> tuple[str, str]:
    """Text and name of the scenario of a sweep: a shipped one, or a file in the folder. Raises RequestError."""
    if reference in list_scenarios():
        entry = find_scenario(reference)
    else:
        file = folder.inside(reference)
        entry = Entry(file.stem, None, file)
    try:
        return entry.read().decode(), entry.file.name
    except UnicodeDecodeError:
        raise RequestError(f"{entry.file}: this is not text in UTF-8; accepted: a scenario") from None


def _scenario(folder: Folder, base: tuple[str, str], result: SweepResult, index: int) -> _native.Scenario:
    """The scenario of a point, confined as those that a page asks for (`thalweg.lab.worker`)."""
    source, name = base
    overrides, controllers = result.given(index)
    if not all(isinstance(part, str) for pair in (*overrides, *controllers) for part in pair):
        raise RequestError(f"{result.folder}: a value of an axis is not text; accepted: a sweep as it was")
    for key, value in overrides:
        folder.checked("", {key: value})
    try:
        return _native.Scenario.from_toml(source.encode(), name, overrides, controllers, folder.resolver())
    except _native.ScenarioError as error:
        raise RequestError(str(error)) from None


def _sweep(folder: Folder, place: Path) -> dict[str, Any]:
    """The points of a sweep, each with the median of its first metric and the trial in the middle."""
    result = SweepResult.load(place)
    base = _base(folder, str(result.head["reference"]))
    folder.checked(base[0], {})
    metric = next((name for name in result.columns if name.endswith(".completion_s")), None)
    if metric is None:
        raise RequestError(
            f"{place}: no trial of this sweep has completed a flow; accepted: a sweep with completions"
        )
    typical = {int(row["index"]): row for row in result.typical(metric).iter_rows(named=True)}
    keys = [str(axis["key"]) for axis in result.head["axes"]]
    medians = result.rows[metric]
    scenarios = []
    for number, row in enumerate(result.points.head(MOST_TRIALS).iter_rows(named=True)):
        trial = typical.get(int(row["index"]))
        if trial is None:
            continue
        scenario = _scenario(folder, base, result, int(row["index"]))
        values = ", ".join(f"{key} {row[f'{TEXT}{key}']}" for key in keys)
        scenarios.append(
            {
                "name": values,
                "title": scenario.title,
                "about": f"the trial in the middle of {metric}",
                "median": text(medians[number], "s", _DIGITS),
                "toml": scenario.toml,
                "seeds": [str(trial["seed"])],
                "hashes": [trial["trace_hash"]],
                "criteria": [],
            }
        )
    return {
        "title": str(result.head["title"]),
        "version": str(result.head["engine"]),
        "metric": metric,
        "scenarios": scenarios,
    }
