"""Thalweg: a laboratory for congestion control.

>>> import thalweg
>>> scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"})
>>> outcomes = scenario.trials(10, seed=1)
>>> outcomes.flows.select("trial", "seed", "flow").head(2).rows()
[(0, 1, 'main'), (1, 2, 'main')]
>>> outcomes.verdict().answer in ("pass", "fail")
True

A trial is a pure function of (scenario, seed, version). Times are seconds, sizes bytes, rates bits per
second; tables are polars data frames (`.to_pandas()` makes pandas frames).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from thalweg import memory as _memory  # noqa: F401 - before polars, whose allocator it sets up
from thalweg._native import version

if TYPE_CHECKING:
    from thalweg.catalogue import controllers, list_scenarios, list_suites
    from thalweg.comparison.tables import compare
    from thalweg.control import Controller
    from thalweg.errors import (
        AuditError,
        ControllerError,
        RealTimeError,
        RequestError,
        ResultError,
        ScenarioError,
        ThalwegError,
    )
    from thalweg.hunt import Find, Hunt
    from thalweg.outcome import Outcomes, Trial
    from thalweg.scenario import Interrupted, Scenario
    from thalweg.store.results import SuiteResult
    from thalweg.sweep import Sweep, SweepResult
    from thalweg.trace import Trace
    from thalweg.verdict import Statistics, Verdict

__all__ = [
    "AuditError",
    "Controller",
    "ControllerError",
    "Find",
    "Hunt",
    "Interrupted",
    "Outcomes",
    "RealTimeError",
    "RequestError",
    "ResultError",
    "Scenario",
    "ScenarioError",
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
    "list_scenarios",
    "list_suites",
    "version",
]

__version__ = version()

_MODULES = {
    "AuditError": "errors",
    "Controller": "control",
    "ControllerError": "errors",
    "Find": "hunt",
    "Hunt": "hunt",
    "Interrupted": "scenario",
    "Outcomes": "outcome",
    "RealTimeError": "errors",
    "RequestError": "errors",
    "ResultError": "errors",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Statistics": "verdict",
    "SuiteResult": "store.results",
    "Sweep": "sweep",
    "SweepResult": "sweep",
    "ThalwegError": "errors",
    "Trace": "trace",
    "Trial": "outcome",
    "Verdict": "verdict",
    "compare": "comparison.tables",
    "controllers": "catalogue",
    "list_scenarios": "catalogue",
    "list_suites": "catalogue",
}
"""Loaded when they are used: polars and numpy take a quarter of a second, and not every command needs them."""


def __getattr__(name: str) -> object:
    """The public names of the package, by module (PEP 562)."""
    if name in _MODULES.values():
        return import_module(f"thalweg.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'thalweg' has no attribute {name!r}")
    return getattr(import_module(f"thalweg.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """For completion."""
    return [*__all__, "__version__"]
