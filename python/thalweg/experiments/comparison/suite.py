"""A stored suite as `compare` reads it: its criteria, or what its flows and streams have without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.experiments.comparison.side import Samples, Side
from thalweg.judging.comparison.failures import Failures
from thalweg.judging.comparison.row import Row
from thalweg.results.comparison import suites
from thalweg.results.comparison.traded import Traded, traded
from thalweg.results.suite_result import SuiteResult


@dataclass(frozen=True)
class StoredSuite(Side):
    """A suite, or a run."""

    kind = "suite"
    result: SuiteResult

    @staticmethod
    def of(result: SuiteResult, folder: Path) -> StoredSuite:
        """A suite that was read from a folder."""
        return StoredSuite(folder, result.version, result.seed, result)

    @staticmethod
    def load(folder: Path) -> StoredSuite:
        """The suite in a folder. Raises ResultError."""
        return StoredSuite.of(SuiteResult.load(folder), folder)

    @property
    def about(self) -> str:
        """Who played which flows, and when."""
        return f"{self.result.controllers} ({self.result.started}, version {self.version})"

    def samples(self) -> Samples:
        """The first criterion on each subject of each scenario."""
        return {
            (outcomes.scenario.name, subject): one
            for outcomes in self.result.outcomes
            for subject, one in suites.by_subject(outcomes).items()
        }

    def rows(self, b: StoredSuite, margin: float, *, of_a: bool = False) -> list[Row]:
        """Each criterion that both have."""
        return suites.compare_results(self.result, b.result, margin, of_a=of_a)

    def lacking(self, b: StoredSuite) -> list[str]:
        """The scenarios that b lacks."""
        return suites.missing(self.result, b.result)

    def failures(self, b: StoredSuite) -> list[Failures]:
        """How often each criterion fails in both."""
        return suites.compare_failures(self.result, b.result)

    def traded(self, b: StoredSuite, rows: Sequence[Row]) -> list[Traded]:
        """What calls paid in rate for being better."""
        return traded(rows, self.result, b.result)
