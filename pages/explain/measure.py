"""Inference from the files that a trial would have left, against what the engine knows of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from pages.explain import writers
from pages.explain.paths import Made, make
from thalweg.engine.scenario import Scenario
from thalweg.engine.trace import Trace
from thalweg.experiments.explain.file import limits_and_who
from thalweg.foreign.inference.limits import limits, logged
from thalweg.foreign.inference.path import Path as PathFound
from thalweg.foreign.inference.path import path
from thalweg.foreign.inference.who import CANDIDATES, Who, who
from thalweg.foreign.reading import View, read
from thalweg.foreign.reading.own import of_tables
from thalweg.foreign.reading.view import steps

FORMS = ("qlog", "capture")
FLOW = "main"


@dataclass(frozen=True)
class Case:
    """A trial, and what files say of it."""

    made: Made
    trace: Trace

    @staticmethod
    def of(kind: str, seed: int, controller: str | None = None) -> Case:
        """Plays it."""
        made = make(kind, seed, controller)
        trace = made.scenario().run(1, trace=True).trace
        assert trace is not None, "asked for"
        return Case(made, trace)

    def truth(self) -> View:
        """Everything that the engine knows of the sender."""
        return next(view for view in of_tables(self.trace.flows, self.trace.packets) if view.name == FLOW)

    def packets(self) -> View:
        """Only packets, with the marks that the acknowledgements brought."""
        views = of_tables(self.trace.flows, self.trace.packets, logged=False)
        view = next(one for one in views if one.name == FLOW)
        marked = self.trace.links.filter(pl.col("link") == "down").select("time_s", "marked_packets")
        grown = marked.filter(pl.col("marked_packets").diff().fill_null(0) > 0)
        begin = float(self.trace.flows.filter(pl.col("flow") == FLOW)["time_s"][0])
        # A mark is set as a packet leaves the queue; it is known half a round trip to and fro later.
        known = (grown["time_s"].to_numpy() - begin + self.made.rtt_s).tolist()
        return replace(view, marks=steps(known, grown["marked_packets"].cast(pl.Float64).to_list()))

    def view(self, form: str) -> View:
        """What a file of this form says."""
        found = writers.entries(self.trace, FLOW, self.made.window_bytes)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace"
            if form == "capture":
                writers.capture(found, file, self.made.window_bytes)
            else:
                file.write_text(writers.quic_go(found))
            return read(file)[0]


def seconds(case: Case, form: str) -> Iterator[tuple[str, str]]:
    """What limited the sender in each second: the truth, and what is inferred."""
    view = case.view(form)
    held = limits_and_who(view)[0]
    assert held is not None, "a sender"
    found = held.by_seconds()
    for second, truth in enumerate(logged(case.truth()).by_seconds()):
        if truth:
            yield truth, found[second] if second < len(found) else ""


def confusion(kinds: tuple[str, ...], seeds: range, form: str) -> dict[str, Counter[tuple[str, str]]]:
    """By kind, how often which truth was taken for which cause."""
    return {kind: Counter(pair for seed in seeds for pair in seconds(Case.of(kind, seed), form)) for kind in kinds}


@dataclass(frozen=True)
class PathErrors:
    """Relative errors of one trace; None where nothing was said."""

    capacity: float | None
    rtt: float
    buffer: float | None
    has_overflow: bool
    says_overflow: bool


def path_errors(kind: str, seed: int) -> PathErrors:
    """What is said of the path of one trace, against the truth."""
    case = Case.of(kind, seed)
    found: PathFound = path(case.packets())
    made = case.made
    drops = case.trace.drops.filter((pl.col("reason").cast(pl.String) == "queue") & (pl.col("flow") == FLOW))
    capacity = found.capacity_bps if found.is_capacity_seen else None
    buffer = found.buffer_bytes if found.is_buffer_seen else None
    return PathErrors(
        None if capacity is None else capacity / made.rate_bps - 1,
        (found.base_rtt_s or np.nan) / made.rtt_s - 1,
        None if buffer is None else buffer / made.buffer_bytes - 1,
        drops.height > 0,
        found.is_buffer_seen,
    )


def named(kind: str, seed: int, controller: str, logged: bool = False) -> Who:
    """Who the sender of a trace seems to be, only from its packets, or with its window and pacing rate."""
    return named_in(Case.of(kind, seed, controller), logged)


def named_in(case: Case, logged: bool = False) -> Who:
    """The same, of a trace that was played."""
    view = case.packets()
    if logged:
        view = replace(case.truth(), limits=(), marks=view.marks)
    return who(view, limits(view, is_explained=not logged), CANDIDATES)


def of_regression(scenario: str, bug: str, logged: bool) -> Who:
    """Who seems to be in 30 s of a scenario of the suite regressions, in the first trial that fails.

    `logged`: from window and pacing rate too.
    """
    name = f"mutant:bug={bug}"
    whole = Scenario.load(f"regressions/{scenario}", controllers={FLOW: name})
    # Some bugs show in some trials.
    seed = next(seed for seed in range(1, 11) if whole.run(seed).verdict().answer == "fails")
    played = Scenario.load(f"regressions/{scenario}", {"time_limit": "30 s"}, {FLOW: name}).run(seed, trace=True)
    assert played.trace is not None, "asked for"
    views = of_tables(played.trace.flows, played.trace.packets, logged)
    view = replace(next(one for one in views if one.name == FLOW), limits=())
    return who(view, limits(view, is_explained=not logged))
