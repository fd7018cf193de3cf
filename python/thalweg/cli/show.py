"""`thalweg show`: the text of a scenario."""

from __future__ import annotations

from thalweg import _native
from thalweg.base.errors import ScenarioError
from thalweg.cli.console import say
from thalweg.cli.options import ScenarioName
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.controllers.resolver import Reader


def show(
    scenario: ScenarioName,
) -> None:
    """Print the TOML text of a scenario, to read it or to start from it.

    Example: `thalweg show c4/bad-wifi > mine.toml`
    """
    entry = find_scenario(scenario)
    # What is not a scenario is refused; its flows may be of the kernel's TCP. Nothing that it names is run.
    try:
        _native.Scenario.path_from_toml(entry.read(), entry.source_name, [], Reader())
    except _native.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    say(entry.read().decode(), end="")
