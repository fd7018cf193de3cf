"""`thalweg dossier`: what a document asks of a new controller, as one report."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.commands.later import Later, group_of


def _choose(given: dict[str, Any], live: bool) -> Any:
    study = resolve_name("thalweg.experiments.dossier.study:STUDY")
    if not given.get("controller"):
        raise RequestError("the candidate is missing: expected --controller NAME, or a file, ./mine.py:Mine")
    parameters = study.choose(given)
    in_real_time = [player.controller for player in parameters.others if player.is_live]
    if live and not in_real_time:
        raise RequestError("--live requires --also with a controller of the kernel, such as kernel:cubic")
    if in_real_time and not live:
        raise RequestError(f"--also {in_real_time[0]} requires --live: it runs in real time")
    return parameters


def _rfc9743() -> Any:
    command = resolve_name("thalweg.cli.study.command:command")
    study = resolve_name("thalweg.experiments.dossier.study:STUDY")
    run = command(study, choose=_choose, group="dossier")
    run.__doc__ = (
        f"{study.title}: criteria by environments, compared with Reno and CUBIC.\n\n"
        "Example: `thalweg dossier rfc9743 --controller bbr --out results/dossier-bbr`"
    )
    return run


DOSSIERS = {"rfc9743": Later(_rfc9743, "The evaluation that RFC 9743 asks for.")}

dossier = typer.Typer(
    name="dossier",
    cls=group_of(DOSSIERS),
    help="Evaluate a controller by the criteria of a document, next to the standards; see `thalweg docs dossier`.",
    no_args_is_help=True,
)
dossier.callback()(lambda: None)
