"""The document: figures of every scenario with CUBIC's, a score for each half, and what disqualifies.

The score of a trial is ln(rate / CUBIC's) - ln(RTT / CUBIC's), the logarithm of Kleinrock's power against CUBIC's
on the same seed: 0 is as good as CUBIC, 0.1 about 10 % better in one of the two. The score of a scenario is the
mean over its trials, the score of a half the mean over its scenarios. Losses, what is taken and least shares do
not count: they are figures, and guards. Nor do the streams of a call: they are figures.

A score comes with Student's interval over seeds: for a half over the means that each seed has over all
scenarios. It tells what other seeds would change, and not what other scenarios would.

The document has the head of all experiments without host and times, and no path of the machine but the words of
the command: the same command, file and version give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.base.errors import ControllerError
from thalweg.base.executor import Executor
from thalweg.base.progress import Progress, silent
from thalweg.base.seeds import first_seed
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.score.figures import LEAST_SHARE, RATE, RTT, Figures, taken
from thalweg.experiments.score.guards import LIMITS, GuardViolation, violations
from thalweg.experiments.score.scenarios import Variant, halves
from thalweg.judging.statistics.interval import Values
from thalweg.judging.statistics.means import mean_interval
from thalweg.results.provenance import Provenance, repeatable
from thalweg.trials.gathering import outcomes_of
from thalweg.trials.threads import Threads

BASELINE = "cubic"


@dataclass(frozen=True)
class Score:
    """A controller that was scored."""

    document: dict[str, Any]
    scenarios: Mapping[str, Scenario]
    """The scenarios that it ran, by their names."""
    samples: Mapping[str, Mapping[str, Values]]
    """Rate, RTT and the numbers of streams of each trial, by the scenarios in which none failed."""


def score(
    controller: str,
    suite: str = "search",
    trials: int = 4,
    seed: int = 1,
    on_progress: Progress = silent,
    executor: Executor | None = None,
    command: str = "",
) -> Score:
    """How a controller does on both halves of a suite, against CUBIC. Raises RequestError if it cannot be read.

    `controller` is a name or a file (`./mine.py:Mine:beta=0.8`), `seed` the number of a set of seeds. A
    controller that fails in a trial is disqualified. By default trials run in this process: others take longer to
    start than these to run. `command` is what to type to run it again.
    """
    of = Suite.find(suite)
    opened, held_back = halves(of, seed)
    variants = [*opened, *held_back]
    # Read before anything runs: what cannot be read is refused.
    scenarios = [variant.bound(name) for name in (controller, BASELINE) for variant in variants]
    first, total = first_seed(seed), len(scenarios) * trials

    def progress(finished: int) -> None:
        on_progress(scenarios[min(finished // trials, len(scenarios) - 1)].name, finished, total)

    outcomes = outcomes_of(executor or Threads(), scenarios, range(first, first + trials), progress)
    found: list[GuardViolation] = []
    samples: dict[str, Mapping[str, Values]] = {}
    rows, each = [], []
    for number, variant in enumerate(variants):
        row, scores = _scenario(variant, outcomes[number], outcomes[len(variants) + number], found, samples)
        rows.append(row)
        each.append(scores)

    def half(part: slice) -> dict[str, Any]:
        scored = [scores for scores in each[part] if scores is not None]
        return {
            **_scored(mean_of(scored) if len(scored) == len(each[part]) else None),
            "scenarios": rows[part],
        }

    parts = {"open": half(slice(len(opened))), "held_back": half(slice(len(opened), None))}
    kept = [source["sha256"] for source in scenarios[0].description.controllers]
    made = Provenance(command=command)
    document = {
        **repeatable(made.head("score", of.name, f"Score of {controller}", of.source, first, trials)),
        "score": None if found else parts["open"]["score"],
        "interval95": [None, None] if found else parts["open"]["interval95"],
        "disqualified": [guard.document() for guard in found],
        "controller": {"name": controller, "sha256": kept[0] if kept else None},
        "baseline": BASELINE,
        "seed_set": seed,
        "guards": LIMITS,
        **parts,
    }
    return Score(document, dict(zip((one.name for one in variants), scenarios, strict=False)), samples)


def _scenario(
    variant: Variant,
    of_controller: Outcomes | Exception,
    of_cubic: Outcomes | Exception,
    found: list[GuardViolation],
    samples: dict[str, Mapping[str, Values]],
) -> tuple[dict[str, Any], Values | None]:
    row: dict[str, Any] = {"name": variant.name, "keys": dict(variant.drawn)}
    if isinstance(of_cubic, Exception):
        raise of_cubic
    if isinstance(of_controller, ControllerError):
        found.append(GuardViolation("failed", variant.name, str(of_controller)))
        return {**row, **_scored(None)}, None
    if isinstance(of_controller, Exception):
        raise of_controller
    mine, cubic = Figures.of(of_controller), Figures.of(of_cubic)
    found.extend(violations(variant.name, mine, cubic))
    scores = scores_of(mine, cubic)
    samples[variant.name] = {
        RATE: mine.rates,
        RTT: mine.rtts,
        **mine.stream_values,
    }
    document = {
        **row,
        **_scored(scores),
        RATE: _against(mine.rate, cubic.rate),
        RTT: _against(mine.rtt, cubic.rtt),
        "loss": _against(mine.loss, cubic.loss),
        "taken": _rounded(taken(mine, cubic)),
        LEAST_SHARE: _against(mine.least_share, cubic.least_share),
    }
    if mine.streams:
        document["streams"] = [
            {
                "stream": name,
                **{column: _against(value, cubic.streams[name].get(column)) for column, value in own.items()},
            }
            for name, own in mine.streams.items()
        ]
    return document, scores


def scores_of(mine: Figures, cubic: Figures) -> Values | None:
    """The score of each trial of a scenario; None if CUBIC moves nothing in one of them.

    A flow without a rate has one bit per second, and the RTT of CUBIC.
    """
    if not (cubic.rates > 0).all() or not (cubic.rtts > 0).all():
        return None
    rtts = np.where(mine.rtts > 0, mine.rtts, cubic.rtts)
    scores: Values = np.log(np.maximum(mine.rates, 1.0) / cubic.rates) - np.log(rtts / cubic.rtts)
    return scores


def score_of(mine: Figures, cubic: Figures) -> float | None:
    """The score of a scenario; None if CUBIC moves nothing in one of its trials."""
    scores = scores_of(mine, cubic)
    return None if scores is None else float(scores.mean())


def mean_of(scenarios: Sequence[Values]) -> Values:
    """The score of each seed: the mean over scenarios."""
    means: Values = np.mean(np.stack(scenarios), axis=0)
    return means


def _scored(scores: Values | None) -> dict[str, Any]:
    """The score of trials, with its interval; `null` where it has no bounds."""
    if scores is None:
        return {"score": None, "interval95": [None, None]}
    interval = mean_interval(scores)
    low, high = interval.document()
    return {"score": _rounded(interval.value), "interval95": [_rounded(low), _rounded(high)]}


def _against(mine: float | None, cubic: float | None) -> dict[str, float | None] | None:
    if mine is None or cubic is None:
        return None
    ratio = mine / cubic if cubic else None
    return {"value": _rounded(mine), "cubic": _rounded(cubic), "ratio": _rounded(ratio)}


def _rounded(value: float | None) -> float | None:
    """Six digits: more are noise to whoever reads, and less to a search.

    >>> _rounded(1234567.8), _rounded(None)
    (1234570.0, None)
    """
    return None if value is None else float(f"{value:.6g}")
