"""`thalweg check`: whether scenario files can be run."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.catalogue import find_scenario
from thalweg.cli.console import complain
from thalweg.cli.options import Controllers, Settings, bindings, settings
from thalweg.cli.status import PASSED, REFUSED
from thalweg.errors import RequestError
from thalweg.scenario import Scenario


def check(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...", help="Files, or shipped scenarios.")],
    controller: Controllers = None,
    set_: Settings = None,
) -> int:
    """Read scenarios and say what is wrong with each, without running them.

    Exit status 2 if one of them is refused. Example: thalweg check *.toml
    """
    overrides, controllers = settings(set_), bindings(controller)
    status = PASSED
    for reference in scenarios:
        try:
            scenario = Scenario.from_entry(find_scenario(reference), overrides, controllers)
        except RequestError as error:
            complain(str(error))
            status = REFUSED
        else:
            typer.echo(f"{reference}: {scenario.title}: accepted")
    return status
