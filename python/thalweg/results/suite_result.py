"""The store of outcomes: one folder for each run of a suite, readable without this program.

    experiment.json         suite, version, host, seeds, times, every scenario file as it ran, hashes of all tables
    <scenario>/flows.parquet, links.parquet, trials.parquet, requests.parquet, streams.parquet
    <scenario>@1/...        the same of the first rival in its place, if there are rivals
    report.html             written by the command line

A scenario is written below a temporary name and renamed when it is whole: whatever interrupts a run,
the scenarios that are there are complete. `experiment.json` is written before the first trial and again
before each scenario is renamed; a folder that it names but that is missing was not finished. An older result stays
until the new one is whole: see `thalweg.base.files.folder`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.document import DOCUMENT, read_hashes
from thalweg.base.files.folder import PARTIAL, ResultFolder, check_name, homes_of_trials, reserve
from thalweg.base.files.seal import hash_of, sealed
from thalweg.base.files.stored import document_in
from thalweg.base.files.whole_file import reason_of, whole_file
from thalweg.engine.outcome import TABLES, Description, Outcomes
from thalweg.judging.verdict import Answer
from thalweg.results import measured
from thalweg.results.described import described
from thalweg.results.measured import Measurement
from thalweg.results.provenance import Provenance, provenance_of
from thalweg.results.tables import check_hashes, check_readable, read_tables

if TYPE_CHECKING:
    from thalweg.results.against.standing import Standing

PAGE = "report.html"


@dataclass
class SuiteResult(Provenance):
    """Outcomes of the scenarios of a suite, and where and when they were measured."""

    suite: str | None
    """Name of the suite; None for a scenario file on its own."""
    title: str
    source: str | None
    seed: int
    outcomes: list[Outcomes] = field(default_factory=list)
    rivals: list[Outcomes] = field(default_factory=list)
    """Outcomes of the same scenarios with rivals in place of the main controller; `scenario.rival` says which."""
    folder: Path | None = None
    """Where it is stored, if it is."""
    is_read: bool = field(default=False, compare=False)
    """Whether it comes from files, and not from trials of now."""
    _standing: tuple[int, Standing | None] | None = field(default=None, init=False, repr=False, compare=False)
    """With how many rivals it was found."""

    @property
    def core_s(self) -> float:
        """Seconds of processor time that all trials took."""
        return sum((outcomes.core_s for outcomes in (*self.outcomes, *self.rivals)), 0.0)

    def add(self, outcomes: Outcomes) -> None:
        """Takes in the outcomes of a scenario, or of a rival in it."""
        (self.rivals if outcomes.scenario.rival else self.outcomes).append(outcomes)

    def __getitem__(self, scenario: str) -> Outcomes:
        """Outcomes of one scenario by its name. Raises RequestError."""
        everything = [*self.outcomes, *self.rivals]
        for outcomes in everything:
            if outcomes.scenario.name == scenario:
                return outcomes
        names = [outcomes.scenario.name for outcomes in everything]
        raise RequestError(
            f"{self.folder or 'the result'} has no scenario {scenario!r}{did_you_mean(scenario, names)}"
        )

    @property
    def controllers(self) -> str:
        """Who played which flows, in words. Competitors may differ by scenario.

        An example is `main, second: gcc; tcp: reno`.
        """
        played: dict[str, dict[str, None]] = {}
        for outcomes in self.outcomes:
            for flow in outcomes.scenario.flows:
                played.setdefault(str(flow["name"]), {})[str(flow["controller"])] = None
        flows: dict[str, list[str]] = {}
        for name, controllers in played.items():
            flows.setdefault(" or ".join(controllers), []).append(name)
        return "; ".join(f"{_some(names)}: {controllers}" for controllers, names in flows.items())

    def answers(self) -> list[Answer | None]:
        """The verdict of each scenario."""
        return [outcomes.verdict().answer for outcomes in self.outcomes]

    def standing(self) -> Standing | None:
        """Where the main controller stands among rivals; None if there are none."""
        if not self.rivals:
            return None
        from thalweg.results.against.standing import stand  # noqa: PLC0415 - which compares results

        if self._standing is None or self._standing[0] != len(self.rivals):
            self._standing = len(self.rivals), stand(self)
        return self._standing[1]

    def head_with(self, trials: int) -> dict[str, Any]:
        """The head of its document, with the trials of each scenario."""
        return self.head("suite", self.suite, self.title, self.source, self.seed, trials, self.core_s)

    def document(self) -> dict[str, Any]:
        """This result as JSON: the document that `--format json` prints."""
        return {
            **self.head_with(max((outcomes.n for outcomes in self.outcomes), default=0)),
            "scenarios": [_scenario_document(outcomes) for outcomes in self.outcomes],
            "flows": self._measured(measured.flows),
            "links": self._measured(measured.links),
            "streams": self._measured(measured.streams),
            **({"against": standing.document()} if (standing := self.standing()) else {}),
        }

    def _measured(self, measure: Callable[[Outcomes], list[Measurement]]) -> list[dict[str, Any]]:
        rows = ((outcomes.scenario.name, row) for outcomes in self.outcomes for row in measure(outcomes))
        return [{"scenario": name, **row.document()} for name, row in rows]

    @staticmethod
    def load(folder: str | Path) -> SuiteResult:
        """Reads a stored result. Raises ResultError if the folder does not hold one."""
        root = Path(folder)
        file, document = document_in(root, "suite")
        scenarios = described(file, document)
        if (hashes := read_hashes(file, document)) is not None:
            check_hashes(root, scenarios, hashes)
        check_readable(root, scenarios)
        found = ((scenario, read_tables(root, scenario)) for scenario in scenarios)
        result = SuiteResult(
            suite=document["name"],
            title=document["title"],
            source=document["source"],
            seed=document["seed"],
            **provenance_of(document),
            folder=root,
            is_read=True,
        )
        for scenario, tables in found:
            if tables is not None:
                result.add(Outcomes(scenario, **tables, handle=None))
        return result


def reserve_result(folder: Path) -> AbstractContextManager[None]:
    """Holds a folder for trials of a result to come. Raises RequestError as `reserve` does."""
    return reserve(folder, "suite", _files, homes_of_trials(_native.engine()))


class Store:
    """Writes a result while it grows. Use it as a context: until its end, no other process writes there."""

    def __init__(self, folder: Path, result: SuiteResult, scenarios: Sequence[Description], trials: int) -> None:
        """Opens a folder for a result.

        Raises RequestError if it cannot be written, holds something else, or another process writes there, and
        if a scenario has a name that no folder in it can have.
        """
        self.folder = folder
        self._result = result
        self._scenarios = scenarios
        self._described = _indented([asdict(scenario) for scenario in scenarios])
        self._trials = trials
        self._hashes: dict[str, str] = {}
        names = [scenario.name for scenario in scenarios]
        for name in names:
            check_name(name)
        homes = [*names, *homes_of_trials(_native.engine())]
        self._place = ResultFolder(folder, "suite", _files, homes, in_place=True)
        try:
            self._write_document()
        except BaseException:
            self._place.close()
            raise
        result.folder = self.root

    @property
    def root(self) -> Path:
        """Where the result is now."""
        return self._place.root

    def add(self, outcomes: Outcomes) -> None:
        """Stores the outcomes of one finished scenario, whole or not at all."""
        name = outcomes.scenario.name
        partial = self.root / PARTIAL
        try:
            partial.mkdir()
            for table in TABLES:
                file = partial / f"{table}.parquet"
                getattr(outcomes, table).write_parquet(file)
                self._hashes[f"{name}/{file.name}"] = hash_of(file)
            # First, so that whenever this is stopped, a scenario that is there has its hashes.
            self._write_document()
            partial.rename(self.root / name)
        except (OSError, pl.exceptions.PolarsError) as error:
            # A disk that fills while Parquet is written is an error of Polars.
            reason = reason_of(error, self.root)
            raise RequestError(f"cannot write {self.root / name}: {reason}") from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def has(self, outcomes: Outcomes) -> bool:
        """Whether the outcomes of a scenario are stored."""
        return (self.root / outcomes.scenario.name).is_dir()

    def finish(self) -> None:
        """The result is whole, and takes the place of an older one. Raises RequestError."""
        self._place.finish()
        self._result.folder = self.root

    def __enter__(self) -> Self:
        """The folder is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets others write. A new result next to an older one is removed if no scenario was finished."""
        if not any((self.root / scenario.name).is_dir() for scenario in self._scenarios):
            self._place.forget()
        self._place.close()

    def _write_document(self) -> None:
        result = self._result
        head = {**result.head_with(self._trials), "hashes": self._hashes}
        # Scenarios are long and stay what they are, so their text is made once.
        members = [f'"{key}": {_indented(value)}' for key, value in head.items()]
        members.append(f'"scenarios": {self._described}')
        text = "{\n  " + ",\n  ".join(members) + "\n}\n"
        with whole_file(self.root / DOCUMENT) as partial:
            partial.write_text(sealed(text), encoding="utf-8")


def _some(names: Sequence[str]) -> str:
    """Names, or the first and the last of many.

    >>> _some(["main", "second"]), _some([f"flow{number}" for number in range(100)])
    ('main, second', 'flow0 to flow99')
    """
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]} to {names[-1]}"


_MOST_NAMES = 6


def _indented(value: object) -> str:
    """JSON of a member of a document, as `json.dumps` with an indent of two would write it there."""
    return json.dumps(value, indent=2).replace("\n", "\n  ")


def _files(file: Path, document: Mapping[str, Any]) -> list[PurePath]:
    """The files of the result with this document."""
    names = [scenario.name for scenario in described(file, document)]
    return [PurePath(name, f"{table}.parquet") for name in names for table in TABLES] + [PurePath(PAGE)]


def _scenario_document(outcomes: Outcomes) -> dict[str, Any]:
    scenario, verdict = outcomes.scenario, outcomes.verdict()
    return {
        "name": scenario.name,
        "title": scenario.title,
        "trials": outcomes.n,
        "seed": outcomes.seed,
        "answer": verdict.answer,
        "floor_s": scenario.floor_s,
        "criteria": [statistics.document() for statistics in verdict.criteria],
        "core_s": round(outcomes.core_s, 3),
    }
