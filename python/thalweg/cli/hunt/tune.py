"""`thalweg tune CONTROLLER`: the options with which a controller scores best, judged on scenarios held back."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thalweg.base.seeds import first_seed
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import ClusterAddress, Format, Jobs, Quiet, SetNumber, check_outputs
from thalweg.cli.status import INTERRUPTED, NOTHING_FOUND, PASSED
from thalweg.engine.catalogue import Suite
from thalweg.engine.controllers.definition import file_of

if TYPE_CHECKING:
    from thalweg.experiments.hunt.tune import TuningResult


def tune(
    controller: Annotated[
        str, typer.Argument(metavar="CONTROLLER", help="A name (c4) or a file, with options to keep.")
    ],
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-O",
            metavar="NAME[=VALUES]",
            help="Option to vary: push, push=1.1..1.5, trim=on|off; repeatable [all numbers and durations].",
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help="A suite, or a folder of scenarios.")] = "search",
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, max=1000, help="Trials of each scenario.")] = 4,
    seed: SetNumber = 1,
    budget: Annotated[int, typer.Option(min=1, max=10**5, help="Number of sets of options to try.")] = 64,
    search_seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the search.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE.json", help="Write the result, with its history.")
    ] = None,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Search the options of a controller for its best score against CUBIC.

    The score is computed as by `thalweg score`. At the end the best options are judged on scenarios and seeds
    that the search has not seen, drawn by `--seed-set`; exit status 5 if they are not better there. Ctrl-C
    keeps the best so far.

    Example: `thalweg tune c4 --option push=1.1..1.5 --option max_reduction`
    """
    from thalweg.experiments.hunt.options import read_options  # noqa: PLC0415
    from thalweg.experiments.hunt.tune import Tuner  # noqa: PLC0415
    from thalweg.results.provenance import Provenance  # noqa: PLC0415
    from thalweg.trials.choice import chosen  # noqa: PLC0415 - loads tables

    again = command_line("tune", inspect.signature(tune, eval_str=True), locals())
    begin, made = time.perf_counter(), Provenance(command=again)
    of, code = Suite.find(suite), file_of(controller)
    check_outputs({"--out": out}, [Path(code)] if code else [])
    tuner = Tuner(read_options(controller, option or []), suite, trials, seed, budget, search_seed)
    with Bar() as bar, stopped_by_terminate(), chosen(jobs, cluster) as tuner.executor:
        tuned = tuner.run(bar.show)
    made.wall_s = time.perf_counter() - begin
    title = f"Options of {controller}"
    head = made.head("tune", of.name, title, of.source, first_seed(seed), trials, tuner.core_s)
    document = {**head, **tuned.document()}
    if format_ is Format.JSON:
        print_json(document)
    else:
        _print(tuned)
    if out:
        _write(document, out)
    if not tuned.complete:
        complain(f"interrupted: the best of {tuned.tried} choices is {tuned.best}; nothing was judged", label="")
        return INTERRUPTED
    return PASSED if tuned.is_better else NOTHING_FOUND


def _write(document: Mapping[str, Any], out: Path) -> None:
    import json  # noqa: PLC0415

    from thalweg.base.files.whole_file import whole_file  # noqa: PLC0415

    with whole_file(out) as partial:
        partial.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    note(f"wrote {out}")


def _print(tuned: TuningResult) -> None:
    console = stdout()

    def shown(score: float | None) -> str:
        return "-" if score is None else f"{score:+.3f}"

    lines = [(name, shown(start), shown(best)) for name, start, best in tuned.held_back]
    lines.append(("open half, the mean", shown(tuned.start_score), shown(tuned.best_score)))
    console.print(plain_table(("scenario held back", "start", "best"), lines, 1))
    console.print(f"best of {tuned.tried}, of which {tuned.out} are out: {tuned.best}", soft_wrap=True)
    if tuned.refusal:
        console.print(f"out, for one: {tuned.refusal}", soft_wrap=True)
    gain = tuned.gain
    if gain is not None:
        console.print(f"held back: {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}), {tuned.answer}")
    if tuned.complete and not tuned.is_better:
        console.print("nothing found: on new scenarios and seeds, no choice shows a gain over the options given")
    for guard in tuned.broken:
        value = guard.value if isinstance(guard.value, str) else f"{guard.value:.3g}"
        console.print(f"out: on {guard.scenario} the guard {guard.guard} is broken ({value})", soft_wrap=True)
