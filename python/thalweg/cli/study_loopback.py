"""`thalweg study loopback`: throughput over 127.0.0.1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.checks import print_checks
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Format
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED
from thalweg.cli.tables import plain_table
from thalweg.errors import RequestError
from thalweg.quantity import seconds


def loopback(
    runs: Annotated[int, typer.Option("--runs", "-n", min=1, help="Runs of each variant, in turn.")] = 5,
    length: Annotated[str, typer.Option("--length", metavar="TIME", help="About how long a run takes.")] = "3s",
    format_: Annotated[Format, typer.Option("--format", help="How to print the result.")] = Format.TABLE,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to store the result, its figure and its page."),
    ] = None,
) -> int:
    """Runs the study; see docs/studies/loopback.md."""
    run_s = seconds(length, "--length")
    if not 0.01 <= run_s <= 600:
        raise RequestError(f"--length {length!r}: expected 10ms to 600s")
    # The modules of one study are loaded for that study alone; altair takes its time.
    from thalweg.studies import loopback as experiment  # noqa: PLC0415
    from thalweg.studies.loopback_table import HEADERS, WORDS, table_rows  # noqa: PLC0415

    if out:
        from thalweg.studies.folder import claim_folder  # noqa: PLC0415

        claim_folder(out)
    with stopped_by_terminate(), Bar() as bar:
        done = experiment.run(runs, run_s, bar.show)
    result = done.result
    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{result.title}  ({result.source}; {result.preset})")
        console.print(plain_table(HEADERS, table_rows(result), WORDS))
        print_checks(result)
        if result.findings:
            headers = ("the blog says", "published", "measured", "found again", "why")
            rows = [
                [f.name, f.published, f.measured, "yes" if f.holds else "no", f.reason] for f in result.findings
            ]
            console.print(plain_table(headers, rows, len(headers)))
    if not done.complete:
        complain(f"interrupted: {result.trials} rounds are finished; nothing was judged", label="")
    if out and result.rows:
        from thalweg.studies.loopback_store import save  # noqa: PLC0415

        with Bar() as bar:
            save(done, out, bar.show)
        note(f"wrote {out} and {out / 'report.html'}")
    if not done.complete:
        return INTERRUPTED
    return PASSED if result.holds else FAILED
