"""The scenarios of a suite once more for each rival, which takes the place of the main controller.

The rest stays: path, seeds, competitors and settings. The main flow is the one called `main`; where there is none,
the first that `--controller` binds, or the first of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thalweg import _native
from thalweg.base.errors import RequestError, ScenarioError
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.outcome import Description
from thalweg.engine.scenario import Scenario
from thalweg.judging.measures import MEASURES, Measure, measures_of

MAIN = "main"
NONE = "none"
"""Given to `--against`, it leaves out the comparison of the suite."""


def chosen_rivals(suite: Suite, given: Sequence[str] | None, trials: int) -> list[str]:
    """The rivals of `--against`, or else the suite's. Raises RequestError."""
    rivals = [name.strip() for name in given or suite.compare.against]
    if rivals == [NONE]:
        return []
    where = "--against" if given else f"{suite.compare.file}: compare.against"
    if NONE in rivals:
        raise RequestError(f"{where} {NONE} cannot be combined with rivals")
    normal = list(map(_native.normal_controller, rivals))
    twice = next((number for number, name in enumerate(normal) if name in normal[:number]), None)
    if twice is not None:
        first = rivals[normal.index(normal[twice])]
        same = f", which is {first}" if first != rivals[twice] else ""
        raise RequestError(f"{where} {rivals[twice]}{same}: given twice; give each rival once")
    if rivals and trials < 2:
        raise RequestError(
            f"--trials {trials}: one trial tells no controller from another; accepted: 2 or more, or --against "
            f"{NONE} to play the suite without its rivals"
        )
    return rivals


def with_rivals(
    suite: Suite,
    entries: Sequence[Entry],
    scenarios: Sequence[Scenario],
    rivals: Sequence[str],
    overrides: Sequence[tuple[str, str]],
    bindings: Sequence[tuple[str, str]],
    given: bool = True,
) -> list[Scenario]:
    """The scenarios, each followed by itself with each rival. Raises RequestError.

    `given`: the rivals come from `--against`, which messages name, and not from the suite.
    """
    where = "--against" if given else f"{suite.compare.file}: compare.against"
    found, used = [], set()
    for entry, scenario in zip(entries, scenarios, strict=True):
        found.append(scenario)
        if not rivals or entry.name in suite.compare.without:
            continue
        flow = main_flow(scenario, bindings)
        metrics = [measure.name for measure in _measures(scenario.description, flow, suite.compare.metrics)]
        used.update(metrics)
        if not metrics:
            continue
        for number, rival in enumerate(rivals, start=1):
            own = _controller(scenario, flow)
            if _native.normal_controller(rival) == _native.normal_controller(own):
                raise RequestError(
                    f"{where} {rival}: flow {flow} of {entry.name} has this controller itself; use "
                    f"another rival, or another controller for it with -c {flow}=NAME"
                )
            name = f"{entry.name}@{number}"
            if name in (one.name for one in entries):
                raise RequestError(
                    f"{suite.name}: the trials of {rival} in {entry.name} are stored as {name}, which is the "
                    "name of a scenario; use another name for it"
                )
            played = _with_rival(entry, scenario, flow, rival, overrides, bindings, where)
            played.description = replace(
                played.description,
                name=name,
                title=f"{scenario.title}: {flow} is {rival}",
                rival={"of": entry.name, "flow": flow, "controller": rival, "metrics": metrics},
            )
            found.append(played)
    if rivals:
        _refuse_unused(suite, used, whole=len(entries) == len(suite.entries))
    return found


def main_flow(scenario: Scenario, bindings: Sequence[tuple[str, str]]) -> str:
    """The name of the flow that is judged: `main`, else the first that is given a controller, else the first."""
    names = [flow["name"] for flow in scenario.flows]
    return next((name for name in (MAIN, *(flow for flow, _ in bindings)) if name in names), names[0])


def _measures(scenario: Description, flow: str, wanted: Sequence[str]) -> list[Measure]:
    workload = next(str(one["workload"]) for one in scenario.flows if one["name"] == flow)
    return measures_of(workload, scenario.criteria, flow, wanted)


def _controller(scenario: Scenario, flow: str) -> str:
    return next(one["controller"] for one in scenario.flows if one["name"] == flow)


def _with_rival(
    entry: Entry,
    scenario: Scenario,
    flow: str,
    rival: str,
    overrides: Sequence[tuple[str, str]],
    bindings: Sequence[tuple[str, str]],
    where: str,
) -> Scenario:
    names = {one["name"] for one in scenario.flows}
    others = [(name, controller) for name, controller in bindings if name in names and name != flow]
    try:
        return Scenario.from_entry(entry, overrides, [*others, (flow, rival)])
    except ScenarioError as error:
        raise RequestError(str(error).replace(f"--controller {flow}={rival}", f"{where} {rival}")) from None


def _refuse_unused(suite: Suite, used: set[str], *, whole: bool) -> None:
    """Refuses metrics that no scenario defines; of a part of a suite, only where nothing is left to compare."""
    wanted = suite.compare.metrics
    unused = [name for name in wanted if name not in used]
    if unused and (whole or not used):
        raise RequestError(
            f"{suite.compare.file}: compare.metrics names {unused[0]!r}, which no compared scenario defines; "
            f"accepted: {', '.join(name for name in MEASURES if name not in unused)}"
        )
    if not used:
        raise RequestError(
            f"{suite.name}: no scenario is left to compare; use another --only, or --against {NONE}"
        )
