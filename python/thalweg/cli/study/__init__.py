"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

from collections.abc import Callable

import typer

from thalweg.cli.study.fairness import fairness
from thalweg.cli.study.harm import harm
from thalweg.cli.study.laws import laws
from thalweg.cli.study.loopback import loopback
from thalweg.cli.study.stacks import stacks
from thalweg.cli.study.transient import transient
from thalweg.cli.study.wifi_compete import wifi_compete
from thalweg.studies import STUDIES

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)
COMMANDS: dict[str, Callable[..., int]] = {
    "harm": harm,
    "transient": transient,
    "stacks": stacks,
    "fairness": fairness,
    "laws": laws,
    "loopback": loopback,
    "wifi-compete": wifi_compete,
}
for name, command in COMMANDS.items():
    study.command(name, help=STUDIES[name] + ".")(command)
