"""The study `stacks`: the scenarios of one flow on the modelled endpoint and on a real QUIC stack.

Every scenario of the suite `c4` with one flow runs three times: on the modelled endpoint as it is shipped
(`model`), on the modelled endpoint with flow-control windows as wide as those of the stack (`wide`), and on the
stack (`quic`). Flows start up to one of the longest round trips late, the same in all three, so that trials meet
the changes of the path in all phases. The number compared is that of the first criterion of the scenario:
closed or completion of a transfer, mean delay of a media stream.

What is judged: where the path has no jitter, the median on the stack lies within 5 % of the median on the
modelled endpoint with the same windows, with all of the interval of their ratio. Where it has jitter, the two
stacks part ways within milliseconds, and distributions are shown, not judged.

Limits: what both stacks get wrong in the same way is not found. They share the code that measures delivery
rates; packets, acknowledgements, loss recovery, pacing and streams are each stack's own.
"""

from __future__ import annotations

import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from thalweg.catalogue import Suite
from thalweg.outcome import Outcomes
from thalweg.progress import Progress, silent
from thalweg.quantity import seconds
from thalweg.scenario import Interrupted, Scenario
from thalweg.statistics.claims import within
from thalweg.statistics.interval import Interval
from thalweg.statistics.interval import Values as Times
from thalweg.statistics.quantiles import percentile
from thalweg.statistics.ratios import ratio_of_medians
from thalweg.studies import STUDIES
from thalweg.studies.runner.result import Check, Row, StudyResult
from thalweg.verdict import values_of

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

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.stacks.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


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
    trials: int = 100,
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress = silent,
) -> Stacks:
    """Runs all scenarios with all controllers, `trials` each. Raises RequestError.

    >>> done = run(names=("simple-20mbps",), trials=6)
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
    shipped = Scenario.load(f"c4/{name}")
    flow = str(shipped.flows[0]["name"])
    start = {"noise.start": longest_rtt(shipped.toml)}
    return {
        variant: Scenario.load(f"c4/{name}", overrides=start | overrides, controllers={flow: controller})
        for variant, overrides in VARIANTS.items()
    }


def longest_rtt(toml: str) -> str:
    """The longest round trip that the path of a scenario has at any time.

    >>> longest_rtt('path = { rtt = "30 ms", change = [{ rtt = "0.2 s" }, { rate = "1 Mbps" }] }')
    '0.2 s'
    """
    path = tomllib.loads(toml)["path"]
    rtts = [str(part["rtt"]) for part in (path, *path.get("change", [])) if "rtt" in part]
    return max(rtts, key=lambda rtt: seconds(rtt, "path.rtt"))


def compared(outcomes: Outcomes) -> Times:
    """The number of the first criterion, one for each trial."""
    return values_of(outcomes.scenario.criteria[0], outcomes.flows, outcomes.scenario.starts_s)["value"].to_numpy()


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
    ratio = ratio_of_medians(cell.values["quic"], cell.values["wide"])
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
        "quic_over_wide": ratio.value - 1,
        "quic_over_wide_low": ratio.low - 1,
        "quic_over_wide_high": ratio.high - 1,
    }


def check(one: Row) -> Check:
    """Whether the medians of a row agree."""
    apart, low, high = (
        float(one[name] or 0.0) for name in ("quic_over_wide", "quic_over_wide_low", "quic_over_wide_high")
    )
    interval = Interval(apart, low, high, int(one["n"] or 0))
    return Check(
        name=f"{one['scenario']}, {one['controller']}: medians within {TOLERANCE:.0%}",
        source="the two stacks, with the same flow-control windows",
        answer=within(interval, -TOLERANCE, TOLERANCE),
        measured=f"{apart:+.1%} ({low:+.1%} to {high:+.1%})" if interval.is_bounded else f"{apart:+.1%}",
    )
