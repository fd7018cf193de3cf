"""Merging the stores of shards into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT
from thalweg.base.files.folder import find_file
from thalweg.base.progress import Progress, silent
from thalweg.experiments.sweep.head import SAME, read_head
from thalweg.experiments.sweep.plan import INLINE
from thalweg.experiments.sweep.result import SweepResult
from thalweg.experiments.sweep.store import POINTS, Store, held
from thalweg.trials.store.merging import take_trials
from thalweg.trials.store.trial_files import engines


def merge(folders: Sequence[Path], out: Path, on_progress: Progress = silent) -> int:
    """Puts the trials of some stores into one, which may have some already; how many were new.

    All are of one plan and one engine. A merge that was stopped is run again. Raises RequestError, and ResultError
    if a folder holds no sweep.
    """
    results = [SweepResult.load(folder) for folder in folders]
    steps = [(result.folder, engine) for result in results for engine in engines(result.folder)]
    first, new = results[0], 0
    with held(out, [engine for _, engine in steps]):
        if (out / DOCUMENT).exists():
            _refuse_other(out, read_head(out)["name"], first, "name")
        for result in results[1:]:
            for key in SAME:
                _refuse_other(result.folder, result.head[key], first, key)
        inline = find_file(first.folder, INLINE) if first.head["reference"].endswith(f"/{INLINE}") else None
        own = {key: value for key, value in first.head.items() if key != "hashes"}
        head = {**own, "reference": str(out / INLINE) if inline else first.head["reference"]}
        points = _points(results, out)
        store = Store(out, first.head["engine"])
        is_whole = _is_whole(out)
        if not is_whole:  # so that a merge that was stopped can be run again
            store.write_document(head)
        for number, (folder, engine) in enumerate(steps):
            new += take_trials(folder, Store(out, engine))
            on_progress("stores", number + 1, len(steps))
        if is_whole:  # last: until here, points of an earlier merge are not lost
            store.write_document(head)
        if inline and first.folder.resolve() != out.resolve():
            store.write_scenario(inline.read_bytes())
        store.write_points(points)
    return new


def _is_whole(out: Path) -> bool:
    """Whether a folder has the points of an earlier merge or run."""
    return (out / DOCUMENT).exists() and "hashes" in read_head(out) and (out / POINTS).exists()


def _points(results: Sequence[SweepResult], out: Path) -> pl.DataFrame:
    """The points of all, and of an earlier merge. Raises RequestError if two stores differ in a point."""
    found = [result.points for result in results]
    if _is_whole(out):
        found.append(SweepResult.load(out).points)
    points = pl.concat(found, how="vertical_relaxed").unique(["index", "point"]).sort("index")
    if points["index"].is_duplicated().any():
        raise RequestError("the stores differ in scenario or controllers; shards must be made of the same files")
    return points


def _refuse_other(folder: Path, value: object, first: SweepResult, key: str) -> None:
    if value != first.head[key]:
        words = {"plan": "another plan", "engine": f"engine {value}", "name": f"scenario {value!r:.60}"}
        raise RequestError(
            f"{folder} holds a sweep of {words.get(key, f'{key} {value!r:.60}')}, not the one of {first.folder}; "
            "all stores need the same plan and engine"
        )
