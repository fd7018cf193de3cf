"""`thalweg check`: whether scenario files can be run, and whether controllers keep to what all must."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.console import Bar, complain, say
from thalweg.cli.options import AllowUnseeded, Controllers, Settings, StackChoice, bindings, settings
from thalweg.cli.status import FAILED, PASSED, REFUSED
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.controllers.definition import file_of, is_of_file
from thalweg.engine.controllers.resolver import Reader
from thalweg.engine.libraries import Library, shown, unasked
from thalweg.engine.scenario import Scenario

_SHOWN = 3
"""Scenarios that are written of one controller: one error fails on many paths."""


def check(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Scenarios, shipped ones too, or controllers in Python.")
    ],
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    live: Annotated[
        bool, typer.Option("--live", help="Check for real time, with the kernel's controllers.")
    ] = False,
) -> int:
    """Check scenarios without running them or code that they name, and controllers in Python by random paths.

    A controller such as mine.py runs on 30 paths and gets 100 sequences of events.

    Exit status 2 if one of them is refused; 1 if a controller breaks a rule: the scenario that shows it is written
    to a file.

    Example: `thalweg check *.toml mine.py`
    """
    overrides, controllers = settings(set_, stack, allow_unseeded), bindings(controller)
    status = PASSED
    for reference in scenarios:
        if is_of_file(reference):
            status = max(status, _controller(reference))
            continue
        reader, libraries = Reader(), list[Library]()
        try:
            entry = find_scenario(reference)
            if live:
                from thalweg.realtime import LiveScenario  # noqa: PLC0415 - loaded only for real time

                title = LiveScenario.from_entry(entry, overrides, controllers, reader).title
            else:
                with unasked():
                    scenario = Scenario.from_entry(entry, overrides, controllers, reader)
                title, libraries = scenario.title, scenario.libraries
        except RequestError as error:
            complain(str(error))
            status = REFUSED
        else:
            code = [*filter(None, map(file_of, reader.definitions)), *(shown(path) for path, *_ in libraries)]
            not_run = f"; not run, so unchecked: {', '.join(dict.fromkeys(code))}" if code else ""
            say(f"{reference}: {title}: accepted{not_run}")
    return status


def _controller(reference: str) -> int:
    """Plays a controller on random paths and sequences; says what did not hold. Returns the exit status."""
    from thalweg.experiments.checking.check import check_controller  # noqa: PLC0415 - loaded only for controllers
    from thalweg.experiments.checking.sequences import (  # noqa: PLC0415 - loaded only for controllers
        check_sequences,
    )

    n, broken = 0, []
    with Bar() as bar:
        try:
            sequences = list(check_sequences(reference))
            for found in check_controller(reference):
                n += 1
                bar.show(reference, n, n)
                broken += [found] if found else []
        except RequestError as error:
            complain(str(error).removeprefix(f"--controller main={reference}: "))
            return REFUSED
    for breach in broken[:_SHOWN]:
        file = Path(f"broken-{Path(reference.partition(':')[0]).stem}-{breach.case}.toml")
        try:
            file.write_text(breach.toml, encoding="utf-8")
        except OSError as error:
            complain(f"cannot write {file}: {error.strerror}")
            return REFUSED
        complain(f"{breach.what}\n  see it: thalweg run {file} --seed {breach.seed}", label="")
    if len(broken) > _SHOWN:
        complain(f"and {len(broken) - _SHOWN} more", label="")
    odd = [sequence for sequence in sequences if sequence]
    for sequence in odd[:1]:
        complain(f"{sequence.what}\n  sequence {sequence.number}: ..., {', '.join(sequence.events)}", label="")
    say(f"{reference}: {n - len(broken)} of {n} random paths passed")
    say(f"{reference}: {len(sequences) - len(odd)} of {len(sequences)} random sequences of events passed")
    return FAILED if broken or odd else PASSED
