"""`thalweg study fairness`: who gets how much of a bottleneck."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from thalweg.cli.console import Bar
from thalweg.cli.options import Audit, Format, Jobs, SeedSet
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.seeds import SET_SIZE


def fairness(
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller", "-c", metavar="NAME", help="May be repeated [c4 cubic bbr bbr1 reno prague]."
        ),
    ] = None,
    buffer: Annotated[
        list[float] | None,
        typer.Option("--buffer", metavar="BDP", help="May be repeated; the first is the base [1, 0.5, 2, 4, 8]."),
    ] = None,
    rtt_ratio: Annotated[
        list[float] | None,
        typer.Option("--rtt-ratio", metavar="X", help="RTT of the second flow over the first [1, 2, 4, 8]."),
    ] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="MODEL", help="May be repeated [drop-tail, codel, fq-codel, dualpi2]."),
    ] = None,
    flows: Annotated[
        list[int] | None,
        typer.Option("--flows", metavar="N", help="Flows of one controller; repeatable [2 5 10 20 50 100]."),
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="Of the bottleneck [20 Mbps].")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Of the first flow [40 ms].")] = None,
    gap: Annotated[
        str | None, typer.Option(metavar="TIME", help="From the start of the first flow to the second [5 s].")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Measured, from the start of the last flow [30 s].")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, max=SET_SIZE, help="Trials of each row.")] = 20,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/fairness.md."""
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.fairness import study as experiment  # noqa: PLC0415
    from thalweg.studies.fairness.parameters import Parameters  # noqa: PLC0415
    from thalweg.studies.fairness.table import HEADERS, WORDS, table_rows  # noqa: PLC0415

    lists = {
        "controllers": controller,
        "buffers_bdp": buffer,
        "rtt_ratios": rtt_ratio,
        "queues": queue,
        "flows": flows,
    }
    given: dict[str, Any] = {name: tuple(dict.fromkeys(values)) for name, values in lists.items() if values}
    texts = {"rate": rate, "rtt": rtt, "gap": gap, "duration": duration}
    given |= {name: value for name, value in texts.items() if value is not None}
    parameters = replace(Parameters(), **given)
    parameters.check()
    for cell in parameters.cells():
        parameters.scenario(cell)  # what is refused leaves no folder, and runs nothing
    with reserved(out):
        with Bar() as bar:
            done = experiment.run(parameters, trials, seed, jobs, bar.show)
        return conclude(done, f"{len(done.cells)} rows", format_, out, [(HEADERS, table_rows, WORDS)])
