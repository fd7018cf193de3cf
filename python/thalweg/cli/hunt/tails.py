"""`thalweg tails SCENARIO`: how likely a rare trial is."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.base.quantity import text
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, note, print_json, stdout
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import (
    AllowUnseeded,
    Audit,
    ClusterAddress,
    Controllers,
    Format,
    Jobs,
    Quiet,
    ScenarioName,
    SetNumber,
    Settings,
    StackChoice,
    bindings,
    settings,
)
from thalweg.cli.status import PASSED
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.trials.choice import chosen

if TYPE_CHECKING:
    from thalweg.experiments.tails.tails import TailsResult


def tails(
    scenario: ScenarioName,
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="A metric of flows or streams: thalweg list metrics.")
    ],
    above: Annotated[
        str | None, typer.Option(metavar="VALUE", help='The event: a larger value, e.g. "400 ms".')
    ] = None,
    below: Annotated[
        str | None, typer.Option(metavar="VALUE", help='The event: a smaller value, e.g. "1 Mbps".')
    ] = None,
    to: Annotated[
        float, typer.Option(metavar="P", min=1e-12, max=0.5, help="The least probability that matters.")
    ] = 1e-6,
    flow: Annotated[str | None, typer.Option(metavar="NAME", help="The flow [the first].")] = None,
    stream: Annotated[str | None, typer.Option(metavar="NAME", help="The stream of a call [video].")] = None,
    controller: Controllers = None,
    set_: Settings = None,
    stack: StackChoice = None,
    allow_unseeded: AllowUnseeded = False,
    particles: Annotated[
        int, typer.Option(min=20, max=10**6, help="Trials of each run at each level; more have less error.")
    ] = 1000,
    runs: Annotated[
        int, typer.Option(min=3, max=1000, help="Independent runs, from which the interval is computed.")
    ] = 10,
    seed: SetNumber = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where experiment.json and worst.toml go."),
    ] = None,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Estimate how likely it is that a metric of a trial is beyond a value, with an interval.

    Subset simulation: trials that come near to the event are changed in some blocks of 100 ms, and kept if they
    come as near again, level by level. worst.toml is the trial that came furthest. Experimental: an event of
    only a few blocks can be likelier than the interval says.

    Example: `thalweg tails c4/media-wifi-fade --metric max-delay --above "2 s" --to 1e-6 --out results/tails`
    """
    from thalweg.experiments.tails.event import read_event  # noqa: PLC0415 - loads tables
    from thalweg.experiments.tails.keep import reserve_folder, save  # noqa: PLC0415 - loads tables
    from thalweg.experiments.tails.tails import Tails  # noqa: PLC0415 - loads tables

    again = command_line("tails", inspect.signature(tails, eval_str=True), locals())
    loaded = Scenario.from_entry(
        find_scenario(scenario), settings(set_, stack, allow_unseeded), bindings(controller)
    )
    event = read_event(loaded, metric, flow, stream, above, below)
    experiment = Tails(loaded.toml, loaded.name, event, to, particles, runs, seed)
    with reserve_folder(out) if out else nullcontext(), Bar() as bar, stopped_by_terminate():
        with chosen(jobs, cluster) as executor:
            found = experiment.run(executor, bar.show)
        found.command = again
        written = save(found, out) if out else []
    if format_ is Format.JSON:
        print_json(found.document())
    else:
        _print(found, out)
    if written:
        note(f"wrote {', '.join(map(str, written))}")
    return PASSED


def _print(found: TailsResult, out: Path | None) -> None:
    from thalweg.experiments.tails.tails import SEED  # noqa: PLC0415 - loads tables

    console = stdout()
    asked, probability = found.asked, found.probability
    event = asked.event
    if found.how == "bounded":
        says = f"below {probability.high:.1e}, at 95 %"
    else:
        says = f"{probability.value:.1e} ({probability.low:.1e} to {probability.high:.1e}, 95 %)"
    console.print(f"{event.sentence}: {says}", soft_wrap=True)
    console.print(
        f"{found.means}; {asked.played} trials, {text(asked.core_s, 's', 3)} of processor time", soft_wrap=True
    )
    again = f": thalweg run {out / 'worst.toml'} --seed {SEED}" if out else "; --out DIR keeps this trial"
    console.print(f"furthest: {event.shown(found.worst)}{again}", soft_wrap=True)
