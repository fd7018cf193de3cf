"""`thalweg study loopback`: throughput over 127.0.0.1."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.console import Bar
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Format
from thalweg.cli.study_end import Out, conclude
from thalweg.errors import RequestError
from thalweg.quantity import seconds


def loopback(
    runs: Annotated[int, typer.Option("--runs", "-n", min=1, help="Runs of each variant, in turn.")] = 5,
    length: Annotated[str, typer.Option("--length", metavar="TIME", help="About how long a run takes.")] = "3s",
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/loopback.md."""
    run_s = seconds(length, "--length")
    if not 0.01 <= run_s <= 600:
        raise RequestError(f"--length {length!r}: expected 10ms to 600s")
    # The modules of one study are loaded for that study alone; altair takes its time.
    from thalweg.studies import loopback as experiment  # noqa: PLC0415
    from thalweg.studies.loopback_table import FINDINGS, HEADERS, WORDS, finding_rows, table_rows  # noqa: PLC0415

    if out:
        from thalweg.studies.folder import check_folder  # noqa: PLC0415

        check_folder(out)
    with stopped_by_terminate(), Bar() as bar:
        done = experiment.run(runs, run_s, bar.show)
    findings = (FINDINGS, finding_rows, len(FINDINGS))
    return conclude(done, f"{done.result.trials} rounds", format_, out, [(HEADERS, table_rows, WORDS)], findings)
