"""`thalweg sweep PLAN.toml`: what the store lacks of a plan, and what was measured."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.base.errors import RequestError
from thalweg.base.files.document import HEAD
from thalweg.base.quantity import text
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json, say, stdout
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Audit, ClusterAddress, Format, Jobs, Quiet, check_outputs
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED
from thalweg.cli.sweep.table import print_rows
from thalweg.engine import audit as auditing
from thalweg.experiments.sweep import Sweep, SweepResult
from thalweg.experiments.sweep.run import Estimate, Tally
from thalweg.experiments.sweep.store import own_files
from thalweg.trials.choice import chosen
from thalweg.trials.store.shard import Shard

Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write one row for each trial, with its replay command."),
]
Parquet = Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="Write these rows as Parquet.")]


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="The plan: scenario, axes, trials.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The store; trials that it has do not run again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials to run and their duration; store nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Begin even if it takes more than a day.")] = False,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only one of N shares of the trials; see thalweg merge.")
    ] = "1/1",
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    audit: Audit = False,
    csv: Csv = None,
    parquet: Parquet = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Run the trials of a plan that its store lacks, and show what was measured at each point.

    Ctrl-C keeps what is finished; the same command goes on from there. The exit status is 1 if a trial failed.

    Example: `thalweg sweep run plan.toml --out results/plan`
    """
    again = command_line("sweep run", inspect.signature(run, eval_str=True), locals())
    sweep, part = Sweep.load(plan), Shard.read(shard)
    stored = own_files(out) if out else ()
    check_outputs({"--csv": csv, "--parquet": parquet}, [plan, Path(sweep.plan.base.file), *stored])
    if dry_run:
        with Bar() as bar, stopped_by_terminate(), chosen(jobs, cluster) as executor:
            estimate = sweep.estimate(out, executor, shard, bar.show)
        _tell(estimate, format_)
        return PASSED
    if out is None:
        raise RequestError("--out is missing; accepted: --out DIR, the folder of the store, or --dry-run")
    with Bar() as bar, stopped_by_terminate(), chosen(jobs, cluster) as executor:
        tally = sweep.play(out, executor, part, bar.show, yes, again)
    return conclude(SweepResult.load(out), tally, format_, csv, parquet)


def conclude(
    result: SweepResult, tally: Tally, format_: Format, csv: Path | None = None, parquet: Path | None = None
) -> int:
    """Prints a sweep, writes its tables, and returns the exit status."""
    if format_ is Format.JSON:
        for piece in _json(result, tally):
            say(piece, end="")
    else:
        print_rows(result)
        stdout().print(_summary(result, tally))
    if csv:
        result.write_csv(csv)
    if parquet:
        result.write_parquet(parquet)
    for error in tally.errors:
        complain(error, label="failed: ")
    for engine in result.others:
        note(f"{result.folder} has trials of engine {engine} too, which are kept and not used")
    if not tally.complete:
        done = tally.present + tally.ran
        complain(
            f"interrupted: {done} trials are finished and kept in {result.folder}; run again to go on", label=""
        )
        return INTERRUPTED
    note(f"wrote {', '.join(str(path) for path in (result.folder, csv, parquet) if path)}")
    return FAILED if result.failed else PASSED


def _tell(estimate: Estimate, format_: Format) -> None:
    if format_ is Format.JSON:
        print_json(
            {
                "points": estimate.points,
                "trials": estimate.trials,
                "present": estimate.present,
                "missing": estimate.missing,
                "core_s": round(estimate.missing * estimate.trial_s, 3),
                "wall_s": round(estimate.wall_s, 3),
            }
        )
        return
    console = stdout()
    console.print(f"{estimate.points} points, {estimate.trials} trials, {estimate.present} already stored")
    if estimate.missing:
        each = f"{text(estimate.trial_s, 's', 2)} each, measured on a few"
        console.print(
            f"{estimate.missing} would run: {text(estimate.wall_s, 's', 2)} with {estimate.width} at once ({each})"
        )


def _json(result: SweepResult, tally: Tally) -> Iterator[str]:
    """The document, piece by piece: a sweep may have more rows than fit into the memory as text."""
    head: dict[str, Any] = {
        **{key: value for key, value in result.head.items() if key in HEAD},
        "planned": tally.trials,
        "ran": tally.ran,
        "present": tally.present,
        "failed": result.failed,
    }
    yield json.dumps(head, indent=2)[:-2] + ',\n  "rows": ['
    separator = "\n"
    for row in result.documents():
        body = json.dumps(row, indent=2, allow_nan=False).replace("\n", "\n    ")
        yield f"{separator}    {body}"
        separator = ",\n"
    yield "\n  ]\n}\n"


def _summary(result: SweepResult, tally: Tally) -> str:
    parts = [
        f"{tally.trials} trials: {tally.ran} ran, {tally.present} were there",
        f"{text(tally.core_s, 's', 3)} of processor time",
        f"{text(tally.wall_s, 's', 3)}",
    ]
    if result.failed:
        parts.insert(1, f"{result.failed} failed")
    if auditing.is_on():
        parts.append("audited")
    return ", ".join(parts)
