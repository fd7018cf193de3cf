"""`thalweg show`: the text of a scenario."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.catalogue import find_scenario
from thalweg.scenario import Scenario


def show(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario (c4/bad-wifi) or a file.")],
) -> None:
    """Print the TOML text of a scenario, to read it or to start from it.

    Example: thalweg show c4/bad-wifi > mine.toml
    """
    entry = find_scenario(scenario)
    # What is no scenario is refused as by every other command.
    Scenario.from_entry(entry)
    typer.echo(entry.read().decode(), nl=False)
