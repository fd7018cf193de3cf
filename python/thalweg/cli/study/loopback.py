"""`thalweg study loopback`: throughput over 127.0.0.1."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.console import Bar
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Format
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.errors import RequestError
from thalweg.quantity import seconds
from thalweg.quantity import size as bytes_of


def loopback(
    runs: Annotated[int, typer.Option("--runs", "-n", min=1, help="Runs of each variant, in turn.")] = 10,
    length: Annotated[
        str | None,
        typer.Option("--length", metavar="TIME", help="How long a run takes [3s]; with --size, at most [120s]."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="BYTES", help="What each run moves, as 10GB in the blog; not by time."),
    ] = None,
    load: Annotated[
        int, typer.Option("--load", metavar="N", min=0, max=256, help="Processes that compete for the processor.")
    ] = 0,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/loopback.md."""
    length = length or ("3s" if size is None else "120s")
    run_s = seconds(length, "--length")
    moved = None if size is None else bytes_of(size, "--size")
    if moved is not None and not 100_000 <= moved <= 10**11:
        raise RequestError(f"--size {size!r}: expected 100kB to 100GB")
    if not 0.01 <= run_s <= 600:
        raise RequestError(f"--length {length!r}: expected 10ms to 600s")
    # The modules of one study are loaded for that study alone; altair takes its time.
    from thalweg.studies.loopback import study as experiment  # noqa: PLC0415
    from thalweg.studies.loopback.table import FINDINGS, HEADERS, WORDS, finding_rows, table_rows  # noqa: PLC0415
    from thalweg.studies.runner.table import Table  # noqa: PLC0415

    with reserved(out):
        with stopped_by_terminate(), Bar() as bar:
            done = experiment.run(runs, run_s, bar.show, moved, load)
        findings = Table(FINDINGS, finding_rows(done.result), len(FINDINGS))
        return conclude(
            done,
            f"{done.result.trials} rounds",
            format_,
            out,
            [Table(HEADERS, table_rows(done.result), WORDS)],
            findings,
        )
