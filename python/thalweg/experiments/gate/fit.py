"""Whether a baseline belongs to what a gate is asked for: suite, seeds, scenarios, engine.

A scenario is known by its fingerprint, taken without what is under test: without the controllers that are given
and the one of the main flow, and without settings of the transport. So a changed controller, stack or ACK delay is
compared, and a changed path is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.seeds import seed_text
from thalweg.engine.catalogue import Entry
from thalweg.engine.scenario import Scenario
from thalweg.experiments.gate.baseline import Baseline, judged

_UNDER_TEST = re.compile(r"transport\..*|flow\.(?P<flow>[^.]+)\.(controller|stack|transport\..*)|allow_unseeded")
_NEUTRAL = "reno"
_ACCEPT = "to rewrite it, run with --accept"
_ACCEPT_ALL = "to rewrite all of it, remove it, or run with --accept and without --only"


def fingerprint_of(
    entry: Entry, scenario: Scenario, main: str, overrides: Sequence[tuple[str, str]], bound: Iterable[str]
) -> str:
    """The fingerprint of a scenario without what is under test. Raises RequestError if it has none."""
    flows = {str(flow["name"]) for flow in scenario.flows} & {main, *bound}

    def is_under_test(key: str) -> bool:
        found = _UNDER_TEST.fullmatch(key)
        return found is not None and found["flow"] in {None, "*", *flows}

    settings = [(key, value) for key, value in overrides if not is_under_test(key)]
    bindings = [(flow, _NEUTRAL) for flow in sorted(flows)]
    try:
        neutral = Scenario.from_entry(entry, settings, bindings)
    except ScenarioError:
        neutral = _on_another_stack(entry, settings, overrides, bindings)
    if neutral.fingerprint is None:
        raise RequestError(f"{entry.reference}: a controller in it has no file, so no other run can identify it")
    return neutral.fingerprint


def _on_another_stack(
    entry: Entry,
    settings: Sequence[tuple[str, str]],
    overrides: Sequence[tuple[str, str]],
    bindings: Sequence[tuple[str, str]],
) -> Scenario:
    """A scenario whose other flows need the stack that is asked for, or whose own is a library.

    Raises RequestError.
    """
    try:
        return Scenario.from_entry(entry, overrides, bindings)
    except ScenarioError:  # a library does not know the neutral controller
        return Scenario.from_entry(entry, [*settings, ("flow.*.stack", "model")], bindings)


def check_fit(
    file: Path,
    baseline: Baseline,
    suite: str,
    fingerprints: Mapping[str, str],
    seed: int,
    trials: int,
    whole: bool,
) -> None:
    """Refuses a baseline of something else; `whole`: the whole suite is played. Raises RequestError."""
    check_head(file, baseline, suite, seed)
    if trials > baseline.trials:
        raise RequestError(f"-n {trials}: {file} has {baseline.trials} trials of each scenario; {_ACCEPT}")
    if lacking := [name for name in fingerprints if name not in baseline.scenarios]:
        raise RequestError(f"{file} lacks {_names(lacking)} of the suite {suite}; {_ACCEPT}")
    if whole and (more := [name for name in baseline.scenarios if name not in fingerprints]):
        raise RequestError(f"{file} has {_names(more)}, which the suite {suite} lacks; {_ACCEPT}")
    changed = [name for name, own in fingerprints.items() if baseline.scenarios[name].fingerprint != own]
    if changed:
        raise RequestError(
            f"{file} was made with other versions of {_names(changed)}: path, flows or settings differ; "
            f"give the options of the baseline, or {_ACCEPT}"
        )


def check_metrics(
    file: Path, baseline: Baseline, flows: Mapping[str, Mapping[str, Any]], wanted: Iterable[str]
) -> None:
    """Refuses a baseline of other flows, or that lacks a metric with a threshold. Raises RequestError.

    `flows`: of each scenario the flow that is judged; `wanted`: the metrics with a threshold.
    """
    for name, flow in flows.items():
        then = baseline.scenarios[name]
        if then.flow != flow["name"]:
            raise RequestError(f"{file}: {name} is judged by flow {then.flow}, not by {flow['name']}; {_ACCEPT}")
        if lacking := [one.name for one in judged(flow, wanted) if one.name not in then.metrics]:
            raise RequestError(f"{file}: {name} lacks {_names(lacking)}, which has a threshold; {_ACCEPT}")


def check_part(file: Path, baseline: Baseline, suite: str, seed: int, trials: int) -> None:
    """Refuses a baseline if a part of it cannot be rewritten. Raises RequestError."""
    check_head(file, baseline, suite, seed, _ACCEPT_ALL)
    if trials != baseline.trials:
        raise RequestError(f"-n {trials}: {file} has {baseline.trials} trials of each scenario; {_ACCEPT_ALL}")


def check_head(file: Path, baseline: Baseline, suite: str, seed: int, advice: str = _ACCEPT) -> None:
    """Refuses a baseline of another suite, engine or set of seeds. Raises RequestError."""
    if baseline.suite != suite:
        raise RequestError(f"{file} is for the suite {baseline.suite!r:.60}, not for {suite}; {advice}")
    if baseline.version != _native.version():
        raise RequestError(
            f"{file} was made by thalweg {baseline.version:.40}, this is {_native.version()}: seeds reproduce "
            f"only within one version; {advice} on the commit to compare with"
        )
    if baseline.seed != seed:
        raise RequestError(f"{file} begins with {seed_text(baseline.seed)}, not with {seed_text(seed)}; {advice}")


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
