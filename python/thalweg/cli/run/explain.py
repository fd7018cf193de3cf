"""`thalweg explain`: why a flow was as slow as it was, of a scenario or of a file of another program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg._native import visible
from thalweg.base.errors import RequestError, did_you_mean, printable
from thalweg.base.files.whole_file import whole_file
from thalweg.cli.console import complain, print_json, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.options import (
    AllowUnseeded,
    Controllers,
    Format,
    Settings,
    StackChoice,
    bindings,
    check_figure,
    check_outputs,
    settings,
)
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.foreign.kinds import is_foreign

if TYPE_CHECKING:
    from thalweg.engine.outcome import FlowDescription, Trial
    from thalweg.experiments.explain.what_if import Pairs


_FOR_LAB = ".json"
"""The ending of what the page of the lab opens."""


def explain(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|FILE|DIR",
            help="A shipped scenario (c4/bad-wifi) or its file, a qlog, a capture, JSON of iperf3, a trace; or "
            "the folder of a stored result.",
        ),
    ],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The scenario, in a stored result.")] = None,
    index: Annotated[
        str | None, typer.Argument(metavar="TRIAL", help="The trial in it: its number, or `worst`.")
    ] = None,
    flow: Annotated[
        str | None, typer.Option(metavar="NAME", help="The flow to explain [the first, or the largest of a file].")
    ] = None,
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the trial.")] = 1,
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="CONTROLLER", help="For a file: the controller to compare its sender with."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="For a file: a page (.html), a picture, or .json for the lab.",
        ),
    ] = None,
    what_if_: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="NAMES", help="For a file: play it with these controllers: c4,bbr."),
    ] = None,
    scenario_out: Annotated[
        Path | None,
        typer.Option(
            "--scenario", metavar="FILE", help="For a file: write the scenario (.toml) inferred from it."
        ),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> None:
    """Say why a flow was slow, in a scenario or in a file of another program.

    For a scenario, limits and causes come from the simulator, which knows them; the table plays the same seed
    without what stood in the way, and with other controllers. For a file, they follow from what it says.

    Example: `thalweg explain c4/bad-wifi --seed 3`
    """
    asked = _OfFile(as_, _names(what_if_), out, scenario_out)
    of_scenarios = {
        "--controller": controller,
        "--set": set_,
        "--stack": stack,
        "--seed": seed != 1,
        "--allow-unseeded": allow_unseeded,
    }
    if name is not None:
        _refuse(
            {**of_scenarios, **asked.options()},
            "cannot be combined with a stored trial; accepted: --flow, --format",
        )
        _explain_stored(scenario, name, index, flow, format_)
        return
    if is_foreign(scenario):
        accepted = "--flow, --as, --what-if, --scenario, --out, --format"
        _refuse(of_scenarios, f"cannot be combined with a file of another program; accepted: {accepted}")
        explain_file(scenario, flow, asked, format_)
        return
    _refuse(asked.options(), f"requires a file of another program; {scenario} is a scenario")
    entry = find_scenario(scenario)
    keys, bound = settings(set_, stack, allow_unseeded), bindings(controller)
    loaded = Scenario.from_entry(entry, keys, bound)
    chosen = _flow(flow, loaded.flows)
    trial = loaded.run(seed, trace=True)
    explained = Explained(entry.reference, partial(Scenario.from_entry, entry), keys, bound)
    _print(explained, trial, seed, chosen, format_)


@dataclass(frozen=True)
class Explained:
    """A scenario of which a trial is explained."""

    reference: str
    read: Callable[[Pairs, Pairs], Scenario]
    keys: Pairs = ()
    controllers: Pairs = ()


def _explain_stored(result: str, name: str, index: str | None, flow: str | None, format_: Format) -> None:
    """Explains a trial of a stored result, which is played again."""
    if index is None:
        raise RequestError(f"explain {result} {name}: the trial is missing; accepted: its number, or worst")
    from thalweg.cli.replay import index_of  # noqa: PLC0415
    from thalweg.results.replay import is_same, replay_trial  # noqa: PLC0415
    from thalweg.results.suite_result import SuiteResult  # noqa: PLC0415

    outcomes = SuiteResult.load(result)[name]
    stored = outcomes.scenario
    chosen = _flow(flow, stored.flows)
    number = index_of(index, outcomes)
    trial = replay_trial(outcomes, number)
    if not is_same(outcomes, number, trial):
        complain(f"the trial differs from the stored one; thalweg replay {result} {name} {index} says why")
    read = partial(Scenario.from_toml, stored.toml, stored.name)
    _print(Explained(f"{result} {stored.name}", read), trial, trial.seed, chosen, format_)


def _flow(flow: str | None, flows: Sequence[FlowDescription]) -> str:
    """The flow that is meant. Raises RequestError."""
    names = [str(one["name"]) for one in flows]
    chosen = flow if flow is not None else names[0]
    if chosen not in names:
        raise RequestError(f"--flow {flow!r}: the scenario has no such flow{did_you_mean(chosen, names)}")
    return chosen


def _print(of: Explained, trial: Trial, seed: int, flow: str, format_: Format) -> None:
    from thalweg.experiments.explain import account, what_if  # noqa: PLC0415 - after what may be refused

    found = account(trial, flow)
    rows = list(what_if(of.read, of.keys, of.controllers, seed, trial, found))
    if format_ is Format.JSON:
        played = [one.document() for one in rows]
        print_json({"scenario": of.reference, "seed": seed, **found.document(), "what_if": played})
        return
    console = stdout()
    console.print(f"{trial.outcomes.scenario.title}  ({of.reference}, seed {seed})\n")
    for sentence in found.sentences():
        console.print(sentence)
    table = FittingTable(rows[0].headers(), 1, ["RTT", "mos", "rate"])
    for one in rows:
        table.add_row(*one.cells())
    console.print(table)


@dataclass(frozen=True)
class _OfFile:
    """What is asked of a file."""

    controller: str | None
    what_if: list[str]
    out: Path | None
    scenario: Path | None

    def options(self) -> dict[str, object]:
        """By the names of its options."""
        return {"--as": self.controller, "--out": self.out, "--what-if": self.what_if, "--scenario": self.scenario}


def explain_file(file: str, flow: str | None, asked: _OfFile, format_: Format) -> None:
    """Explains a file of another program."""
    if asked.out is not None:
        check_figure("--out", asked.out, (_FOR_LAB,))
    if asked.scenario is not None and asked.scenario.suffix != ".toml":
        raise RequestError(f"--scenario {printable(str(asked.scenario))}: accepted: a name that ends in .toml")
    check_outputs({"--out": asked.out, "--scenario": asked.scenario}, [Path(file)])
    from thalweg.experiments.explain import account_of_file, opened, picture  # noqa: PLC0415 - after what may be refused
    from thalweg.experiments.explain.file_what_if import HEADERS  # noqa: PLC0415

    found = account_of_file(file, flow, asked.controller, asked.what_if)
    written = []
    document = {"file": file, **found.document()}
    if asked.scenario is not None:
        with whole_file(asked.scenario) as partial:
            partial.write_text(found.scenario, encoding="utf-8")
        document["scenario"] = found.reproduction.document()
        written += [found.reproduction.sentence(), f"{asked.scenario} has the scenario."]
    if asked.out is not None and asked.out.suffix == _FOR_LAB:
        with whole_file(asked.out) as partial:
            partial.write_text(json.dumps(opened(found, Path(file).name), allow_nan=False), encoding="utf-8")
        written.append(f"{asked.out} opens in the lab.")
    elif asked.out is not None:
        picture(found, Path(file).name, is_page=asked.out.suffix == ".html").save(asked.out)
        written.append(f"{asked.out} has the figure.")
    if format_ is Format.JSON:
        print_json(document)
        return
    for sentence in replace(found, swaps=()).sentences():
        stdout().print(visible(sentence), markup=False, highlight=False)
    if found.swaps:
        table = FittingTable(HEADERS, 1, ["90 % of them", "RTT"])
        for one in found.swaps:
            table.add_row(*one.cells())
        stdout().print(table)
        if found.doubt:
            stdout().print(visible(found.doubt), markup=False, highlight=False)
    for sentence in written:
        stdout().print(visible(sentence), markup=False, highlight=False)


def _names(given: list[str] | None) -> list[str]:
    """The controllers of an option that is repeated or has commas. Raises RequestError."""
    names: list[str] = []
    for part in (part.strip() for one in given or [] for part in one.split(",")):
        # The options of a controller have commas between them too: `cubic:beta=0.7,start=classic`.
        if names and "=" in part.partition(":")[0]:
            names[-1] += f",{part}"
        else:
            names.append(part)
    if not all(names):
        raise RequestError("--what-if: a name is empty; accepted: names of controllers, such as c4,bbr")
    return names


def _refuse(given: Mapping[str, object], why: str) -> None:
    for option, value in given.items():
        if value:
            raise RequestError(f"{option} {why}")
