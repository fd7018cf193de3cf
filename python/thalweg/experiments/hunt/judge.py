"""What scenarios are worth to a hunt: trials of several at once, and the median of the objective over them."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Failed, Finished
from thalweg.engine.outcome import Outcomes, together
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.hunt.moments import BIN, moments_of
from thalweg.experiments.hunt.objective import Values, of_flow
from thalweg.experiments.hunt.plan import HuntPlan
from thalweg.experiments.hunt.search import Behaviour
from thalweg.judging.verdict import values_of

SETTINGS = [("sample", BIN)]
"""What is set in a scenario while it is judged: series say when something happened, and how long flows starve."""


@dataclass(frozen=True)
class Failure:
    """A scenario in which a trial failed: a controller in Python raised something, or the simulator panicked."""

    text: str
    """The scenario."""
    error: str


@dataclass
class Judge:
    """Asks for trials of scenarios and remembers what came of them: the same scenario is played once."""

    hunt: HuntPlan
    trials: int = 0
    """How many ran, with the ones of reference controllers."""
    core_s: float = 0.0
    """Processor time of these."""
    refused: int = 0
    """Scenarios that cannot be."""
    refusal: str = ""
    """What was wrong with the first of them."""
    failures: list[Failure] = field(default_factory=list)
    _known: dict[str, Values | None] = field(default_factory=dict)
    _metrics: dict[str, float] = field(default_factory=dict)
    _seen: dict[str, Behaviour] = field(default_factory=dict)
    _played: dict[int, list[_native.Outcomes]] = field(default_factory=dict)
    """The parts of each scenario that came: an executor may hand over some trials, and more later."""
    _failed: dict[int, str] = field(default_factory=dict)

    def values(self, documents: Sequence[Mapping[str, Any]]) -> Generator[Batch, None, list[float | None]]:
        """The objective of each scenario; None where it cannot be, or fails.

        What is yielded has been played, and `take` has got the outcomes, when this goes on.
        """
        texts = [scenario_text(document) for document in documents]
        new = {text: doc for text, doc in zip(texts, documents, strict=True) if text not in self._known}
        ready = {text: found for text, doc in new.items() if (found := self._read(doc)) is not None}
        self._known.update(dict.fromkeys(new))
        scenarios = [scenario for pair in ready.values() for scenario in pair]
        if scenarios:
            self._played, self._failed = {}, {}
            yield Batch(scenarios, list(self.hunt.seeds))
            self.trials += len(scenarios) * len(self.hunt.seeds)
        first = 0
        for text, pair in ready.items():
            self._finish(text, pair, range(first, first + len(pair)))
            first += len(pair)
        each = [self._known[text] for text in texts]
        return [None if found is None else float(np.median(found)) for found in each]

    def take(self, result: Finished | Failed) -> None:
        """Gets what came of trials of a batch; a label is the number of its only scenario."""
        number = result.number if result.batch.label is None else result.batch.label
        if isinstance(result, Failed):
            self._failed.setdefault(number, str(result.error))
        else:
            self._played.setdefault(number, []).append(result.outcomes)
            self.core_s += float(np.asarray(result.outcomes.trials["core_s"]).sum())

    def seen(self, document: Mapping[str, Any]) -> Behaviour:
        """What happened in a scenario, without the objective."""
        return self._seen.get(scenario_text(document), Behaviour())

    def each(self, document: Mapping[str, Any]) -> Values:
        """The objective in each trial of a scenario that has been judged."""
        found = self._known[scenario_text(document)]
        assert found is not None
        return found

    def metric(self, document: Mapping[str, Any]) -> float:
        """What the criterion of a scenario that has been judged measures: the median of its trials."""
        return self._metrics[scenario_text(document)]

    def _read(self, document: Mapping[str, Any]) -> list[Scenario] | None:
        """The scenario, and the one of the reference controller if there is one; None if it cannot be."""
        try:
            read = [self.hunt.scenario(document, SETTINGS)]
            if self.hunt.objective.reference:
                read.append(self.hunt.scenario(document, SETTINGS, reference=True))
        except RequestError as error:
            self.refused += 1
            self.refusal = self.refusal or str(error)
            return None
        return read

    def _finish(self, text: str, pair: Sequence[Scenario], numbers: range) -> None:
        """What a scenario is worth, if none of its trials failed."""
        failed = [self._failed[number] for number in numbers if number in self._failed]
        if failed:
            self.failures.append(Failure(text, failed[0]))
            return
        outcomes = [
            together([Outcomes.of(part, scenario.description) for part in self._played.pop(number)])
            for number, scenario in zip(numbers, pair, strict=True)
        ]
        self._known[text] = self.hunt.objective.values(pair[0], *outcomes)
        values = values_of(
            pair[0].criteria[0], outcomes[0].flows, outcomes[0].streams, outcomes[0].scenario.starts_s
        )
        self._metrics[text] = float(np.median(values["value"].to_numpy()))
        flow = self.hunt.objective.flow
        self._seen[text] = Behaviour(niche_of(pair[0], outcomes[0], flow), moments_of(outcomes[0].series(0, flow)))


def niche_of(scenario: Scenario, outcomes: Outcomes, flow: str) -> tuple[int, ...]:
    """What happened to a flow in the first trial, by orders of magnitude, as powers of four.

    Packets lost, spurious losses, probe timeouts, and how far the RTT rose over its least.
    """
    counts = [
        of_flow(scenario, outcomes, flow, name)[0] for name in ("packets_lost", "spurious_losses", "timeouts")
    ]
    least, most = (of_flow(scenario, outcomes, flow, name)[0] for name in ("min_rtt_s", "max_rtt_s"))
    rise = most / least if least > 0 else 1.0
    return (*(_magnitude(1 + count) for count in counts), _magnitude(rise * rise))


def _magnitude(number: float) -> int:
    return int(math.log(number, 4)) if math.isfinite(number) and number >= 1 else 0
