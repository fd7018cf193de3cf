"""A stored trial, run once more from the scenario and the seed that were stored with it."""

from __future__ import annotations

import shlex

from thalweg.outcome import Outcomes, Trial
from thalweg.results import SuiteResult
from thalweg.scenario import Scenario


def replay_trial(outcomes: Outcomes, trial: int, trace: bool = True) -> Trial:
    """Runs trial number `trial` again. Raises RequestError if this version refuses the scenario."""
    stored = outcomes.scenario
    scenario = Scenario.from_toml(stored.toml, stored.name, suite=stored.suite)
    return scenario.run(outcomes.seed_of(trial), trace)


def is_same(outcomes: Outcomes, trial: int, again: Trial) -> bool:
    """Whether a replayed trial is the stored one, event by event."""
    return outcomes.trace_hash(trial) == again.trace_hash


def replay_command(result: SuiteResult, outcomes: Outcomes) -> str:
    """What to type to see the worst trial of a scenario of a stored result."""
    worst = outcomes.verdict().worst_trial
    return shlex.join(
        ["thalweg", "replay", str(result.folder), outcomes.scenario.name, str(worst), "--plot", "worst.html"]
    )
