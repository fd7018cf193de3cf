"""The trials of several stores in one: of shards, or of several machines.

A trial that is there is not taken twice, so a merge that was stopped is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from thalweg.base.errors import RequestError
from thalweg.base.files.folder import homes_of_trials, reserve
from thalweg.base.files.stored import kind_in
from thalweg.base.progress import Progress, silent
from thalweg.trials.store.outcome_store import OutcomeStore
from thalweg.trials.store.trial_files import engines, read, scan
from thalweg.trials.store.trial_store import TrialStore


def merge(folders: Sequence[Path], out: Path, on_progress: Progress = silent) -> int:
    """Puts the trials of some folders into one, which may have some already; how many were new.

    Raises RequestError, and ResultError if a store is damaged.
    """
    steps = [(folder, engine) for folder in folders for engine in engines(folder)]
    for folder in folders:
        if folder not in (one for one, _ in steps):
            raise RequestError(f"{folder} has no trials; accepted: the folder that --out named")
    new = 0
    with reserve(out, kind_in(out) or "suite", lambda *_: (), homes_of_trials(*(engine for _, engine in steps))):
        for number, (folder, engine) in enumerate(steps):
            new += take_trials(folder, OutcomeStore(out, engine))
            on_progress("stores", number + 1, len(steps))
    return new


def take_trials(folder: Path, store: TrialStore) -> int:
    """Copies the trials of the engine of a store that are not there; how many. The caller holds its folder.

    Raises RequestError, and ResultError if one is damaged or has trials of another kind.
    """
    source, new = type(store)(folder, store.engine), 0
    source.load()
    store.load()
    for file in source.files:
        rows = read(file, scan([file]))
        there = store.seeds(rows["point"].unique().to_list())
        if there:
            keep = [seed not in there.get(point, ()) for point, seed in rows.select("point", "seed").iter_rows()]
            rows = rows.filter(pl.Series(keep, dtype=pl.Boolean))
        if rows.height:
            store.write_frame(rows)
            store.know(rows["point"].to_list(), rows["seed"].to_list())
            new += rows.height
    return new
