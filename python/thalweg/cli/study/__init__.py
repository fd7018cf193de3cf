"""`thalweg study`: experiments over many scenarios, each with its metric."""

from __future__ import annotations

import typer

from thalweg.cli.study.commands import COMMANDS

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, compared with published results.",
    no_args_is_help=True,
)
for one, command in COMMANDS:
    study.command(one.name, help=f"{one.title}.\n\nExample: `thalweg study {one.name} --out results/{one.name}`")(
        command
    )
