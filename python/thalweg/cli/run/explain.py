"""`thalweg explain`: why a flow was as slow as it was, and what would have helped."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.cli.console import print_json, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.options import AllowUnseeded, Controllers, Format, Settings, StackChoice, bindings, settings
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.scenario import Scenario


def explain(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario (c4/bad-wifi) or a file.")],
    flow: Annotated[str | None, typer.Option(metavar="NAME", help="The flow to explain [the first].")] = None,
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the trial.")] = 1,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> None:
    """Say why a flow was as slow as it was, and play what would have helped.

    Limits and causes are those of the simulator, which knows them. The table plays the same seed without what
    stood in the way, and with other controllers.

    Example: `thalweg explain c4/bad-wifi --seed 3`
    """
    entry = find_scenario(scenario)
    keys, bound = settings(set_, stack, allow_unseeded), bindings(controller)
    loaded = Scenario.from_entry(entry, keys, bound)
    names = [one["name"] for one in loaded.flows]
    chosen = flow if flow is not None else names[0]
    if chosen not in names:
        raise RequestError(f"--flow {flow!r}: the scenario has no such flow{did_you_mean(chosen, names)}")
    trial = loaded.run(seed, trace=True)
    from thalweg.experiments.explain import account, what_if  # noqa: PLC0415 - after what may be refused

    found = account(trial, chosen)
    rows = list(what_if(entry, keys, bound, seed, trial, found))
    if format_ is Format.JSON:
        document = found.document()
        print_json(
            {"scenario": entry.reference, "seed": seed, **document, "what_if": [one.document() for one in rows]}
        )
        return
    console = stdout()
    console.print(f"{loaded.title}  ({entry.reference}, seed {seed})\n")
    for sentence in found.sentences():
        console.print(sentence)
    table = FittingTable(rows[0].headers(), 1, ["RTT", "mos", "rate"])
    for one in rows:
        table.add_row(*one.cells())
    console.print(table)
