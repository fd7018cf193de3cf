"""`thalweg hunt PLAN.toml`: the worst scenario of a space."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Audit, ClusterAddress, Format, Jobs, Quiet
from thalweg.cli.status import FAILED, INTERRUPTED, NOTHING_FOUND, PASSED

if TYPE_CHECKING:
    from thalweg.experiments.hunt import Find
    from thalweg.judging.statistics.interval import Interval
    from thalweg.pages.lab_link import TrialLink

_SHOWN = 3


def hunt(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="The plan: scenario, axes and objective.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the find goes: scenario, figure, experiment.json. Trials that are there do not run again.",
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="Number of scenarios to try, instead of the plan's.")
    ] = None,
    search_seed: Annotated[
        int | None, typer.Option(min=0, max=2**32 - 1, help="Seed of the search, instead of the plan's.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="CORPUS", help="Also put the find into this folder, a suite for thalweg suite."),
    ] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw no figure; thalweg plot can.")] = False,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Search a space for the scenario in which a flow does worst, and reduce it.

    The worst is replayed on fresh seeds before it is called a find; exit status 5 if nothing is found. The same
    plan finds the same scenario, however many threads or workers there are. Ctrl-C keeps the worst so far.

    Example: `thalweg hunt plan.toml --out results/hunt --keep corpus`
    """
    from thalweg.cli.store.playing import storing  # noqa: PLC0415 - loads tables
    from thalweg.experiments.hunt import Hunt  # noqa: PLC0415 - loads tables
    from thalweg.experiments.hunt.keep import SHRUNK, check_corpus, place_of, reserve_folder, save  # noqa: PLC0415
    from thalweg.experiments.hunt.keep import keep as keep_in  # noqa: PLC0415
    from thalweg.trials.store.shard import Shard  # noqa: PLC0415

    again = command_line("hunt", inspect.signature(hunt, eval_str=True), locals())
    if out is None:
        raise RequestError("--out is missing; accepted: --out DIR, a folder for the find")
    read = Hunt.load(plan).plan
    read = replace(read, budget=budget or read.budget)
    if search_seed is not None:
        read = replace(read, search_seed=search_seed)
    if keep:
        check_corpus(keep)
    with reserve_folder(out), Bar() as bar, stopped_by_terminate():
        with storing(out, jobs, cluster, Shard()) as executor:
            find = Hunt.of(read).run(on_progress=bar.show, executor=executor)
        find.command = again
        place = place_of(find, out)
        try:
            saved = save(find, place, not no_figure, bar.show)
            if keep and find.is_worse:
                saved.files.append(keep_in(find, keep))
        except KeyboardInterrupt:
            complain(
                f"interrupted while the find was written: see {place}; its figure or others are missing", label=""
            )
            return INTERRUPTED
    if format_ is Format.JSON:
        print_json(find.document())
    else:
        _print(find, place, saved.links.get(SHRUNK))
    for failure in find.failures[:_SHOWN]:
        complain(failure.error, label="failed: ")
    if keep and not find.is_worse:
        complain(f"nothing is kept in {keep}: nothing was found", label="")
    if not find.complete:
        told = f"the worst of {find.tried} scenarios is kept in {place}"
        if find.says != "found":
            told = (
                f"{told}, not replayed on fresh seeds"
                if find.is_worse
                else f"nothing found in {find.tried} scenarios"
            )
        told += f"; {out} holds the older find" if place != out else ""
        complain(f"interrupted: {told}", label="")
        return INTERRUPTED
    note(f"wrote {', '.join(map(str, saved.files))}")
    return FAILED if find.failures else PASSED if find.is_worse else NOTHING_FOUND


def _print(find: Find, out: Path, link: TrialLink | None) -> None:
    console = stdout()
    unit = find.objective.unit

    def shown(value: float) -> str:
        return text(value, unit, 3) if unit else f"{value:.3g}"

    def between(interval: Interval | None) -> str:
        if interval is None:
            return "-"
        return f"{shown(interval.value)} ({shown(interval.low)} to {shown(interval.high)})"

    heads = ("", find.objective.kind, f"on {find.replays} fresh seeds")
    if not find.is_worse:
        found = f"nothing found: none of {find.tried} scenarios is worse than the plan's"
        if not find.refuted:
            console.print(f"{found}: {shown(find.baseline)}")
            return
        console.print(f"{found} on fresh seeds")
        lines = [("the plan's scenario", shown(find.baseline), between(find.refuted[0].base))]
        lines += [
            (f"scenario {one.at} of {find.tried}", shown(one.value), between(one.objective))
            for one in find.refuted
        ]
        console.print(plain_table(heads, lines, 1))
        return
    from thalweg.experiments.hunt.find import count  # noqa: PLC0415 - loads tables

    replayed, shrunk = find.replayed, find.shrunk_replayed
    table = plain_table(
        (*heads, "numbers"),
        [
            ("the plan's scenario", shown(find.baseline), between(replayed.base if replayed else None), ""),
            (
                f"found, scenario {find.at} of {find.tried}",
                shown(find.found_value),
                between(replayed.objective if replayed else None),
                str(count(find.found)),
            ),
            ("shrunk", shown(find.value), between(shrunk.objective if shrunk else None), str(count(find.shrunk))),
        ],
        1,
    )
    console.print(table)
    console.print(find.sentence)
    parts = [f"{find.ran} trials", text(find.wall_s, "s", 3)]
    if find.refused:
        parts.append(f"{find.refused} scenarios are invalid, the first because of: {find.refusal}")
    if find.failures:
        parts.append(f"{len(find.failures)} failed")
    console.print(", ".join(parts))
    console.print(f"thalweg run {out / 'find.toml'} --seed {find.seed} -n 1", soft_wrap=True)
    if link is not None:
        console.print(f"open this trial in the lab: thalweg lab --open --trial '{link.fragment}'", soft_wrap=True)
