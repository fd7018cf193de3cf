"""The store of outcomes: one folder for each run of a suite, readable without this program.

    metadata.json           suite, version, host, seeds, times, and every scenario file as it ran
    <scenario>/flows.parquet, links.parquet, trials.parquet, requests.parquet
    report.html             written by the command line

A scenario is written below a temporary name and renamed when it is whole: whatever interrupts a run,
the scenarios that are there are complete. `metadata.json` is written before the first trial and again
after each scenario; a folder that it names but that is missing was not finished.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from thalweg import _native
from thalweg.errors import RequestError, did_you_mean
from thalweg.host import host
from thalweg.outcome import Description, Outcomes
from thalweg.verdict import Answer
from thalweg.whole_file import whole_file

FORMAT = "thalweg-result/1"
_METADATA = "metadata.json"
_TABLES = ("flows", "links", "trials", "requests")


@dataclass
class SuiteResult:
    """Outcomes of the scenarios of a suite, and where and when they came to be."""

    suite: str | None
    """Name of the suite; None for a scenario file on its own."""
    title: str
    source: str | None
    seed: int
    version: str = field(default_factory=_native.version)
    host: dict[str, Any] = field(default_factory=host)
    started: str = field(default_factory=lambda: datetime.now().astimezone().isoformat(timespec="seconds"))
    wall_s: float = 0.0
    outcomes: list[Outcomes] = field(default_factory=list)
    folder: Path | None = None
    """Where it is stored, if it is."""

    @property
    def core_s(self) -> float:
        """Seconds of processor time that all trials took."""
        return sum((outcomes.core_s for outcomes in self.outcomes), 0.0)

    def __getitem__(self, scenario: str) -> Outcomes:
        """Outcomes of one scenario by its name. Raises RequestError."""
        for outcomes in self.outcomes:
            if outcomes.scenario.name == scenario:
                return outcomes
        names = [outcomes.scenario.name for outcomes in self.outcomes]
        raise RequestError(
            f"{self.folder or 'the result'} has no scenario {scenario!r}{did_you_mean(scenario, names)}"
        )

    def answers(self) -> list[Answer | None]:
        """The verdict of each scenario."""
        return [outcomes.verdict().answer for outcomes in self.outcomes]

    def document(self) -> dict[str, Any]:
        """This result as JSON: the document that `--format json` prints."""
        return {
            "suite": self.suite,
            "version": self.version,
            "host": self.host,
            "wall_s": round(self.wall_s, 3),
            "core_s": round(self.core_s, 3),
            "scenarios": [_scenario_document(outcomes) for outcomes in self.outcomes],
        }

    @staticmethod
    def load(folder: str | Path) -> SuiteResult:
        """Reads a stored result. Raises RequestError if the folder does not hold one."""
        root = Path(folder)
        metadata = _read_metadata(root)
        try:
            outcomes = []
            for scenario in metadata.pop("scenarios"):
                description = Description(**scenario)
                home = root / description.name
                if home.is_dir():
                    flows, links, trials, requests = (
                        pl.read_parquet(home / f"{table}.parquet") for table in _TABLES
                    )
                    outcomes.append(Outcomes(description, flows, links, trials, requests))
            known = {key: metadata[key] for key in ("suite", "title", "source", "seed")}
            made = {key: metadata[key] for key in ("version", "host", "started", "wall_s")}
        except (KeyError, TypeError, OSError, pl.exceptions.PolarsError) as error:
            raise RequestError(f"{root}: the result is damaged: {error}") from None
        return SuiteResult(**known, **made, outcomes=outcomes, folder=root)


class Store:
    """Writes a result while it grows."""

    def __init__(self, folder: Path, result: SuiteResult, scenarios: list[Description], trials: int) -> None:
        """Opens a folder for a result; one that holds an older result is emptied of it first.

        Raises RequestError if the folder cannot be written or holds something else.
        """
        self.folder = folder
        self._result = result
        self._scenarios = scenarios
        self._trials = trials
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._clear()
            self._write_metadata()
        except OSError as error:
            raise RequestError(f"cannot write results to {folder}: {error.strerror or error}") from None
        result.folder = folder

    def add(self, outcomes: Outcomes) -> None:
        """Stores the outcomes of one finished scenario, whole or not at all."""
        name = outcomes.scenario.name
        partial = self.folder / f".{name}.partial"
        try:
            partial.mkdir(exist_ok=True)
            for table in _TABLES:
                getattr(outcomes, table).write_parquet(partial / f"{table}.parquet")
            partial.rename(self.folder / name)
            self._write_metadata()
        except (OSError, pl.exceptions.PolarsError) as error:
            # A disk that fills while Parquet is written is an error of Polars.
            reason = getattr(error, "strerror", None) or error
            raise RequestError(f"cannot write {self.folder / name}: {reason}") from None
        finally:
            self._discard_partial()

    def _discard_partial(self) -> None:
        """Removes what a failed or interrupted write left."""
        for partial in self.folder.glob(".*.partial"):
            shutil.rmtree(partial, ignore_errors=True)

    def _clear(self) -> None:
        if not any(self.folder.iterdir()):
            return
        if not (self.folder / _METADATA).exists():
            raise RequestError(f"{self.folder} is not empty and holds no result; choose another folder")
        old = _read_metadata(self.folder)
        (self.folder / _METADATA).unlink()
        for scenario in old["scenarios"]:
            shutil.rmtree(self.folder / scenario["name"], ignore_errors=True)
        self._discard_partial()

    def _write_metadata(self) -> None:
        result = self._result
        metadata = {
            "format": FORMAT,
            "suite": result.suite,
            "title": result.title,
            "source": result.source,
            "version": result.version,
            "host": result.host,
            "seed": result.seed,
            "trials": self._trials,
            "started": result.started,
            "wall_s": round(result.wall_s, 3),
            "core_s": round(result.core_s, 3),
            "scenarios": [asdict(description) for description in self._scenarios],
        }
        with whole_file(self.folder / _METADATA) as partial:
            partial.write_text(json.dumps(metadata, indent=2) + "\n", encoding="utf-8")


def _read_metadata(folder: Path) -> dict[str, Any]:
    try:
        metadata = json.loads((folder / _METADATA).read_text(encoding="utf-8"))
    except FileNotFoundError:
        missing = "there is no such folder" if not folder.exists() else f"it has no {_METADATA}"
        if (folder / "study.json").exists():
            missing = f"it holds a study; its page is {folder / 'report.html'}"
        raise RequestError(f"{folder} is not a result: {missing}") from None
    except OSError as error:
        raise RequestError(f"{folder} is not a result: {error.strerror}") from None
    except ValueError as error:
        raise RequestError(f"{folder / _METADATA}: {error}") from None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise RequestError(f"{folder} is not a result that this version reads ({FORMAT})")
    return metadata


def _scenario_document(outcomes: Outcomes) -> dict[str, Any]:
    scenario, verdict = outcomes.scenario, outcomes.verdict()
    return {
        "name": scenario.name,
        "title": scenario.title,
        "trials": outcomes.n,
        "seed": outcomes.seed,
        "verdict": verdict.answer,
        "floor_s": scenario.floor_s,
        "criteria": [statistics.document() for statistics in verdict.criteria],
        "core_s": round(outcomes.core_s, 3),
    }
