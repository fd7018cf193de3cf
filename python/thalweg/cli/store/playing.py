"""Where the trials of a command run, and what it says about those that a folder had or that other shards have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.executor import Executor
from thalweg.base.files.folder import TRIALS
from thalweg.cli.console import note
from thalweg.trials.choice import chosen
from thalweg.trials.store.outcome_store import OutcomeStore
from thalweg.trials.store.shard import Shard
from thalweg.trials.store.stored import Stored


def shard_of(text: str, out: Path | None) -> Shard:
    """The shard that was asked for. Raises RequestError."""
    shard = Shard.read(text)
    if shard.of > 1 and out is None:
        raise RequestError("--shard requires --out DIR, the folder that keeps its trials")
    return shard


@contextmanager
def storing(folder: Path, jobs: int, cluster: str | None, shard: Shard) -> Iterator[Stored]:
    """An executor that plays what a folder lacks, which the caller holds; says how much was there."""
    with chosen(jobs, cluster) as executor, OutcomeStore.opened(folder) as store:
        stored = Stored(executor, store, shard)
        yield stored
        if stored.present:
            note(f"{stored.present} of {stored.present + stored.played} trials were in {folder} already")


@contextmanager
def playing(folder: Path | None, jobs: int, cluster: str | None, shard: Shard) -> Iterator[Executor]:
    """The same; without a folder nothing is stored."""
    if folder is None:
        with chosen(jobs, cluster) as executor:
            yield executor
        return
    with storing(folder, jobs, cluster, shard) as stored:
        yield stored


def tell_shard(shard: Shard, folder: Path) -> None:
    """Says that a shard is played, and what comes next. A shard without trials leaves a folder that has none."""
    home = folder / TRIALS / _native.engine()
    told = "is in" if home.exists() else "has no trials, since there are more shards than trials; it is in"
    home.mkdir(parents=True, exist_ok=True)
    note(
        f"shard {shard.number} of {shard.of} {told} {folder}; put all together with "
        "thalweg merge DIR... --out ALL, then run the same command with --out ALL and without --shard"
    )
