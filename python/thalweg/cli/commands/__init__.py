"""The commands of `thalweg`. A command is loaded when it is called: all together take half a second."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Annotated, Any

import typer
import typer.main

from thalweg import _native
from thalweg.cli.commands.later import MARKUP, group_of, postponed
from thalweg.cli.commands.value_names import name_values

_GROUPS = {
    "Run and judge": {
        "run": postponed("run:run", "Run a scenario and judge it."),
        "suite": postponed("suite:suite", "Run a suite and judge it."),
        "study": postponed(
            "study:study", "Run a study: an experiment over many scenarios, compared with published results."
        ),
        "dossier": postponed(
            "dossier:dossier",
            "Evaluate a controller by the criteria of a document, next to the standards; "
            "see `thalweg docs dossier`.",
        ),
        "score": postponed(
            "score:score", "Print one JSON document: figures, score and guards of a controller against CUBIC."
        ),
        "replay": postponed(
            "replay:replay", "Run a stored trial again from its scenario and seed, and check that it is identical."
        ),
    },
    "Compare and guard": {
        "compare": postponed("compare:compare", "Compare stored results, each with the first."),
        "gate": postponed(
            "gate:gate",
            "Compare a suite with the baseline of a repository, and fail where it became worse; "
            "see `thalweg docs gate`.",
        ),
    },
    "Search": {
        "sweep": postponed(
            "sweep:sweep",
            "Run a scenario over a space of its keys, controllers and seeds: `thalweg sweep PLAN.toml --out DIR`, "
            "short for `thalweg sweep run`; see `thalweg docs sweeps`.",
        ),
        "hunt": postponed(
            "hunt.hunt:hunt", "Search a space for the scenario in which a flow does worst, and reduce it."
        ),
        "tails": postponed(
            "hunt.tails:tails",
            "Estimate how likely it is that a metric of a trial is beyond a value, with an interval.",
        ),
        "tune": postponed(
            "hunt.tune:tune", "Search the options of a controller for its best score against CUBIC."
        ),
    },
    "Real time": {
        "bench": postponed(
            "bench:bench",
            "Run stacks as they are, in real time, and say how they differ; see `thalweg docs live`.",
        ),
        "shell": postponed("shell:shell", "Run a command behind the path of a scenario, in real time."),
        "rig": postponed("shell:rig", "Set up hosts on both sides of the path of a scenario, until Ctrl-C."),
        "probe": postponed(
            "probe:probe", "Measure the round-trip times of a path, and analyze them; see `thalweg docs probe`."
        ),
        "quic": postponed(
            "quic:quic",
            "Transfer data over UDP sockets with a real QUIC stack and any controller; see `thalweg docs quic`.",
        ),
    },
    "Look": {
        "lab": postponed("lab:lab", "Serve the lab to a browser on this machine, until Ctrl-C."),
        "explain": postponed(
            "run.explain:explain",
            "Say why a flow was slow, in a scenario or in a file of another program.",
        ),
        "plot": postponed("plot:plot", "Draw a trial, or overlay several, with several controllers or seeds."),
        "report": postponed("report:report", "Write a stored result as one HTML page that works offline."),
        "list": postponed(
            "list:list_",
            "List controllers, scenarios, suites, studies, models of the path, or metrics of criteria.",
        ),
        "docs": postponed("docs:docs", "Print a page of the manual, or list its pages."),
    },
    "Files": {
        "new": postponed(
            "new:new",
            "Write a commented scenario file, or with `controller NAME` a controller in Python or Rust, "
            "to start from.",
        ),
        "show": postponed("show:show", "Print the TOML text of a scenario, to read it or to start from it."),
        "check": postponed(
            "check:check",
            "Check scenarios without running them or code that they name, and controllers in Python "
            "by random paths.",
        ),
        "merge": postponed("store.merge:merge", "Put the trials of several folders into one."),
    },
}
COMMANDS = {
    name: replace(later, panel=group) for group, commands in _GROUPS.items() for name, later in commands.items()
}
"""Where each command is, and what help says about it, in the order of the help."""


class Interruption(BaseException):
    """Ctrl-C in a command, as typer lets it pass: of KeyboardInterrupt it makes a status without words."""


class _Commands(group_of(COMMANDS)):  # type: ignore[misc]
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interruption(*error.args) from None


@cache
def application() -> Any:
    """What understands the arguments of `thalweg`. A command that Ctrl-C stops raises Interruption."""
    app = typer.Typer(
        name="thalweg",
        cls=_Commands,
        help="A laboratory for congestion control.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=MARKUP,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_thalweg)
    name_values()
    return typer.main.get_command(app)


def everything() -> Any:
    """The same with every command loaded, for those who describe or call them all."""
    whole = application.__wrapped__()
    whole.load_all()
    return whole


def _thalweg(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """A laboratory for congestion control: describe a path and a workload once, run any controller over it."""
    if version:
        typer.echo(f"thalweg {_native.version()}")
        raise typer.Exit
