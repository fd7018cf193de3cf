"""`thalweg check`: whether scenario files can be run."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.catalogue import find_scenario
from thalweg.cli.console import complain
from thalweg.cli.options import AllowUnseeded, Controllers, Settings, StackChoice, bindings, settings
from thalweg.cli.status import PASSED, REFUSED
from thalweg.errors import RequestError
from thalweg.scenario import Scenario


def check(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...", help="Files, or shipped scenarios.")],
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    live: Annotated[bool, typer.Option("--live", help="For real time, with the kernel's controllers.")] = False,
) -> int:
    """Read scenarios and say what is wrong with each, without running them.

    Exit status 2 if one of them is refused. Example: thalweg check *.toml
    """
    overrides, controllers = settings(set_, stack, allow_unseeded), bindings(controller)
    status = PASSED
    for reference in scenarios:
        try:
            entry = find_scenario(reference)
            if live:
                from thalweg.live import LiveScenario  # noqa: PLC0415 - loaded for real time alone

                title = LiveScenario.from_entry(entry, overrides, controllers).title
            else:
                title = Scenario.from_entry(entry, overrides, controllers).title
        except RequestError as error:
            complain(str(error))
            status = REFUSED
        else:
            typer.echo(f"{reference}: {title}: accepted")
    return status
