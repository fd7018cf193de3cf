"""What a hunt has found: the scenario as it was found and as it shrank, and what it does in a sentence."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.hunt.judge import Failure
from thalweg.experiments.hunt.objective import Objective
from thalweg.experiments.hunt.size import leaves, numbers
from thalweg.judging.comparison.row import MARGIN
from thalweg.judging.statistics.interval import Interval
from thalweg.results.provenance import Provenance

Document = dict[str, Any]
_WIDTH = 110
_ORDER = (
    *("title", "note", "overhead", "time_limit", "noise", "path", "link", "transport", "flow", "traffic", "pass"),
    *("name", "controller", "model", "at", "rate", "rtt", "buffer"),
)


@dataclass(frozen=True)
class Replay:
    """A scenario on fresh seeds, and the scenario of the plan on the same ones."""

    at: int
    """Its number in the search, from 1."""
    value: float
    """The objective on the seeds of the search, which chose it."""
    objective: Interval
    """The median on fresh seeds."""
    worse_by: Interval
    """The median difference to the scenario of the plan; the interval allows for how many were replayed."""
    base: Interval
    """The median of the scenario of the plan."""

    @property
    def is_worse(self) -> bool:
        """Whether fresh seeds say so too, and by more than the margin of comparisons."""
        return self.worse_by.low > MARGIN * abs(self.base.value)

    def document(self) -> dict[str, Any]:
        """This as JSON."""
        return {
            "at": self.at,
            "value": _short(self.value),
            "median": _known(self.objective.value),
            "interval95": self.objective.document(),
            "worse_by": _known(self.worse_by.value),
            "worse_by_interval": self.worse_by.document(),
            "baseline": _known(self.base.value),
            "baseline_interval95": self.base.document(),
        }


@dataclass
class Find(Provenance):
    """The worst scenario of a hunt."""

    objective: Objective
    seed: int
    """The seed of the trial in which the shrunk scenario is worst."""
    trials: int
    """Trials of each scenario."""
    baseline: float
    """The objective of the scenario of the plan, without anything that varies."""
    found: Document
    found_value: float
    shrunk: Document
    value: float
    """The objective of the shrunk scenario."""
    at: int = 0
    """Number of the scenario that was found, from 1; 0 for the scenario of the plan itself."""
    tried: int = 0
    """Scenarios of the search."""
    ran: int = 0
    """Trials of search and shrinking."""
    refused: int = 0
    refusal: str = ""
    history: list[float | None] = field(default_factory=list)
    """The objective of each scenario that was tried; None where it could not be, or failed."""
    failures: list[Failure] = field(default_factory=list)
    replays: int = 0
    """Fresh seeds."""
    refuted: list[Replay] = field(default_factory=list)
    """The worst of the search that fresh seeds do not tell from the scenario of the plan."""
    replayed: Replay | None = None
    """The find as it was found; None if nothing was, or before it was replayed."""
    shrunk_replayed: Replay | None = None
    """The find as it shrank."""
    complete: bool = True
    """Whether no Ctrl-C ended search or shrinking."""
    found_seed: int | None = None
    """The seed of the trial in which it is worst as found; None if the shrunk one has the same."""
    name: str = ""
    """The scenario of the plan."""
    title: str = ""
    """Its title."""
    first_seed: int = 1
    """The seed of the first trial of each scenario."""
    search_seed: int = 1
    core_s: float = 0.0
    """Processor time of these trials."""

    @property
    def is_worse(self) -> bool:
        """Whether it is worse than the scenario that the plan began with, on fresh seeds if it was replayed."""
        return self.at > 0

    @property
    def says(self) -> str:
        """The answer of the hunt."""
        if not self.is_worse:
            return "nothing found"
        return "found" if self.shrunk_replayed else "not replayed"

    @property
    def seed_as_found(self) -> int:
        """The seed of the trial in which it is worst as it was found."""
        return self.seed if self.found_seed is None else self.found_seed

    @property
    def sentence(self) -> str:
        """What it does, and where."""
        return sentence(self.objective, self.shrunk, self.value)

    def text(self, document: Document, value: float) -> str:
        """A scenario file with what it is and how to see it."""
        said = sentence(self.objective, document, value)
        seed = self.seed if document is not self.found else self.seed_as_found
        words = f"{said} Found by thalweg hunt; seed {seed} of {self.trials}: see --seed {seed} -n 1."
        head = "\n".join(f"# {line}" for line in textwrap.wrap(words, _WIDTH))
        controller = _flow(document, self.objective.flow).get("controller", "")
        titled = {"title": f"{self.objective.kind} of {controller}, {value:.3g}", "note": said}
        return f"{head}\n{scenario_text(_in_order({**document, **titled}))}"

    def document(self) -> dict[str, Any]:
        """This as JSON."""
        return {
            **self.head("hunt", self.name, self.title, None, self.first_seed, self.trials, self.core_s),
            "search_seed": self.search_seed,
            "says": self.says,
            "objective": self.objective.document(),
            "sentence": self.sentence,
            "worst_seed": self.seed,
            "baseline": _short(self.baseline),
            "found": {"value": _short(self.found_value), "at": self.at, "numbers": count(self.found)},
            "shrunk": {"value": _short(self.value), "numbers": count(self.shrunk)},
            "replays": self.replays,
            "replayed": self.replayed and self.replayed.document(),
            "shrunk_replayed": self.shrunk_replayed and self.shrunk_replayed.document(),
            "refuted": [one.document() for one in self.refuted],
            "scenario": self.text(self.shrunk, self.value) if self.is_worse else None,
            "scenarios": self.tried,
            "trials_ran": self.ran,
            "refused": self.refused,
            "failed": len(self.failures),
            "complete": self.complete,
            "history": [None if value is None else _short(value) for value in self.history],
        }


def _in_order(value: Any) -> Any:
    """As people write scenarios: names first, and the path before the flows."""
    if isinstance(value, list):
        return [_in_order(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    known = [key for key in _ORDER if key in value]
    return {key: _in_order(value[key]) for key in [*known, *(key for key in value if key not in _ORDER)]}


def count(document: Mapping[str, Any]) -> int:
    """The numbers of a scenario, without the numbers of its criteria."""
    return sum(numbers(value) for path, value in leaves(document) if path[0] not in ("title", "note", "pass"))


def sentence(objective: Objective, document: Document, value: float) -> str:
    """What the flow suffers in a scenario, and what the path does meanwhile."""
    own = _flow(document, objective.flow)
    words = [f"{objective.flow} ({own.get('controller')}) {objective.in_words(value)}"]
    path = document.get("path")
    if path:
        words[0] += f" on a path of {_listed(_table_words(path))}"
        for change in path.get("change", []):
            later = {key: inner for key, inner in change.items() if key != "at"}
            words.append(f"at {change.get('at')} {_listed(_table_words(later))}")
    else:
        words[0] += f" over {len(document.get('link', []))} links"
    others = [f"{one['controller']}" for one in document.get("flow", []) if one.get("name") != objective.flow]
    if others:
        words.append(f"next to {_listed(others)}")
    return ", ".join(words) + "."


def _table_words(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key == "change":
            continue
        if isinstance(value, Mapping):
            yield f"{key.replace('_', ' ')} {' '.join(str(inner) for _, inner in leaves(value))}"
        elif key in ("rate", "rtt") and "rate" in table and "rtt" in table:
            yield str(value)
        else:
            yield f"{key.replace('_', ' ')} {value}"


def _listed(words: Any) -> str:
    *most, last = list(words) or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last


def _flow(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return next(entry for entry in document["flow"] if entry.get("name") == name)


def _known(value: float) -> float | None:
    return _short(value) if math.isfinite(value) else None


def _short(value: float) -> float:
    return float(f"{value:.6g}")
