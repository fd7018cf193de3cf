"""A trace of ours that the readers get in the forms of others."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings

from pages.explain import writers
from pages.explain.paths import make
from thalweg.base.errors import RequestError
from thalweg.engine.trace import Trace
from thalweg.foreign.reading import View, read

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def traced() -> tuple[Trace, float]:
    """Two seconds of CUBIC with losses, and the window of its receiver."""
    made = make("receiver-loss", 3, "cubic")
    text = made.text.replace("12.0 s", "2 s").replace(f"{made.loss * 100:.4f} %", "2 %")
    trace = replace(made, text=text).scenario().run(1, trace=True).trace
    assert trace is not None
    return trace, made.window_bytes


@cache
def logged() -> list[writers.Entry]:
    """What happened in it."""
    trace, window = traced()
    return writers.entries(trace, "main", window)


def read_or_refuse(file: Path) -> list[View]:
    """The views of a file; none if it is refused, which takes one line."""
    try:
        return read(file)
    except RequestError as error:
        assert "\n" not in str(error)  # noqa: PT017 - whether it raises is open
        return []
