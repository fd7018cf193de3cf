"""`thalweg study laws`: what the standards imply, held by measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from thalweg.cli.console import Bar, note
from thalweg.cli.options import Audit, Format, Jobs, SeedSet
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.errors import RequestError, did_you_mean


def laws(
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="quick, full, or complete: every path of the grid.")
    ] = "full",
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            "-c",
            metavar="NAME",
            help="For utilisation, FQ-CoDel and timeouts; may be repeated [c4 cubic bbr bbr1 reno prague].",
        ),
    ] = None,
    stack: Annotated[
        list[str] | None,
        typer.Option("--stack", metavar="NAME", help="model or quic; may be repeated [both]."),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", "-n", min=1, max=1000, help="Trials of each case [6, of windows 10].")
    ] = None,
    seed: SeedSet = 1,
    jobs: Jobs = 0,
    audit: Audit = False,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Out = None,
) -> int:
    """Runs the study; see docs/studies/laws.md."""
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies.laws import table  # noqa: PLC0415
    from thalweg.studies.laws.parameters import PRESETS, STACKS  # noqa: PLC0415
    from thalweg.studies.laws.study import run  # noqa: PLC0415
    from thalweg.studies.runner.table import Table  # noqa: PLC0415

    _known("--preset", (preset,), tuple(PRESETS))
    given: dict[str, Any] = {}
    if controller:
        given["controllers"] = tuple(dict.fromkeys(controller))
    if stack:
        _known("--stack", tuple(stack), STACKS)
        given["stacks"] = tuple(one for one in STACKS if one in stack)
    if trials is not None:
        given |= {"trials": trials, "window_trials": trials}
    chosen = replace(PRESETS[preset], **given)
    for experiment in chosen.experiments():
        experiment.scenario()  # what is refused leaves no folder, and runs nothing
    for line in chosen.notes():
        note(line)
    with reserved(out):
        with Bar() as bar:
            done = run(chosen, preset if not given else "custom", seed, jobs, bar.show)
        sheets = [Table(table.HEADERS, table.table_rows(done.result), table.WORDS)]
        if table.has_use(done.result):
            sheets.append(Table(table.use_headers(done.result), table.use_rows(done.result), 2))
        findings = Table(table.FINDINGS, table.finding_rows(done.result), table.FINDINGS_WORDS)
        return conclude(done, f"{len(done.played)} experiments", format_, out, sheets, findings)


def _known(option: str, given: tuple[str, ...], accepted: tuple[str, ...]) -> None:
    for one in given:
        if one not in accepted:
            raise RequestError(
                f"{option} {one!r}: accepted: {', '.join(accepted)}{did_you_mean(one, list(accepted))}"
            )
