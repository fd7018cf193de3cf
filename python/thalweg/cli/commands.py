"""The commands of `thalweg`. A command is loaded when it is called: all together take half a second."""

from __future__ import annotations

from functools import cache
from pkgutil import resolve_name

import typer

from thalweg import _native

_COMMANDS = {
    "run": "thalweg.cli.run:run",
    "suite": "thalweg.cli.suite:suite",
    "sweep": "thalweg.cli.sweep:sweep",
    "replay": "thalweg.cli.replay:replay",
    "list": "thalweg.cli.list:list_",
    "show": "thalweg.cli.show:show",
    "check": "thalweg.cli.check:check",
    "new": "thalweg.cli.new:new",
    "score": "thalweg.cli.score:score",
    "plot": "thalweg.cli.plot:plot",
    "report": "thalweg.cli.report:report",
    "compare": "thalweg.cli.compare:compare",
    "shell": "thalweg.cli.shell:shell",
    "rig": "thalweg.cli.shell:rig",
    "study": "thalweg.cli.study:study",
    "probe": "thalweg.cli.probe:probe",
    "quic": "thalweg.cli.quic:quic",
}
"""Where each command is, in the order of the help."""


def application(arguments: list[str]) -> typer.Typer:
    """What understands these arguments: one command, or all where the first argument names none."""
    named = arguments[0] if arguments else ""
    return _application((named,) if named in _COMMANDS else tuple(_COMMANDS))


@cache
def _application(names: tuple[str, ...]) -> typer.Typer:
    app = typer.Typer(
        name="thalweg",
        help="A laboratory for congestion control.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        loaded = resolve_name(_COMMANDS[name])
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded)
        else:
            app.command(name)(loaded)
    app.callback(invoke_without_command=True)(_thalweg)
    return app


def _thalweg(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """A laboratory for congestion control: describe a path and a workload once, run any controller over it."""
    if version:
        typer.echo(f"thalweg {_native.version()}")
        raise typer.Exit
