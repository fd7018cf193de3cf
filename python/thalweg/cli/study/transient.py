"""`thalweg study transient`: how controllers react to steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.cli.console import Bar
from thalweg.cli.options import Audit, Format, Jobs, SeedSet
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.cli.study.live import Bound, Live, Realtime, announce, timing
from thalweg.cli.study.transient_series import measurement, refuse_other_options
from thalweg.live import Timing
from thalweg.seeds import SET_SIZE

_PATH, _OWN = "Path", "A measurement of your own"


def transient(
    context: typer.Context,
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Set of parameters: paper, capacity, rtt, arrival, live; other options change it."
        ),
    ] = "paper",
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            "-c",
            metavar="NAME",
            help="May be repeated [reno, cubic, bbr1, bbr, c4, prague].",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            "--step",
            metavar="AT:KEY=VALUE",
            help="After the start at 0: 20s:rate=24 Mbps, 20s:rtt=100 ms, 20s:flow=cubic; may be repeated. "
            "With --series: the time alone, 20 s.",
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the bottleneck [12 Mbps].", rich_help_panel=_PATH)
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option("--rtt", metavar="TIME", help="Round trip without queues [50 ms].", rich_help_panel=_PATH),
    ] = None,
    buffer: Annotated[
        list[str] | None,
        typer.Option(metavar="SIZE", help="May be repeated [40 packets, 100 packets].", rich_help_panel=_PATH),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Discipline of the bottleneck [drop-tail].", rich_help_panel=_PATH),
    ] = None,
    rate_noise: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Standard deviation of the capacity [2 Mbps].", rich_help_panel=_PATH),
    ] = None,
    delay_noise: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Standard deviation of the delay [1 ms].", rich_help_panel=_PATH),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated length of a trial [60 s].", rich_help_panel=_PATH)
    ] = None,
    series: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Columns time_s, throughput_bps, optionally sent_bps, available_bps (else --rate). Needs --rtt.",
            rich_help_panel=_OWN,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", "-n", min=1, max=SET_SIZE, help="Trials of each cell [100; with --live 3]."),
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
    """Runs the study; see docs/studies/transient.md."""
    if series is not None:
        refuse_other_options(context)
        return measurement(series, rtt, rate, step or [], format_)
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.transient.parameters import Step  # noqa: PLC0415
    from thalweg.studies.transient.parameters import preset as named  # noqa: PLC0415

    asked = timing(live, realtime, bound)
    if live:
        from thalweg.live.kernel import with_simulated  # noqa: PLC0415

        preset = "live" if preset == "paper" else preset
        controller = list(with_simulated(controller or (), "--controller")) or list(named("live").controllers)
    changes: dict[str, Any] = {
        "rate": rate,
        "rtt": rtt,
        "queue": queue,
        "rate_noise": rate_noise,
        "delay_noise": delay_noise,
        "duration": duration,
        "buffers": tuple(dict.fromkeys(buffer or ())) or None,
        "controllers": tuple(dict.fromkeys(controller or ())) or None,
        "steps": tuple(Step.parse(text) for text in step or ()) or None,
    }
    parameters = replace(named(preset), **{name: value for name, value in changes.items() if value is not None})
    parameters.scenarios()  # what is refused leaves no folder
    return _study(parameters, trials, seed, jobs, asked, format_, out)


def _study(
    parameters: Any, trials: int | None, seed: int, jobs: int, asked: Timing, format_: Format, out: Path | None
) -> int:
    from thalweg.studies.runner.table import Table  # noqa: PLC0415
    from thalweg.studies.transient import study as experiment  # noqa: PLC0415
    from thalweg.studies.transient.table import (  # noqa: PLC0415
        DAMPING,
        FINDINGS,
        REACTION,
        WORDS,
        damping_rows,
        finding_rows,
        reaction_rows,
    )

    live = parameters.live_span_s(1) > 0
    n = trials or (experiment.LIVE_TRIALS if live else experiment.TRIALS)
    announce(parameters.live_span_s(n))
    with reserved(out):
        with Bar() as bar:
            done = experiment.run(parameters, n, seed, jobs, bar.show, asked)
        sheets = [
            Table(REACTION, reaction_rows(done.result), WORDS),
            Table((*REACTION[:WORDS], *DAMPING), damping_rows(done.result), WORDS),
        ]
        findings = Table(FINDINGS, finding_rows(done.result), len(FINDINGS))
        return conclude(done, f"{len(done.cells)} cells", format_, out, sheets, findings)
