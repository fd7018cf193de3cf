"""The study `stacks`: the scenarios of one flow on the modelled endpoint and on a real QUIC stack.

Every scenario of the suite `c4` with one flow runs three times: on the modelled endpoint as it is shipped
(`model`), on the modelled endpoint with flow-control windows as wide as those of the stack (`wide`), and on the
stack (`quic`). The number compared is that of the first criterion of the scenario: closed or completion of a
transfer, mean delay of a media stream.

What is judged: where the path has no jitter, the median on the stack lies within 5 % of the median on the
modelled endpoint with the same windows. Where it has jitter, the two stacks part ways within milliseconds, and
distributions are shown, not judged.

Limits: what both stacks get wrong in the same way is not found. They share the code that measures delivery
rates; packets, acknowledgements, loss recovery, pacing and streams are each stack's own.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from thalweg.catalogue import Suite
from thalweg.outcome import Outcomes
from thalweg.scenario import Interrupted, Scenario
from thalweg.studies import STUDIES
from thalweg.studies.medians import Times
from thalweg.studies.result import Check, Row, StudyResult
from thalweg.verdict import column_of, percentile

NAME = "stacks"
SOURCE = "cross-validation of the modelled endpoint; scenarios of draft-huitema-ccwg-c4-test"
TOLERANCE = 0.05
"""Of the medians, where the path has no jitter."""
_WIDE = {"transport.initial_max_stream_data": "128 MiB", "transport.initial_max_data": "1 GiB"}
VARIANTS: dict[str, dict[str, str]] = {
    "model": {},
    "wide": _WIDE,
    "quic": {"flow.*.stack": "quic"},
}
"""What each of the three sets in a scenario."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Cell:
    """One scenario on all stacks."""

    name: str
    controller: str
    scenarios: dict[str, Scenario]
    values: dict[str, Times]
    """The compared number of each trial, infinite where it did not finish."""


@dataclass
class Stacks:
    """A finished study."""

    result: StudyResult
    cells: list[Cell] = field(default_factory=list)
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""


def scenarios() -> list[str]:
    """The scenarios of one flow, in the order of the suite.

    >>> scenarios()[:2], "c4-short" in scenarios()
    (['simple-20mbps', 'simple-200mbps'], False)
    """
    suite = Suite.find("c4")
    return [entry.name for entry in suite.entries if len(Scenario.from_entry(entry).flows) == 1]


def run(
    controllers: tuple[str, ...] = ("c4",),
    names: tuple[str, ...] | None = None,
    trials: int = 20,
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress | None = None,
) -> Stacks:
    """Runs all scenarios with all controllers, `trials` each. Raises RequestError.

    >>> done = run(names=("simple-20mbps",), trials=2)
    >>> done.result.rows[0]["scenario"], done.result.checks[0].holds
    ('simple-20mbps', True)
    """
    chosen = names or tuple(scenarios())
    preset = "default" if controllers == ("c4",) and names is None else "custom"
    study = Stacks(StudyResult(NAME, STUDIES[NAME], SOURCE, preset, trials, seed))
    begin = time.perf_counter()
    loaded = [(controller, name, load(name, controller)) for controller in controllers for name in chosen]
    total = len(loaded) * len(VARIANTS) * trials
    done = 0
    for controller, name, variants in loaded:
        values: dict[str, Times] = {}
        try:
            for variant, scenario in variants.items():

                def report(finished: int, label: str = f"{name} ({variant})", before: int = done) -> None:
                    if on_progress:
                        on_progress(label, before + finished, total)

                report(0)
                outcomes = scenario.trials(trials, seed, jobs, report)
                values[variant] = compared(outcomes)
                study.result.core_s += outcomes.core_s
                done += trials
        except Interrupted:
            study.complete = False
            break
        cell = Cell(name, controller, variants, values)
        study.cells.append(cell)
        study.result.rows.append(row(cell))
    study.result.wall_s = time.perf_counter() - begin
    if study.complete:
        study.result.checks = [check(one) for one in study.result.rows if one["judged"]]
    return study


def load(name: str, controller: str) -> dict[str, Scenario]:
    """A scenario of the suite `c4` for each of the stacks. Raises RequestError."""
    flow = str(Scenario.load(f"c4/{name}").flows[0]["name"])
    return {
        variant: Scenario.load(f"c4/{name}", overrides=overrides, controllers={flow: controller})
        for variant, overrides in VARIANTS.items()
    }


def compared(outcomes: Outcomes) -> Times:
    """The number of the first criterion, one for each trial."""
    criterion = outcomes.scenario.criteria[0]
    mine = outcomes.flows.filter(outcomes.flows["flow"] == criterion["flow"])
    values = mine[column_of(criterion, mine.columns)].to_numpy().astype(np.float64)
    return np.where(np.isnan(values), np.inf, values)


def has_jitter(toml: str) -> bool:
    """Whether the path of a scenario has jitter at any time.

    >>> has_jitter('path.jitter = { model = "wifi", mean = "7 ms" }'), has_jitter('path.rtt = "7 ms"')
    (True, False)
    """
    path = tomllib.loads(toml).get("path", {})
    return any("jitter" in part for part in (path, path.get("up", {}), *path.get("change", [])))


def row(cell: Cell) -> Row:
    """One row of the table."""
    ordered = {variant: np.sort(values) for variant, values in cell.values.items()}
    median = {variant: percentile(values, 0.5) for variant, values in ordered.items()}
    criterion = cell.scenarios["model"].criteria[0]
    jitter = has_jitter(cell.scenarios["model"].toml)
    return {
        "scenario": cell.name,
        "controller": cell.controller,
        "metric": str(criterion["metric"]),
        "unit": str(criterion["unit"]),
        "jitter": "yes" if jitter else "no",
        "judged": int(not jitter),
        "n": len(ordered["model"]),
        **{f"{variant}_median": median[variant] for variant in VARIANTS},
        **{f"{variant}_p5": percentile(ordered[variant], 0.05) for variant in VARIANTS},
        **{f"{variant}_p95": percentile(ordered[variant], 0.95) for variant in VARIANTS},
        "quic_over_model": median["quic"] / median["model"] - 1,
        "quic_over_wide": median["quic"] / median["wide"] - 1,
    }


def check(one: Row) -> Check:
    """Whether the medians of a row agree."""
    apart = one["quic_over_wide"]
    assert isinstance(apart, float)
    return Check(
        name=f"{one['scenario']}, {one['controller']}: medians within {TOLERANCE:.0%}",
        source="the two stacks, with the same flow-control windows",
        holds=abs(apart) <= TOLERANCE,
        measured=f"{apart:+.1%}",
    )
