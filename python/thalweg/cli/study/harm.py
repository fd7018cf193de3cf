"""`thalweg study harm`: what a long flow does to short ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thalweg.cli.console import Bar
from thalweg.cli.options import Audit, Format, Jobs, SeedSet, refuse_audit
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.cli.study.live import Bound, Live, Realtime, announce, timing
from thalweg.errors import RequestError, did_you_mean
from thalweg.seeds import SET_SIZE

if TYPE_CHECKING:
    from thalweg.studies.harm.parameters import Parameters

_PATH, _WORK, _SIDES = "Path", "Short flows", "Who competes"


def harm(
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Set of parameters: ccafct, ccafct-test, live; other options change it."
        ),
    ] = "ccafct",
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="Every controller against every other, or those that are named.",
            rich_help_panel=_SIDES,
        ),
    ] = False,
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            "-c",
            metavar="NAME",
            help="Of the short flows; may be repeated [cubic].",
            rich_help_panel=_SIDES,
        ),
    ] = None,
    competitor: Annotated[
        list[str] | None,
        typer.Option(
            "--competitor",
            metavar="NAME",
            help="Of the long flow; may be repeated [cubic, prague].",
            rich_help_panel=_SIDES,
        ),
    ] = None,
    head_start: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How much earlier the long flow starts [20 s].", rich_help_panel=_SIDES),
    ] = None,
    rtt: Annotated[
        list[str] | None,
        typer.Option(
            "--rtt", metavar="TIME", help="May be repeated [10, 20, 40, 80, 160 ms].", rich_help_panel=_PATH
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the bottleneck [50 Mbps].", rich_help_panel=_PATH)
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL:OPTION=VALUE,...", help="Of the bottleneck [fq-codel:flows=1].", rich_help_panel=_PATH
        ),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="What the queue holds [10240 packets; drop-tail: 1 bdp].", rich_help_panel=_PATH
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Short flows in each replication [900].", rich_help_panel=_WORK),
    ] = None,
    mean_gap: Annotated[
        str | None, typer.Option(metavar="TIME", help="Between their arrivals [200 ms].", rich_help_panel=_WORK)
    ] = None,
    gap: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Distribution of the gaps: exponential or constant [exponential].",
            rich_help_panel=_WORK,
        ),
    ] = None,
    p5: Annotated[
        str | None,
        typer.Option("--p5", metavar="BYTES", help="5th percentile of lengths [65536 B].", rich_help_panel=_WORK),
    ] = None,
    p95: Annotated[
        str | None,
        typer.Option(
            "--p95", metavar="BYTES", help="95th percentile of lengths [2097152 B].", rich_help_panel=_WORK
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Simulated end of a replication, head start included [290 s].",
            rich_help_panel=_WORK,
        ),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications",
            "-n",
            min=1,
            max=SET_SIZE,
            help="Replications of each row, on paired seeds [20; with --live 2].",
        ),
    ] = None,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    live: Live = False,
    realtime: Realtime = False,
    bound: Bound = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/harm.md."""
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.harm import study as experiment  # noqa: PLC0415
    from thalweg.studies.harm.parameters import presets  # noqa: PLC0415
    from thalweg.studies.harm.table import MORE, TIMES, WORDS, more_rows, times_rows  # noqa: PLC0415
    from thalweg.studies.runner.table import Table  # noqa: PLC0415

    asked = timing(live, realtime, bound)
    if live:
        from thalweg.live.kernel import with_simulated  # noqa: PLC0415

        preset = "live" if preset == "ccafct" else preset
        controller = list(with_simulated(controller or (), "--controller"))
        competitor = list(with_simulated(competitor or (), "--competitor"))
    known = presets()
    if preset not in known:
        raise RequestError(f"--preset {preset!r}: no preset has this name{did_you_mean(preset, known)}")
    parameters = known["matrix" if matrix and preset == "ccafct" else preset]
    everyone = known["matrix"].controllers if matrix else ()
    sides = _sides(parameters, controller or (), competitor or (), everyone)
    given = {
        "rtts": tuple(dict.fromkeys(rtt or ())) or None,
        "rate": rate,
        "queue": queue,
        "buffer": buffer,
        "head_start": head_start,
        "count": count,
        "mean_gap": mean_gap,
        "gap": gap,
        "p5": p5,
        "p95": p95,
        "time_limit": time_limit,
    }
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    parameters = replace(parameters, **sides, **chosen)
    live = any(cell.is_live for cell in parameters.cells())
    if live:
        refuse_audit()
    n = replications or (experiment.LIVE_REPLICATIONS if live else experiment.REPLICATIONS)
    if out or live:
        parameters.scenarios()  # what is refused leaves no folder
    announce(*parameters.live_span_s(n))
    with reserved(out):
        with Bar() as bar:
            done = experiment.run(parameters, n, seed, jobs, bar.show, asked)
        sheets = [Table(TIMES, times_rows(done.result), WORDS), Table(MORE, more_rows(done.result), WORDS)]
        return conclude(done, f"{len(done.cells)} rows", format_, out, sheets)


def _sides(
    parameters: Parameters, controllers: Sequence[str], competitors: Sequence[str], everyone: Sequence[str]
) -> dict[str, Any]:
    """Who is harmed and who harms: what was asked for, or the preset's; in a matrix, everyone on both sides."""
    named = tuple(dict.fromkeys([*controllers, *competitors])) or tuple(everyone)
    return {
        "controllers": (named if everyone else tuple(dict.fromkeys(controllers))) or parameters.controllers,
        "competitors": (named if everyone else tuple(dict.fromkeys(competitors))) or parameters.competitors,
    }
