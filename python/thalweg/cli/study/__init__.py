"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

from collections.abc import Callable

import typer

from thalweg.cli.study.command import command
from thalweg.cli.study.harm import harm
from thalweg.cli.study.loopback import loopback
from thalweg.cli.study.transient import transient
from thalweg.studies.catalogue import STUDIES

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)
_OWN: dict[str, Callable[..., int]] = {"harm": harm, "transient": transient, "loopback": loopback}
"""Commands of studies with options that are no parameters."""
for name, one in STUDIES.items():
    study.command(name, help=f"{one.title}.")(_OWN.get(name) or command(one))
