"""`thalweg study transient`: how controllers react to steps."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.cli.study.command import command, extra
from thalweg.cli.study.transient_series import measurement, refuse_other_options
from thalweg.experiments.studies.transient.parameters import PRESETS, Parameters
from thalweg.experiments.studies.transient.study import STUDY
from thalweg.realtime.kernel import with_simulated

Series = Annotated[
    Path | None,
    typer.Option(
        "--series",
        metavar="FILE.csv",
        help="Series: time_s, throughput_bps, optionally sent_bps, available_bps (else --rate). Requires --rtt.",
        rich_help_panel="Your own measurement",
    ),
]


def choose(given: dict[str, Any], live: bool) -> Parameters:
    """The preset with what was given. Raises RequestError."""
    if live:
        given["preset"] = "live" if given["preset"] == "paper" else given["preset"]
        named = with_simulated(given["controllers"] or (), "--controller")
        given["controllers"] = list(named or PRESETS["live"].controllers)
    return STUDY.choose(given)


_simulated = command(STUDY, [extra("series", Series, None), extra("context", typer.Context)], choose)


@wraps(_simulated)
def transient(**given: Any) -> int:
    """Runs the study, or measures a series of one's own; see docs/evidence/studies/transient.md."""
    series, context = given.pop("series"), given.pop("context")
    if series is None:
        return _simulated(**given)
    refuse_other_options(context)
    return measurement(series, given["rtt"], given["rate"], given["steps"] or [], given["format_"])
