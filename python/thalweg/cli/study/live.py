"""`thalweg study NAME --live`: what studies with the kernel's TCP in real time have in common."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any, get_args

import typer

from thalweg.base.described import listed
from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.cli.console import complain, note
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.cli.options import Bound, Realtime, Retry, StrictTiming, refuse_audit
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.realtime import Timing

_PANEL = "Real time"
Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Run the kernel's TCP (kernel:cubic) in real time next to the simulator, with fewer and shorter "
        "trials; see `thalweg docs live`.",
        rich_help_panel=_PANEL,
    ),
]


def _in_panel(option: Any) -> Any:
    """An option of real time that other commands have too."""
    kind, shown = get_args(option)
    shown = copy(shown)
    shown.rich_help_panel = _PANEL
    return Annotated[kind, shown]


OPTIONS: dict[str, tuple[Any, Any]] = {
    "live": (Live, False),
    "realtime": (_in_panel(Realtime), False),
    "bound": (_in_panel(Bound), None),
    "strict_timing": (_in_panel(StrictTiming), False),
    "retry": (_in_panel(Retry), None),
}
"""By parameter, each with its value where it is not given."""


def timing(
    live: bool, realtime: bool, bound: str | None, strict: bool = False, retry: int | None = None
) -> Timing:
    """What trials in real time are asked. Raises RequestError if there are none."""
    options = LiveOptions(realtime, bound, None, strict, retry)
    if not live and options != LiveOptions():
        raise RequestError("--realtime, --bound, --strict-timing and --retry require --live")
    if live:
        refuse_audit()
    return options.timing()


def announce(least_s: float, most_s: float | None = None) -> None:
    """Says how long it will take: real time is time on the wall."""
    if least_s:
        longest = f", {text(most_s, 's')} at the most" if most_s else ""
        note(f"real time: about {text(least_s, 's')}{longest}")


def refused(result: StudyResult, strict: bool) -> bool:
    """Whether too many trials were not what their scenarios describe: all of a cell, or any if `strict`.

    Says what to do.
    """
    cells = result.unfaithful_cells()
    if strict and not result.is_faithful():
        complain(f"--strict-timing: some trials in real time were not what their scenarios describe: {ADVICE}")
    elif cells:
        complain(f"no trial of {listed(cells)} was what its scenario describes: {ADVICE}")
    return bool(cells) or (strict and not result.is_faithful())


def tell(result: StudyResult) -> None:
    """Says how well the trials in real time kept time."""
    for line in result.honesty():
        if line.startswith("unfaithful"):
            complain(line, label="")
        else:
            note(line)
