"""What a worker of a cluster does: trials of scenarios that came as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg import _native
from thalweg.base.errors import ScenarioError
from thalweg.base.memory import keep_blocks
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.trials.portable import Portable


@dataclass(frozen=True)
class Answers:
    """What came of the trials of a batch. Dask packs it at once, but a list element by element."""

    answers: list[dict[str, Any]]
    """The answer to each trial (`Portable.answer`), in order."""


def engine_here() -> str:
    """The engine of this worker."""
    return _native.engine()


def play(engine: str, documents: Sequence[dict[str, Any]], seeds: Sequence[Sequence[int]]) -> Answers | str:
    """Plays trials of each scenario, with seeds of its own; or says what engine is here, if it is another one."""
    if _native.engine() != engine:
        return _native.engine()
    keep_blocks()
    answers: list[dict[str, Any]] = []
    for document, own in zip(documents, seeds, strict=True):
        try:
            scenario = Portable.of(document)
        except ScenarioError as error:
            answers += [{"failed": "ControllerError", "error": str(error)} for _ in own]
            continue
        answers += [scenario.answer(seed) for seed in own]
    return Answers(answers)


def take_from(engine: str, document: dict[str, Any], seed: int, take: Callable[[Trial], Any]) -> tuple[str, Any]:
    """What engine is here and, if it is that one, what `take` makes of a trial with its trace.

    Raises what the trial fails with.
    """
    if _native.engine() != engine:
        return _native.engine(), None
    portable = Portable.of(document)
    scenario = Scenario(portable.native, document["name"], None, portable.resolver)
    return engine, take(scenario.run(seed, trace=True, audit=portable.audited))
