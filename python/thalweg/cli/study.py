"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.checks import print_checks
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.options import Format, Jobs, Seed
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED
from thalweg.cli.study_fairness import fairness
from thalweg.cli.study_harm import harm
from thalweg.cli.study_loopback import loopback
from thalweg.cli.study_stacks import stacks
from thalweg.cli.study_transient import transient
from thalweg.cli.tables import plain_table
from thalweg.studies import STUDIES

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)


study.command("harm", help=STUDIES["harm"] + ".")(harm)
study.command("transient", help=STUDIES["transient"] + ".")(transient)
study.command("stacks", help=STUDIES["stacks"] + ".")(stacks)
study.command("fairness", help=STUDIES["fairness"] + ".")(fairness)
study.command("loopback", help=STUDIES["loopback"] + ".")(loopback)


@study.command("wifi-compete", help=STUDIES["wifi-compete"] + ".")
def wifi_compete(
    trials: Annotated[int, typer.Option("--trials", "-n", min=2, help="Trials of each row.")] = 100,
    seed: Seed = 1,
    jobs: Jobs = 0,
    shared_jitter: Annotated[
        bool,
        typer.Option("--shared-jitter", help="One jitter sequence for all trials, as in the paper."),
    ] = False,
    jitter_seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Which sequence --shared-jitter takes.")
    ] = 1,
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to store the result and its report page."),
    ] = None,
) -> int:
    """Runs the study; see docs/studies/wifi-compete.md."""
    # The modules of one study are loaded for that study alone; altair and the statistics take their time.
    from thalweg.studies import wifi_compete as experiment  # noqa: PLC0415
    from thalweg.studies.wifi_compete_table import HEADERS, WORDS, finding_rows, table_rows  # noqa: PLC0415

    if out:
        from thalweg.studies.folder import claim_folder  # noqa: PLC0415

        claim_folder(out)
    with Bar() as bar:
        done = experiment.run(trials, seed, jobs, jitter_seed if shared_jitter else None, bar.show)
    result = done.result
    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{result.title}  ({result.source}; {result.preset})")
        console.print(plain_table(HEADERS, table_rows(result), WORDS))
        print_checks(result)
        if result.findings:
            headers = ("the paper says", "published", "measured", "found again")
            console.print(plain_table(headers, finding_rows(result), len(headers)))
    if not done.complete:
        complain(f"interrupted: {len(done.cells)} rows are finished; nothing was judged", label="")
    if out and not _store(done, out):
        return INTERRUPTED
    if not done.complete:
        return INTERRUPTED
    return PASSED if result.holds else FAILED


def _store(done: object, out: Path) -> bool:
    """Stores a study in a folder; tells whether a Ctrl-C let it."""
    from thalweg.studies.wifi_compete import WifiCompete  # noqa: PLC0415
    from thalweg.studies.wifi_compete_store import save  # noqa: PLC0415

    assert isinstance(done, WifiCompete)
    try:
        with Bar() as bar:
            save(done, out, bar.show)
    except KeyboardInterrupt:
        complain(f"interrupted: the result in {out} lacks its report", label="")
        return False
    note(f"wrote {out} and {out / 'report.html'}")
    return True
