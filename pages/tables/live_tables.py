"""Tables of real time next to the simulator, whose half is measured again.

What was measured in real time is kept in live_tables.toml.

A run in real time needs a machine of its own for minutes, so its numbers are kept with the command and machine
that made them. The simulated ones are of the commit that made the page, of the same scenarios, seeds and trials.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from pages.made import DOCS, fill, made, row
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.harm.measure import COMPLETION
from thalweg.experiments.studies.harm.study import STUDY as HARM
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.table import number_text
from thalweg.experiments.studies.transient.parameters import PRESETS
from thalweg.experiments.studies.transient.study import STUDY as TRANSIENT
from thalweg.realtime.kernel import simulated

TRIALS = 20
"""Trials of the simulator, where a table says least, median and most."""
ALONE = """title = "One download alone"
[path]
rate = "20 Mbps"
rtt = "80 ms"
buffer = "1 bdp"

[[flow]]
name = "main"
controller = "cubic"
download = "10 MB"
"""
BESIDE = """title = "A download against CUBIC"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "1 bdp"

[[flow]]
name = "main"
stack = "quic"
controller = "cubic"
download = "5 MB"

[[flow]]
name = "background"
stack = "quic"
controller = "cubic"
download = "5 MB"
"""


def transient() -> Iterator[str]:
    """The kernel's three controllers after the start of a flow."""
    kept = _kept("transient")
    yield from _heads(["buffer", "controller"], kept["head"])
    names = [name.rpartition(" ") for name in kept["rows"]]
    controllers = tuple(dict.fromkeys(simulated(controller) for _, _, controller in names))
    chosen = replace(PRESETS["live"], controllers=controllers, duration=kept["duration"])
    found = {
        (str(of["buffer"]), str(of["controller"])): of for of in TRANSIENT.run(chosen, kept["trials"]).result.rows
    }
    columns = (
        ("area_median", ""),
        ("overshoot", ""),
        ("undershoot", ""),
        ("lost_s", "s"),
        ("reaction_median_s", "s"),
    )
    for buffer, _, controller in names:
        of = found[buffer, simulated(controller)]
        cells = [number_text(of, *column, digits=3) for column in columns]
        yield row(buffer, f"`{controller}`", *kept["rows"][f"{buffer} {controller}"])
        yield row("", f"`{simulated(controller)}`", *cells)


def harm() -> Iterator[str]:
    """Short flows of the kernel against long ones."""
    kept = _kept("harm")
    yield from _heads(["short flows", "against"], kept["head"])
    chosen = HARM.choose(
        {
            "preset": "live",
            "rtts": [kept["rtt"]],
            "count": kept["count"],
            "head_start": kept["head_start"],
            "controllers": ["cubic"],
            "competitors": ["cubic", "bbr1"],
        }
    )
    found = {
        (str(of["controller"]), str(of["competitor"] or "-")): of
        for of in HARM.run(chosen, kept["trials"]).result.rows
    }
    for name, cells in kept["rows"].items():
        short, against = name.split()
        pair = (simulated(short), simulated(against))
        yield row(f"`{short}`", _code(against), *cells)
        yield row(f"`{pair[0]}`", _code(pair[1]), *_harm_cells(found[pair]))


def _harm_cells(of: Row) -> Iterator[str]:
    for measure in COMPLETION:
        yield number_text(of, measure.column, measure.unit)
        harmed = of.get(f"{measure.name}_harm")
        yield "-" if harmed is None else f"{float(harmed):.3f}"
    yield number_text(of, "competitor_bps", "bps", 3)


def kernel() -> Iterator[str]:
    """The kernel's TCP alone."""
    kept = _kept("kernel")
    yield from _heads(["controller"], ["simulated: least, median, most", *kept["head"]])
    for controller, cells in kept["rows"].items():
        ours = simulated(controller)
        yield row(f"`{controller}`, `{ours}`", _three(completions(ours, "model")), *cells)


def quic() -> Iterator[str]:
    """The QUIC stack alone."""
    kept = _kept("quic")
    yield from _heads(["controller"], ["modelled: median", "`--stack quic`: least, median, most", *kept["head"]])
    for controller, cells in kept["rows"].items():
        modelled = completions(controller, "model")
        yield row(f"`{controller}`", f"{_middle(modelled):.3f} s", _three(completions(controller, "quic")), *cells)


def share() -> Iterator[str]:
    """The first flow against CUBIC, both of the QUIC stack in the simulator."""
    kept = _kept("share")
    yield from _heads(["first flow"], [*kept["head"], "simulator"])
    for controller, cells in kept["rows"].items():
        outcomes = Scenario.from_toml(BESIDE, "beside", controllers={"main": controller}).trials(1)
        found = outcomes.flows.filter(pl.col("flow") == "main")["share"][0]
        yield row(f"`{controller}`", *cells, f"{found:.2f}")


@lru_cache(maxsize=16)
def completions(controller: str, stack: str) -> tuple[float, ...]:
    """Completion times of 10 MB alone in ascending order."""
    overrides = {"flow.main.stack": f'"{stack}"'}
    scenario = Scenario.from_toml(ALONE, "alone", overrides, {"main": controller})
    return tuple(sorted(scenario.trials(TRIALS).flows["completion_s"].to_list()))


def _middle(times: Sequence[float]) -> float:
    return (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2


def _three(times: Sequence[float]) -> str:
    return ", ".join(f"{time:.3f}" for time in (times[0], _middle(times), times[-1])) + " s"


def _heads(words: Sequence[str], numbers: Sequence[str]) -> Iterator[str]:
    yield row(*words, *numbers)
    yield row(*[":--"] * len(words), *["--:"] * len(numbers))


def _code(name: str) -> str:
    return name if name == "-" else f"`{name}`"


def _kept(name: str) -> dict[str, Any]:
    file = Path(__file__).with_suffix(".toml")
    kept: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))[name]
    return kept


PARTS = (
    ("evidence/studies/transient.md", "live", transient),
    ("evidence/studies/harm.md", "live", harm),
    ("evidence/real-time.md", "kernel", kernel),
    ("evidence/real-time.md", "quic", quic),
    ("evidence/real-time.md", "share", share),
)


def make() -> None:
    """Measures the simulated halves, and fills all tables."""
    for page, part, measure in PARTS:
        kept = _kept(measure.__name__)
        said = f"In real time: `{kept['command']}`, {kept['machine']}."
        fill(DOCS / page, part, "\n".join([*measure(), "", said, "", made("live-tables")]))
