"""A store of outcomes as text that loses nothing.

The rows of its files, after `point` (a fingerprint), `seed` and `error` (always null: what failed runs again):

    text     the outcome of the trial, or the values of a measure (`base/executor.py`), as JSON
    core_s   the processor time that the trial took

Limits: what this process adds is not read back; it is there for the next run. The texts of two files are in
memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from thalweg import _native
from thalweg.base.errors import ResultError
from thalweg.engine.scenario import Scenario
from thalweg.trials.store.trial_files import of_all, read, scan
from thalweg.trials.store.trial_store import TrialStore
from thalweg.trials.store.writer import Writer

Record = tuple[str, float]
"""A text, and seconds of processor time."""
_CACHED = 2


@dataclass
class OutcomeStore(TrialStore):
    """Outcomes in a folder that the caller holds, open for writing."""

    has_texts = True

    _places: dict[str, list[int]] = field(default_factory=dict, repr=False)
    """The files, by number, with trials of a fingerprint."""
    _cache: dict[int, pl.DataFrame] = field(default_factory=dict, repr=False)
    _rows: list[tuple[str, int, None, str, float]] = field(default_factory=list, repr=False)
    _added: dict[str, set[int]] = field(default_factory=dict, repr=False)
    """The trials of scenarios to which this process has added some, those that were there included."""

    @staticmethod
    @contextmanager
    def opened(folder: Path) -> Iterator[OutcomeStore]:
        """The store in a folder; what was added is written at the end, Ctrl-C or not. Raises RequestError."""
        store = OutcomeStore(folder, _native.engine())
        store.load()
        try:
            yield store
        finally:
            store.writer.write()

    def __post_init__(self) -> None:
        """Nothing waits yet."""
        self.writer = Writer(self._write)

    def load(self) -> None:
        """Reads which trials there are. Raises ResultError."""
        super().load()
        for number, file in enumerate(self.files):
            for point in read(file, scan([file]).select("point").unique())["point"]:
                self._places.setdefault(point, []).append(number)

    def found(self, point: str, seeds: Sequence[int]) -> Mapping[int, Record]:
        """The trials of a scenario that were there at the start, by their seeds. Raises ResultError."""
        found: dict[int, Record] = {}
        for number in self._places.get(point, ()):
            rows = self._frame(number).filter((pl.col("point") == point) & pl.col("seed").is_in(seeds))
            for seed, text, core_s in rows.select("seed", "text", "core_s").iter_rows():
                found.setdefault(seed, (text, core_s))
        return found

    def add(self, point: str, records: Iterable[tuple[int, str, float]]) -> None:
        """Takes trials of a scenario that were not there: seed, text and core_s. Raises RequestError."""
        known = self._added.setdefault(point, set(self.seeds([point]).get(point, ())))
        rows = [(point, seed, None, text, core_s) for seed, text, core_s in records if seed not in known]
        known.update(seed for _, seed, *_ in rows)
        self._rows += rows
        self.writer.write_if_due()

    def _frame(self, number: int) -> pl.DataFrame:
        if number not in self._cache:
            while len(self._cache) >= _CACHED:
                del self._cache[next(iter(self._cache))]
            file = self.files[number]
            rows = read(file, scan([file]).select([*_schema()]))
            if rows.select(pl.col("text", "core_s").null_count()).row(0) != (0, 0) or rows.schema != _schema():
                raise ResultError(f"{file} has rows without outcomes; accepted: a store as it was written")
            self._cache[number] = rows
        return self._cache[number]

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self.write_frame(pl.DataFrame(rows, schema=_schema(), orient="row"))


def _schema() -> dict[str, type[pl.DataType]]:
    return of_all() | {"text": pl.String, "core_s": pl.Float64}


def outcomes_again(scenario: Scenario, seeds: Sequence[int], found: Mapping[int, Record]) -> _native.Outcomes:
    """The outcomes of trials of a scenario, in the order of these seeds. Raises ResultError for another text."""
    try:
        outcomes = scenario.native.gathered([(number, *found[seed]) for number, seed in enumerate(seeds)])
        played = outcomes.trials["seed"]
        assert not isinstance(played, tuple)  # which is a column of words
        if [int(seed) for seed in played] != [*seeds]:
            raise ValueError("an outcome of another seed")
        return outcomes
    except ValueError as error:
        raise ResultError(
            f"the stored trials of {scenario.name} are damaged: {error}; accepted: a store as it was written"
        ) from None
