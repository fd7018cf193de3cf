"""`thalweg score`: how a controller does against CUBIC, as one document for programs that search."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.base.seeds import LARGEST_SET
from thalweg.cli.console import Bar, print_json
from thalweg.cli.status import FAILED, PASSED


def score(
    controller: Annotated[
        str, typer.Argument(metavar="CONTROLLER", help="A file (./mine.py:Mine:beta=0.8), or a name (c4).")
    ],
    suite: Annotated[str, typer.Option("--suite", help="A suite, or a folder of scenarios.")] = "search",
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, max=1000, help="Trials of each scenario.")] = 4,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=1,
            max=LARGEST_SET,
            help="Set of seeds; it also draws the held-back scenarios.",
        ),
    ] = 1,
) -> int:
    """Print one JSON document: figures, score and guards of a controller against CUBIC.

    The same file gives the same document. Exit status 1 if the controller is disqualified.

    Example: `thalweg score mine.py --suite search`
    """
    from thalweg.experiments.score import score as scored  # noqa: PLC0415 - loads tables

    with Bar() as bar:
        document = scored(controller, suite, trials, seed, bar.show)
    print_json(document)
    return FAILED if document["disqualified"] else PASSED
