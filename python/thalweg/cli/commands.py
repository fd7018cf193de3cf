"""The commands of `thalweg`. A command is loaded when it is called: all together take half a second."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup

from thalweg import _native

_COMMANDS = {
    "run": "thalweg.cli.run:run",
    "suite": "thalweg.cli.suite:suite",
    "sweep": "thalweg.cli.sweep:sweep",
    "hunt": "thalweg.cli.hunt.hunt:hunt",
    "tune": "thalweg.cli.hunt.tune:tune",
    "replay": "thalweg.cli.replay:replay",
    "list": "thalweg.cli.list:list_",
    "show": "thalweg.cli.show:show",
    "check": "thalweg.cli.check:check",
    "new": "thalweg.cli.new:new",
    "score": "thalweg.cli.score:score",
    "plot": "thalweg.cli.plot:plot",
    "report": "thalweg.cli.report:report",
    "lab": "thalweg.cli.lab:lab",
    "compare": "thalweg.cli.compare:compare",
    "shell": "thalweg.cli.shell:shell",
    "rig": "thalweg.cli.shell:rig",
    "study": "thalweg.cli.study:study",
    "probe": "thalweg.cli.probe:probe",
    "quic": "thalweg.cli.quic:quic",
}
"""Where each command is, in the order of the help."""


class Interruption(BaseException):
    """Ctrl-C in a command, as typer lets it pass: of KeyboardInterrupt it makes a status without words."""


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interruption(*error.args) from None


def application(arguments: list[str]) -> typer.Typer:
    """What understands these arguments: one command, or all where the first argument names none.

    A command that Ctrl-C stops raises Interruption.
    """
    named = arguments[0] if arguments else ""
    return _application((named,) if named in _COMMANDS else tuple(_COMMANDS))


@cache
def _application(names: tuple[str, ...]) -> typer.Typer:
    app = typer.Typer(
        name="thalweg",
        cls=_Commands,
        help="A laboratory for congestion control.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    with _one_thread_of_blas():
        commands = {name: resolve_name(_COMMANDS[name]) for name in names}
    for name, loaded in commands.items():
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded)
        else:
            app.command(name)(loaded)
    app.callback(invoke_without_command=True)(_thalweg)
    return app


@contextmanager
def _one_thread_of_blas() -> Iterator[None]:
    """While NumPy loads: its OpenBLAS starts a thread for each core (0.08 core-s); no command has matrices for it.

    Programs that a command starts do not inherit it.
    """
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]


def _thalweg(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """A laboratory for congestion control: describe a path and a workload once, run any controller over it."""
    if version:
        typer.echo(f"thalweg {_native.version()}")
        raise typer.Exit
