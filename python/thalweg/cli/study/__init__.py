"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

import typer

from thalweg.cli.study.commands import COMMANDS

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)
for one, command in COMMANDS:
    study.command(one.name, help=f"{one.title}.")(command)
