"""The commands of `thalweg`. A command is loaded when it is called: all together take half a second."""

# ruff: noqa: PLC0415 - that is what this file is for
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import typer

from thalweg import _native


def _run() -> Callable[..., Any]:
    from thalweg.cli.run import run

    return run


def _suite() -> Callable[..., Any]:
    from thalweg.cli.suite import suite

    return suite


def _replay() -> Callable[..., Any]:
    from thalweg.cli.replay import replay

    return replay


def _list() -> Callable[..., Any]:
    from thalweg.cli.list import list_

    return list_


def _show() -> Callable[..., Any]:
    from thalweg.cli.show import show

    return show


def _check() -> Callable[..., Any]:
    from thalweg.cli.check import check

    return check


def _new() -> Callable[..., Any]:
    from thalweg.cli.new import new

    return new


def _report() -> Callable[..., Any]:
    from thalweg.cli.report import report

    return report


def _compare() -> Callable[..., Any]:
    from thalweg.cli.compare import compare

    return compare


def _shell() -> Callable[..., Any]:
    from thalweg.cli.shell import shell

    return shell


def _rig() -> Callable[..., Any]:
    from thalweg.cli.shell import rig

    return rig


def _study() -> typer.Typer:
    from thalweg.cli.study import study

    return study


def _probe() -> typer.Typer:
    from thalweg.cli.probe import probe

    return probe


def _quic() -> typer.Typer:
    from thalweg.cli.quic import quic

    return quic


_COMMANDS: dict[str, Callable[[], Callable[..., Any] | typer.Typer]] = {
    "run": _run,
    "suite": _suite,
    "replay": _replay,
    "list": _list,
    "show": _show,
    "check": _check,
    "new": _new,
    "report": _report,
    "compare": _compare,
    "shell": _shell,
    "rig": _rig,
    "study": _study,
    "probe": _probe,
    "quic": _quic,
}
"""In the order of the help."""


def application(arguments: list[str]) -> typer.Typer:
    """What understands these arguments: one command, or all where the first argument names none."""
    named = arguments[0] if arguments else ""
    if named == "--version":
        return _application(())
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
        loaded = _COMMANDS[name]()
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
