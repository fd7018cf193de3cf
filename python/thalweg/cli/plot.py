"""`thalweg plot`: the figure of a trial with chosen panels, or of several over each other."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import millimetres
from thalweg.cli.console import Bar, note
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    Binding,
    ScenarioName,
    Settings,
    StackChoice,
    check_figure,
    read_bindings,
    settings,
)
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.selection import only
from thalweg.judging.measures import kind_of

if TYPE_CHECKING:
    from thalweg.pages.figures.figure import Figure

_MOST = 8
"""Most trials over each other: this many colours are easy to distinguish."""
_MOST_TRIALS = 1000
"""Most trials of each controller in a figure of delays."""


class Theme(StrEnum):
    """How a figure looks."""

    SCREEN = "screen"
    DARK = "dark"
    PAPER = "paper"


def plot(
    scenario: ScenarioName,
    output: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The figure: .html, .png, .svg or .pdf."),
    ],
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            "-c",
            metavar="FLOW=NAME",
            help='Set the controller of a flow; several are overlaid, "main=cubic as mild" by that name.',
        ),
    ] = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Annotated[
        list[int] | None,
        typer.Option("--seed", min=0, help="Seed of the trial; several are drawn over each other [1]."),
    ] = None,
    panels: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Panels, separated by commas: states, limits, window, rtt, rate, queue, marks, held, encoder, "
            "freezes, frames [all].",
        ),
    ] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option("--flow", metavar="NAME", help="Draw only this flow; may be repeated [all]."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTH", help="Width of the picture, letters included, such as 88mm.")
    ] = None,
    theme: Annotated[
        Theme, typer.Option(help="Theme: screen, dark, or paper (black 8-point text).")
    ] = Theme.SCREEN,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title instead of the scenario's.")] = None,
    delays: Annotated[
        int | None,
        typer.Option(
            "--delays",
            metavar="N",
            min=1,
            max=_MOST_TRIALS,
            help="Instead: the distribution of the frame delays of a call, over N trials of each controller.",
        ),
    ] = None,
    audit: Audit = False,
) -> None:
    """Draw a trial, or overlay several, with several controllers or seeds.

    Example: `thalweg plot c4/bad-wifi -c main=c4 -c "main=cubic as mild" --panels rtt,queue -o rtt.pdf`
    """
    if delays is not None and panels is not None:
        raise RequestError("--delays cannot be combined with --panels: it is a figure of its own")
    if delays is not None and len(seed or []) > 1:
        raise RequestError("--delays takes one --seed, for the first trial; the others follow")
    check_figure("--out", output)
    width_mm = None if size is None else millimetres(size, "--size")
    if width_mm is not None and output.suffix == ".html":
        raise RequestError("--size cannot be combined with a page (.html), which is as wide as its window")
    wanted = list(dict.fromkeys(panels.split(","))) if panels is not None else None
    _refuse_panels(wanted)
    entry = find_scenario(scenario)
    keys = settings(set_, stack, allow_unseeded)
    runs = list(_runs(read_bindings(controller, repeated=True), list(dict.fromkeys(seed or [1]))))
    if len(runs) > _MOST:
        raise RequestError(f"{len(runs)} trials over each other; accepted: at most {_MOST}")
    loaded = {label: (Scenario.from_entry(entry, keys, pairs), at, names) for label, pairs, at, names in runs}
    if delays is not None:
        _delays({label: one for label, (one, _, _) in loaded.items()}, (runs[0][2], delays), flow, title).save(
            output, width_mm, theme.value
        )
        note(f"wrote {output}")
        return
    trials: dict[str, Trial] = {}
    with Bar() as bar:
        for number, (label, (loaded_scenario, at, _)) in enumerate(loaded.items()):
            bar.show(label or loaded_scenario.name, number, len(loaded))
            trials[label] = loaded_scenario.run(at, trace=True)
    from thalweg.pages.figures import PANELS, plot_trial, plot_trials  # noqa: PLC0415 - after what may be refused

    chosen = wanted or PANELS
    if len(trials) > 1:
        figure = plot_trials(trials, title, panels=chosen, flows=flow)
    else:
        ((label, trial),) = trials.items()
        figure = plot_trial(trial, title, panels=chosen, labels=loaded[label][2], flows=flow)
    figure.save(output, width_mm, theme.value)
    note(f"wrote {output}")


def _delays(
    scenarios: dict[str, Scenario], seeds: tuple[int, int], flows: list[str] | None, title: str | None
) -> Figure:
    """The figure of the delays of frames, of so many trials from the first seed on."""
    from thalweg.pages.calls.delays import plot_delays  # noqa: PLC0415 - after what may be refused

    first, count = seeds
    trials: dict[str, list[pl.DataFrame]] = {}
    with Bar() as bar:
        for place, (label, scenario) in enumerate(scenarios.items()):
            calls = [one for one in scenario.flows if kind_of(one["workload"] or "") == "call"]
            asked = {one["name"] for one in calls} if flows is None else set(flows)
            if not any(one["name"] in asked for one in calls):
                named = ", ".join(one["name"] for one in calls)
                known = f"--flow {named}" if named else "a scenario with a call"
                raise RequestError(f"--delays requires a call; accepted: {known}")
            name = label or ", ".join(one["controller"] for one in calls)
            for number in range(count):
                bar.show(name, place * count + number, len(scenarios) * count)
                played = only(scenario.run(first + number, trace=True), flows)
                trace = played.trace
                trials.setdefault(name, []).append(trace.frames if trace is not None else pl.DataFrame())
    shown = next(iter(scenarios.values())).title
    return plot_delays(trials, title or shown)


def _runs(
    bound: list[Binding], seeds: list[int]
) -> Iterator[tuple[str, list[tuple[str, str]], int, dict[str, str]]]:
    """For each trial: its name, its controllers, its seed, and the labels of its flows."""
    flows = dict.fromkeys(binding.flow for binding in bound)
    sides = [[binding for binding in bound if binding.flow == flow] for flow in flows]
    for chosen in product(*sides):
        varied = [
            binding.label or binding.controller
            for binding, side in zip(chosen, sides, strict=True)
            if len(side) > 1
        ]
        labels = {binding.flow: binding.label for binding in chosen if binding.label}
        for seed in seeds:
            name = ", ".join(varied + ([f"seed {seed}"] if len(seeds) > 1 else []))
            yield name, [(binding.flow, binding.controller) for binding in chosen], seed, labels


def _refuse_panels(wanted: list[str] | None) -> None:
    from thalweg.pages.figures.trial import PANELS  # noqa: PLC0415 - other refusals need no figures

    for name in wanted or ():
        if name not in PANELS:
            raise RequestError(f"--panels {name!r}: no panel has this name{did_you_mean(name, PANELS)}")
