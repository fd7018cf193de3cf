"""`thalweg merge`: the trials of shards, or of several machines, in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.files.stored import kind_in
from thalweg.cli.console import Bar, note
from thalweg.cli.options import Quiet
from thalweg.cli.status import PASSED


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders written with --out.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where all their trials go.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Put the trials of several folders into one.

    Each folder holds a suite, a study, a score, a hunt or a sweep. The same command with this `--out` then plays
    what is still missing, and concludes. A merge that was stopped is simply run again.

    Example: `thalweg merge results/shard-* --out results/c4`
    """
    from thalweg.experiments.sweep.merge import merge as merge_sweeps  # noqa: PLC0415 - loads tables
    from thalweg.trials.store.merging import merge as merge_trials  # noqa: PLC0415

    if out is None:
        raise RequestError("--out is missing; accepted: --out DIR, a folder for all trials")
    sweeps = [kind_in(folder) == "sweep" for folder in folders]
    with Bar() as bar:
        if all(sweeps):
            new = merge_sweeps(folders, out, bar.show)
        elif any(sweeps):
            raise RequestError(
                f"{folders[sweeps.index(True)]} holds a sweep, others do not; merge one kind at a time"
            )
        else:
            new = merge_trials(folders, out, bar.show)
    then = "" if all(sweeps) else f"; the command that played them concludes with --out {out}"
    note(f"{new} {'trial is' if new == 1 else 'trials are'} new in {out}{then}")
    return PASSED
