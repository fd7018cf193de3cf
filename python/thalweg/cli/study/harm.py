"""`thalweg study harm`: what a long flow does to short ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from thalweg.cli.study.command import command, extra
from thalweg.experiments.studies.harm.parameters import Parameters
from thalweg.experiments.studies.harm.study import STUDY
from thalweg.realtime.kernel import with_simulated

Matrix = Annotated[
    bool,
    typer.Option(
        "--matrix",
        help="Run every controller against every other, or the named ones.",
        rich_help_panel="Who competes",
    ),
]


def choose(given: dict[str, Any], live: bool) -> Parameters:
    """The preset with what was given; in a matrix, everyone on both sides. Raises RequestError."""
    controllers, competitors = (given.pop(name) or [] for name in ("controllers", "competitors"))
    matrix = given.pop("matrix")
    if live:
        given["preset"] = "live" if given["preset"] == "ccafct" else given["preset"]
        controllers = list(with_simulated(controllers, "--controller"))
        competitors = list(with_simulated(competitors, "--competitor"))
    sides: Mapping[str, list[str]] = {"controllers": controllers, "competitors": competitors}
    if matrix:
        given["preset"] = "matrix" if given["preset"] == "ccafct" else given["preset"]
        named = [*controllers, *competitors] or [*STUDY.presets["live" if live else "matrix"].controllers]
        sides = {"controllers": named, "competitors": named}
    return STUDY.choose(given | {name: values or None for name, values in sides.items()})


harm = command(STUDY, [extra("matrix", Matrix, False)], choose)
