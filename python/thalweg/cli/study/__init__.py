"""`thalweg study`: experiments over many scenarios, each with its metric."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any

import typer

from thalweg.cli.commands.later import Later, group_of
from thalweg.experiments.studies.catalogue import TITLES, study_of

_OWN = {"harm", "transient", "loopback"}
"""The studies with options that are not parameters."""


def _command(name: str) -> Any:
    if name in _OWN:
        return resolve_name(f"thalweg.cli.study.{name}:{name}")
    command = resolve_name("thalweg.cli.study.command:command")
    return command(study_of(name))


STUDIES = {name: Later(partial(_command, name), f"{title}.") for name, title in TITLES.items()}

study = typer.Typer(
    name="study",
    cls=group_of(STUDIES),
    help="Run a study: an experiment over many scenarios, compared with published results.",
    no_args_is_help=True,
)
study.callback()(lambda: None)
