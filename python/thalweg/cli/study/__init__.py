"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

from functools import cache

import typer

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)


@cache
def load_studies() -> None:
    """Gives the command its studies. They are loaded for it alone: all together take a tenth of a second."""
    from thalweg.cli.study.commands import COMMANDS  # noqa: PLC0415

    for one, command in COMMANDS:
        study.command(one.name, help=f"{one.title}.")(command)
