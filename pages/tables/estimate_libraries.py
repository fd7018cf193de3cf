"""The suite `estimate` on stacks that others wrote: a table of its page. It needs the libraries of `make stacks`.

A library tells its window, RTT and pacing rate by `thalweg_stack_probe`, as far as it knows them. Media cannot be
combined with the stack of a library, so calls are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import fill as fill_lines

from pages.league.contestants import FAMILIES, Contestant
from pages.made import DOCS, fill, made, row
from pages.tables.estimate import CONTROLLERS, SHOWN, cell
from thalweg.base.errors import ScenarioError
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.judging.verdict import Statistics

PAGE = DOCS / "evidence" / "suites" / "estimate.md"
COLUMNS = [column for column in SHOWN if "call" not in column[0]]


def contestants() -> Iterator[Contestant]:
    """Each controller of each library."""
    yield from (one for family in FAMILIES.values() for one in family if one.is_library)


def make() -> None:
    """Writes the table."""
    lines, core_s, missing = [], 0.0, set()
    for one in contestants():
        if one.library.exists():
            line, taken_s = line_of(one)
            lines.append(line)
            core_s += taken_s
        else:
            missing.add(one.stack)
    heads = [f"{scenario}: {metric} by {estimate}" for scenario, metric, estimate in COLUMNS]
    table = "\n".join([row("stack", "controller", *heads), row(":--", ":--", *("--:" for _ in heads)), *lines])
    ours = [name for name in CONTROLLERS if not name.startswith("noq:")]
    own_s = sum(_played(name, stack)[1] for name, stack in [*((name, "model") for name in ours), *_NOQ])
    left_out = f" Not built, and so not played: {', '.join(sorted(missing))}." if missing else ""
    said = (
        f"All scenarios that can be played, {Suite.find('estimate').trials} trials of each, take {core_s:.1f} s "
        f"of processor time with these; {len(ours)} controllers on the model and {len(_NOQ)} of noq take "
        f"{own_s:.1f} s more.{left_out}"
    )
    fill(
        PAGE,
        "libraries",
        f"""{table}

{fill_lines(said, 110)}

{made("estimate-libraries")}""",
    )


_NOQ = [(name, "quic") for name in CONTROLLERS if name.startswith("noq:")]


def line_of(one: Contestant) -> tuple[str, float]:
    """The line of a controller of a library, and the processor time of all its trials in seconds."""
    played, core_s = _played(one.controller, one.carried_by)
    told = {
        (scenario, estimate): played[scenario][f"told-rate-error by {estimate}"]
        for scenario, _, estimate in COLUMNS
    }
    # The share of time is finite where anything was told.
    cells = [
        cell(played[scenario][f"{metric} by {estimate}"])
        if math.isfinite(told[scenario, estimate].median)
        else "not told"
        for scenario, metric, estimate in COLUMNS
    ]
    name = f"`{one.controller}`" if one.repeats else f"`{one.controller}`, which no seed repeats"
    return row(one.stack, name, *cells), core_s


def _played(controller: str, stack: str) -> tuple[dict[str, dict[str, Statistics]], float]:
    """What all scenarios that the stack can play say, and their processor time in seconds."""
    suite = Suite.find("estimate")
    found, core_s = {}, 0.0
    for entry in suite.entries:
        settings = [] if stack == "model" else [("flow.main.stack", stack)]
        try:
            loaded = Scenario.load(f"estimate/{entry.name}", settings, controllers={"main": controller})
        except ScenarioError:  # media, or probes, cannot be combined with every stack
            continue
        trials = loaded.trials(suite.trials)
        core_s += float(trials.trials["core_s"].sum())
        found[entry.name] = {" ".join(one.metric.split()[:3]): one for one in trials.verdict().criteria}
    return found, core_s
