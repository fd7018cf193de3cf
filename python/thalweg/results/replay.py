"""Rerunning a stored trial from its stored scenario and seed."""

from __future__ import annotations

import shlex

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.toml import named_files, read_toml
from thalweg.engine.controllers.definition import file_of
from thalweg.engine.libraries import shown
from thalweg.engine.outcome import Outcomes, Trial
from thalweg.engine.scenario import Scenario
from thalweg.results.suite_result import SuiteResult


def replay_trial(outcomes: Outcomes, trial: int, trace: bool = True) -> Trial:
    """Runs trial number `trial` again. Raises RequestError if the scenario is refused, or names files."""
    stored = outcomes.scenario
    _refuse_files(stored.toml, stored.name)
    scenario = Scenario.from_toml(stored.toml, stored.name, suite=stored.suite)
    return scenario.run(outcomes.seed_of(trial), trace)


def refuse_code(outcomes: Outcomes) -> None:
    """Refuses to replay a stored trial in which code of others would run. Raises RequestError."""
    flows = outcomes.scenario.flows
    stacks = [str(flow.get("stack", "")) for flow in read_toml(outcomes.scenario.toml, "scenario").get("flow", [])]
    code = [file_of(str(flow["controller"])) for flow in flows]
    code += [shown(stack) for stack in stacks if _native.names_library(stack)]
    for file in filter(None, code):
        raise RequestError(f"{file} is code, which a report of a stored result does not run; thalweg replay does")


def changes(outcomes: Outcomes, again: Trial) -> list[str]:
    """What to say of controllers in Python whose files are not those that the stored trial ran with."""
    now = {str(controller["name"]): controller for controller in again.outcomes.scenario.controllers}
    return [
        f"{controller['file']} has changed since: its SHA-256 was {controller['sha256'][:12]}, "
        f"is {other['sha256'][:12]}"
        for controller in outcomes.scenario.controllers
        if controller["sha256"]
        and (other := now.get(controller["name"]))
        and other["sha256"] != controller["sha256"]
    ]


def _refuse_files(toml: str, name: str) -> None:
    """A stored scenario contains its traces: one that names a file was not written by us."""
    for key, file in named_files(read_toml(toml, name)):
        raise RequestError(
            f"{name}: {key} = {file[:60]!r} names a file, which no stored scenario does; accepted: the trace "
            'itself, after "ms:", "us:" or "bytes:"'
        )


def is_same(outcomes: Outcomes, trial: int, again: Trial) -> bool:
    """Whether a replayed trial is the stored one, event by event."""
    return outcomes.trace_hash(trial) == again.trace_hash


def replay_command(result: SuiteResult, outcomes: Outcomes) -> str:
    """The command that shows the worst trial of a scenario of a stored result."""
    worst = outcomes.verdict().worst_trial
    return shlex.join(
        ["thalweg", "replay", str(result.folder), outcomes.scenario.name, str(worst), "--plot", "worst.html"]
    )
