"""`thalweg study stacks`: the modelled endpoint against a real QUIC stack."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.console import Bar
from thalweg.cli.options import Audit, Format, Jobs, SeedSet
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.errors import RequestError, did_you_mean
from thalweg.seeds import SET_SIZE


def stacks(
    controller: Annotated[
        list[str] | None,
        typer.Option("--controller", "-c", metavar="NAME", help="Of the flow; may be repeated [c4]."),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", metavar="NAME", help="May be repeated [all of the suite c4 with one flow]."),
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", "-n", min=1, max=SET_SIZE, help="Trials of each scenario.")
    ] = 100,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/stacks.md."""
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.runner.table import Table  # noqa: PLC0415
    from thalweg.studies.stacks import study as experiment  # noqa: PLC0415
    from thalweg.studies.stacks.table import HEADERS, WORDS, table_rows  # noqa: PLC0415

    known = experiment.scenarios()
    names = tuple(dict.fromkeys(name.removeprefix("c4/") for name in scenario or ()))
    for name in names:
        if name not in known:
            raise RequestError(
                f"--scenario {name!r}: not one of the suite c4 with one flow{did_you_mean(name, known)}"
            )
    controllers = tuple(dict.fromkeys(controller or ("c4",)))
    for name in names or known:
        for one in controllers:
            experiment.load(name, one)  # what is refused leaves no folder, and runs nothing
    with reserved(out):
        with Bar() as bar:
            done = experiment.run(controllers, names or None, trials, seed, jobs, bar.show)
        return conclude(
            done, f"{len(done.cells)} rows", format_, out, [Table(HEADERS, table_rows(done.result), WORDS)]
        )
