"""`thalweg sweep merge`: the stores of shards, or of several machines, as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.console import Bar
from thalweg.cli.options import Format, Quiet, check_writable
from thalweg.cli.sweep.run import Csv, Parquet, conclude
from thalweg.experiments.sweep import SweepResult
from thalweg.experiments.sweep.merge import merge as merge_stores
from thalweg.experiments.sweep.run import Tally


def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Stores of shards of one plan.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where all their trials go.")
    ] = None,
    csv: Csv = None,
    parquet: Parquet = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Put the trials of several stores into one.

    Trials that are in it already are not taken twice, so a merge that was stopped is simply run again.

    Example: `thalweg sweep merge results/shard-* --out results/plan`
    """
    for file in filter(None, (csv, parquet)):
        check_writable(file)
    if out is None:
        raise RequestError("--out is missing; accepted: --out DIR, a folder for all trials")
    with Bar() as bar:
        new = merge_stores(stores, out, bar.show)
    result = SweepResult.load(out)
    trials = int(result.rows["trials"].sum())
    tally = Tally(trials=trials, ran=0, present=trials - new)
    return conclude(result, tally, format_, csv, parquet)
