"""A stored sweep as `compare` reads it: the metrics of the flows of each point, by the values of all trials.

All metrics are compared that some trial defines (`results/measured.py`). A completion that never came is infinite;
any other metric leaves out the trials that do not define it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from thalweg.base.errors import ResultError
from thalweg.experiments.comparison.side import Samples, Side
from thalweg.experiments.comparison.study import compare_trials, lost
from thalweg.experiments.sweep.medians import metric_values
from thalweg.experiments.sweep.result import SweepResult
from thalweg.judging.comparison.row import Row, judge
from thalweg.judging.comparison.sample import Sample
from thalweg.results import measured

_SUBJECT = "flow."
_METRICS = {metric.column: metric for metric in (*measured.FLOW, *measured.LIMITED)}


@dataclass(frozen=True)
class StoredSweep(Side):
    """A sweep."""

    kind = "sweep"
    result: SweepResult
    is_short = False

    @staticmethod
    def load(folder: Path) -> StoredSweep:
        """The sweep in a folder. Raises ResultError."""
        result = SweepResult.load(folder)
        return StoredSweep(folder, str(result.head["version"]), int(result.head["seed"]), result)

    @property
    def about(self) -> str:
        """Which scenario it varies."""
        return f"sweep of {self.result.head['name']}, version {self.version}"

    @cached_property
    def _samples(self) -> Samples:
        points, found = self._points(), {}
        columns = [name for name in self.result.columns if name.startswith(_SUBJECT)]
        for name, values in metric_values(columns, self.result.measured):
            flow, _, column = name.removeprefix(_SUBJECT).rpartition(".")
            metric = _METRICS[column]
            trials = values.sort("seed").with_columns(pl.col("value").cast(pl.Float64))
            for (index,), part in trials.partition_by("index", as_dict=True, include_key=False).items():
                sample = Sample(metric.name, part, flow, unit=metric.unit, better=metric.better)
                found[points[int(str(index))], sample.subject] = sample
        return dict(sorted(found.items(), key=lambda item: self._order[item[0][0]]))

    def samples(self) -> Samples:
        """The metrics of flows of each point."""
        return self._samples

    def rows(self, b: StoredSweep, margin: float, *, of_a: bool = False) -> list[Row]:
        """Each metric of a flow at the points that both have."""
        rows = compare_trials(self.samples(), b.samples(), margin, of_a=of_a)
        if not rows:
            raise ResultError(f"{self.folder} and {b.folder} have no point with the same metric in common")
        return judge(rows)

    def lacking(self, b: StoredSweep) -> list[str]:
        """The points that b lacks, and the metrics that no trial has there."""
        theirs = {*b._points().values()}
        points = [words for words in self._points().values() if words not in theirs]
        gone = {*points}
        own = {key: sample for key, sample in self.samples().items() if key[0] not in gone}
        return points + lost(own, b.samples())

    @cached_property
    def _order(self) -> dict[str, int]:
        return {words: number for number, words in enumerate(self._points().values())}

    def _points(self) -> dict[int, str]:
        """Each point in words, by its number."""
        keys = [axis["key"] for axis in self.result.head["axes"]]
        columns = [self.result.texts(key) for key in keys]
        words = (
            ", ".join(f"{key} = {text}" for key, text in zip(keys, row, strict=True))
            for row in zip(*columns, strict=True)
        )
        return dict(zip(self.result.points["index"], words, strict=True))
