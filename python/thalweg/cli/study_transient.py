"""`thalweg study transient`: how controllers react to steps; or the same metric on a measurement of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.cli.checks import print_checks
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.options import Format, Jobs, Seed
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED
from thalweg.cli.study_live import Bound, Live, Realtime, announce, tell, timing
from thalweg.cli.tables import plain_table
from thalweg.errors import RequestError
from thalweg.live import Timing

_PATH, _OWN = "Path", "A measurement of your own"


def transient(
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
        int | None, typer.Option("--trials", "-n", min=1, help="Trials of each cell [100; with --live 3].")
    ] = None,
    seed: Seed = 1,
    jobs: Jobs = 0,
    live: Live = False,
    realtime: Realtime = False,
    bound: Bound = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to store the result and its report page."),
    ] = None,
) -> int:
    """Runs the study; see docs/studies/transient.md."""
    if series is not None:
        given = {
            "--controller": controller,
            "--buffer": buffer,
            "--queue": queue,
            "--rate-noise": rate_noise,
            "--delay-noise": delay_noise,
            "--duration": duration,
            "--live": live,
            "--out": out,
        }
        useless = next((option for option, value in given.items() if value), None)
        if useless:
            raise RequestError(
                f"{useless} does not go with --series; accepted: --rtt, --rate, --step and --format"
            )
        return _measurement(series, rtt, rate, step or [], format_)
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.transient_parameters import Step  # noqa: PLC0415
    from thalweg.studies.transient_parameters import preset as named  # noqa: PLC0415

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
    if out:
        from thalweg.studies.folder import claim_folder  # noqa: PLC0415

        claim_folder(out)
    return _study(parameters, trials, seed, jobs, asked, format_, out)


def _study(
    parameters: Any, trials: int | None, seed: int, jobs: int, asked: Timing, format_: Format, out: Path | None
) -> int:
    from thalweg.studies import transient as experiment  # noqa: PLC0415
    from thalweg.studies.transient_table import (  # noqa: PLC0415
        DAMPING,
        REACTION,
        WORDS,
        damping_rows,
        finding_rows,
        reaction_rows,
    )

    live = parameters.live_span_s(1) > 0
    n = trials or (experiment.LIVE_TRIALS if live else experiment.TRIALS)
    announce(parameters.live_span_s(n))
    with Bar() as bar:
        done = experiment.run(parameters, n, seed, jobs, bar.show, asked)
    result = done.result
    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{result.title}  ({result.source}; {result.preset})")
        console.print(plain_table(REACTION, reaction_rows(result), WORDS))
        console.print(plain_table((*REACTION[:WORDS], *DAMPING), damping_rows(result), WORDS))
        print_checks(result)
        if result.findings:
            headers = ("by other numbers", "measured", "the same", "why")
            console.print(plain_table(headers, finding_rows(result), len(headers)))
    tell(result)
    if not done.complete:
        complain(f"interrupted: {len(done.cells)} cells are finished; nothing was judged", label="")
    if out and done.cells:
        from thalweg.studies.transient_store import save  # noqa: PLC0415

        try:
            with Bar() as bar:
                save(done, out, bar.show)
        except KeyboardInterrupt:
            complain(f"interrupted: the result in {out} lacks its report", label="")
            return INTERRUPTED
        note(f"wrote {out} and {out / 'report.html'}")
    if not done.complete:
        return INTERRUPTED
    return PASSED if result.holds else FAILED


def _measurement(file: Path, rtt: str | None, rate: str | None, steps: list[str], format_: Format) -> int:
    """The metric on a file; there is nothing that could fail."""
    from thalweg.studies.quantities import bits_per_second, seconds  # noqa: PLC0415
    from thalweg.studies.result import StudyResult  # noqa: PLC0415
    from thalweg.studies.transient_parameters import PAPER  # noqa: PLC0415
    from thalweg.studies.transient_series import react_to_steps, read_series  # noqa: PLC0415
    from thalweg.studies.transient_table import SERIES, series_line, series_row  # noqa: PLC0415

    if rtt is None:
        raise RequestError('--series needs --rtt, the round trip without queues; accepted: a time such as "50 ms"')
    rtt_s = seconds(rtt, "--rtt")
    if rtt_s <= 0:
        raise RequestError(f"--rtt {rtt!r}: accepted: more than 0")
    starts = sorted(seconds(text, "--step") for text in steps)
    available = None if rate is None else bits_per_second(rate, "--rate")
    reactions = react_to_steps(read_series(file), rtt_s, starts, available)
    result = StudyResult("transient", f"How the flow of {file} reacts", PAPER, "series", 1, 0)
    result.rows = [series_row(one) for one in reactions]
    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{result.title}  ({result.source})")
        console.print(plain_table(SERIES, [series_line(row) for row in result.rows], 1))
    return PASSED
