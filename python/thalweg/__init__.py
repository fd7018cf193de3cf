"""Thalweg: a laboratory for congestion control.

>>> import thalweg
>>> scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"})
>>> outcomes = scenario.trials(10, seed=1)
>>> outcomes.flows.select("trial", "seed", "flow").head(2).rows()
[(0, 1, 'main'), (1, 2, 'main')]
>>> outcomes.verdict().answer in ("holds", "fails")
True

A trial is a pure function of (scenario, seed, version). Times are seconds, sizes bytes, rates bits per
second; tables are polars data frames (`.to_pandas()` makes pandas frames).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from thalweg._native import version
from thalweg.base import memory as _memory  # noqa: F401 - before polars, whose allocator it sets up

if TYPE_CHECKING:
    from thalweg.base.errors import (
        AuditError,
        ControllerError,
        QuicError,
        RealTimeError,
        RequestError,
        ResultError,
        ScenarioError,
        StackError,
        ThalwegError,
    )
    from thalweg.engine.catalogue import controllers, list_scenarios, list_suites
    from thalweg.engine.controllers import Controller, FakeTransport
    from thalweg.engine.outcome import Outcomes, Trial
    from thalweg.engine.scenario import Interrupted, Scenario
    from thalweg.engine.trace import Trace
    from thalweg.experiments.explain import FileAccount
    from thalweg.experiments.explain import account_of_file as explain
    from thalweg.experiments.hunt import Find, Hunt
    from thalweg.experiments.sweep import Sweep, SweepResult
    from thalweg.judging.verdict import Statistics, Verdict
    from thalweg.pages.figures import plot_distribution, plot_trial
    from thalweg.results.comparison.tables import compare
    from thalweg.results.suite_result import SuiteResult
    from thalweg.trials.gathering import run_trials
    from thalweg.trials.processes import play_alone as play_alone

__all__ = [
    "AuditError",
    "Controller",
    "ControllerError",
    "FakeTransport",
    "FileAccount",
    "Find",
    "Hunt",
    "Interrupted",
    "Outcomes",
    "QuicError",
    "RealTimeError",
    "RequestError",
    "ResultError",
    "Scenario",
    "ScenarioError",
    "StackError",
    "Statistics",
    "SuiteResult",
    "Sweep",
    "SweepResult",
    "ThalwegError",
    "Trace",
    "Trial",
    "Verdict",
    "compare",
    "controllers",
    "explain",
    "list_scenarios",
    "list_suites",
    "plot_distribution",
    "plot_trial",
    "run_trials",
    "version",
]

__version__ = version()

_MODULES = {
    "AuditError": "base.errors",
    "Controller": "engine.controllers",
    "ControllerError": "base.errors",
    "FakeTransport": "engine.controllers",
    "FileAccount": "experiments.explain",
    "Find": "experiments.hunt",
    "Hunt": "experiments.hunt",
    "Interrupted": "engine.scenario",
    "Outcomes": "engine.outcome",
    "QuicError": "base.errors",
    "RealTimeError": "base.errors",
    "RequestError": "base.errors",
    "ResultError": "base.errors",
    "Scenario": "engine.scenario",
    "ScenarioError": "base.errors",
    "StackError": "base.errors",
    "Statistics": "judging.verdict",
    "SuiteResult": "results.suite_result",
    "Sweep": "experiments.sweep",
    "SweepResult": "experiments.sweep",
    "ThalwegError": "base.errors",
    "Trace": "engine.trace",
    "Trial": "engine.outcome",
    "Verdict": "judging.verdict",
    "compare": "results.comparison.tables",
    "controllers": "engine.catalogue",
    "explain": "experiments.explain",
    "list_scenarios": "engine.catalogue",
    "list_suites": "engine.catalogue",
    "play_alone": "trials.processes",
    "plot_comparison": "pages.figures",
    "plot_distribution": "pages.figures",
    "plot_trial": "pages.figures",
    "run_trials": "trials.gathering",
}
"""Loaded when they are used: polars and numpy take a quarter of a second, and not every command needs them.

This is the roof: values of lower floors reach what upper floors do with them, such as `Outcomes.plot`, through it.
"""
_CALLED = {"explain": "account_of_file"}
"""What a module calls a public name, where it differs."""


def __getattr__(name: str) -> object:
    """The public names of the package, by module (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'thalweg' has no attribute {name!r}")
    return getattr(import_module(f"thalweg.{_MODULES[name]}"), _CALLED.get(name, name))


def __dir__() -> list[str]:
    """For completion."""
    return [*__all__, "__version__"]
