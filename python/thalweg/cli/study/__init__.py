"""`thalweg study`: experiments over many scenarios, each with its metric."""

from __future__ import annotations

import typer

from thalweg.cli.study.commands import COMMANDS

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, compared with published results.",
    no_args_is_help=True,
)
for definition, command in COMMANDS:
    study.command(
        definition.name,
        help=f"{definition.title}.\n\nExample: `thalweg study {definition.name} --out results/{definition.name}`",
    )(command)
