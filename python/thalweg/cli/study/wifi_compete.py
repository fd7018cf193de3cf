"""`thalweg study wifi-compete`: early versions of C4 against others on bad Wi-Fi."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.console import Bar
from thalweg.cli.options import Audit, Format, Jobs, SeedSet
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.errors import RequestError
from thalweg.seeds import SET_SIZE


def wifi_compete(
    trials: Annotated[int, typer.Option("--trials", "-n", min=2, max=SET_SIZE, help="Trials of each row.")] = 1000,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    shared_jitter: Annotated[
        bool,
        typer.Option("--shared-jitter", help="One jitter sequence for all trials, as in the paper."),
    ] = False,
    jitter_seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="Which sequence --shared-jitter takes [1].")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/wifi-compete.md."""
    if jitter_seed is not None and not shared_jitter:
        raise RequestError("--jitter-seed chooses the sequence of --shared-jitter; accepted: both, or neither")
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.runner.table import Table  # noqa: PLC0415
    from thalweg.studies.wifi_compete import study as experiment  # noqa: PLC0415
    from thalweg.studies.wifi_compete.table import (  # noqa: PLC0415
        FINDINGS,
        HEADERS,
        WORDS,
        finding_rows,
        table_rows,
    )

    sequence = 1 if shared_jitter and jitter_seed is None else jitter_seed
    with reserved(out):
        with Bar() as bar:
            done = experiment.run(trials, seed, jobs, sequence, bar.show)
        findings = Table(FINDINGS, finding_rows(done.result), len(FINDINGS))
        return conclude(
            done,
            f"{len(done.cells)} rows",
            format_,
            out,
            [Table(HEADERS, table_rows(done.result), WORDS)],
            findings,
        )
