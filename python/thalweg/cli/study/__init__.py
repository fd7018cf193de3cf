"""`thalweg study`: experiments over many scenarios, each with a metric of its own."""

from __future__ import annotations

import typer

from thalweg.cli.study.command import command
from thalweg.cli.study.harm import harm
from thalweg.cli.study.loopback import loopback
from thalweg.cli.study.transient import transient
from thalweg.studies.fairness.study import STUDY as FAIRNESS
from thalweg.studies.harm.study import STUDY as HARM
from thalweg.studies.laws.study import STUDY as LAWS
from thalweg.studies.loopback.study import STUDY as LOOPBACK
from thalweg.studies.stacks.study import STUDY as STACKS
from thalweg.studies.transient.study import STUDY as TRANSIENT
from thalweg.studies.wifi_compete.study import STUDY as WIFI_COMPETE

study = typer.Typer(
    name="study",
    help="Run a study: an experiment over many scenarios, set against what is published about it.",
    no_args_is_help=True,
)
for one, run in (
    (HARM, harm),
    (TRANSIENT, transient),
    (STACKS, command(STACKS)),
    (FAIRNESS, command(FAIRNESS)),
    (LAWS, command(LAWS)),
    (LOOPBACK, loopback),
    (WIFI_COMPETE, command(WIFI_COMPETE)),
):
    study.command(one.name, help=f"{one.title}.")(run)
