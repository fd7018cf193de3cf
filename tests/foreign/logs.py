"""A trace of ours that the readers get in the forms of others."""

from __future__ import annotations

import gzip
import json
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


def sequence(text: str, mark: str = "\x1e") -> str:
    """A log as a text sequence (RFC 7464), or with no mark as lines: a header, and a record for each event."""
    if text.startswith("\x1e"):
        records = [json.loads(one) for one in text.split("\x1e") if one.strip()]
    else:
        document = json.loads(text)
        (trace,) = document.pop("traces")
        events = trace.pop("events")
        records = [{**document, "trace": trace}, *events]
    return "".join(f"{mark}{json.dumps(one)}\n" for one in records)


def document(text: str) -> str:
    """A log as one document, with what a sequence has in its header."""
    if not text.startswith("\x1e"):
        return text
    header, *events = (json.loads(one) for one in text.split("\x1e") if one.strip())
    trace = header.pop("trace")
    return json.dumps({**header, "traces": [{**trace, "events": events}]})


FORMS = {
    "x.qlog": lambda text: document(text).encode(),
    "x.sqlog": lambda text: sequence(text).encode(),
    "x.ndjson": lambda text: sequence(text, "").encode(),
    "x.qlog.gz": lambda text: gzip.compress(document(text).encode()),
    "x.sqlog.gz": lambda text: gzip.compress(sequence(text).encode()),
}
"""What a log is written as, by the name of the file."""


def read_or_refuse(file: Path) -> list[View]:
    """The views of a file; none if it is refused, which takes one line."""
    try:
        return read(file)
    except RequestError as error:
        assert "\n" not in str(error)  # noqa: PT017 - whether it raises is open
        return []
