"""What a controller in Python has raised, in one message: file and line, the error, and where the trial was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from thalweg import _native
from thalweg.base.errors import ControllerError
from thalweg.engine.controllers.definition import Definition
from thalweg.engine.controllers.source import place, raised


def error_of(failed: _native.ControllerFailed, definitions: Mapping[str, Definition]) -> ControllerError:
    """The error to show to whoever wrote the controller."""
    text, method, flow, seed, time_s = failed.args
    cause = failed.__cause__ or failed
    definition = definitions.get(text)
    if definition is None:
        where = text
    elif cause.__traceback__ is None:  # a decision that the simulator has refused, after the method has returned
        where = definition.line_of(method)
    else:
        where = place(cause, definition.source.file if definition.source else Path())
    trial = "" if seed is None else f" of the trial with seed {seed}"
    whose = f"flow {flow}{trial}" if flow else trial.removeprefix(" of ")  # real time knows no flow here
    return ControllerError(f"{where}: {raised(cause)} (in {method} of {text}: {whose}, at {time_s:.6f} s)")
