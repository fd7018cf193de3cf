"""`thalweg score`: how a controller does against CUBIC, as one document for programs that search."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.console import Bar, note, print_json
from thalweg.cli.options import ClusterAddress, Jobs, SetNumber, ShardOption
from thalweg.cli.status import FAILED, PASSED


def score(
    controller: Annotated[
        str, typer.Argument(metavar="CONTROLLER", help="A file (./mine.py:Mine:beta=0.8), or a name (c4).")
    ],
    suite: Annotated[str, typer.Option("--suite", help="A suite, or a folder of scenarios.")] = "search",
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, max=1000, help="Trials of each scenario.")] = 4,
    seed: SetNumber = 1,
    jobs: Jobs = 0,
    cluster: ClusterAddress = None,
    shard: ShardOption = "1/1",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Store the rows and trials for `thalweg compare`; trials that are there do not run again.",
        ),
    ] = None,
) -> int:
    """Print one JSON document: figures, score and guards of a controller against CUBIC.

    The same file gives the same document; `--seed-set` also draws the scenarios that are held back. Exit status
    1 if the controller is disqualified.

    Example: `thalweg score mine.py --suite search`
    """
    from thalweg.cli.commands.again import command_line  # noqa: PLC0415
    from thalweg.cli.store.playing import playing, shard_of, tell_shard  # noqa: PLC0415 - loads tables
    from thalweg.experiments.score import score as scored_by  # noqa: PLC0415
    from thalweg.experiments.score.store import save  # noqa: PLC0415
    from thalweg.experiments.studies.runner.folder import reserve_folder  # noqa: PLC0415
    from thalweg.trials.store.stored import Elsewhere  # noqa: PLC0415

    again = command_line("score", inspect.signature(score, eval_str=True), locals())
    part = shard_of(shard, out)
    with reserve_folder(out) if out else nullcontext():
        try:
            with Bar() as bar, playing(out, jobs, cluster, part) as executor:
                here = executor if out or jobs or cluster else None
                scored = scored_by(controller, suite, trials, seed, bar.show, here, again)
        except Elsewhere:
            assert out is not None
            tell_shard(part, out)
            return PASSED
        if out:
            save(scored, out)
            note(f"wrote {out}")
    print_json(scored.document)
    return FAILED if scored.document["disqualified"] else PASSED
