"""Commands that are loaded when they are called: a group knows their names and summaries, and its help no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

from thalweg.base.errors import RequestError, did_you_mean

MARKUP: Any = "markdown"
_HELP = {"--help", "-h"}
_HEAVY = ("numpy", "polars")
"""Each takes a fifth of a second to load, and no help computes."""


@dataclass(frozen=True)
class Later:
    """A command that is not loaded yet."""

    load: Callable[[], Any]
    """Returns its function, or its group."""
    summary: str
    """The first paragraph of its help."""
    panel: str | None = None
    """The part of the help of its group in which it stands."""


def postponed(place: str, summary: str) -> Later:
    """The command at `MODULE:NAME` of `thalweg.cli`."""
    return Later(partial(resolve_name, f"thalweg.cli.{place}"), summary)


class Group(TyperGroup):
    """A group whose options stand before the name of a command or not at all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Looks for no options where a command is named: to parse them loads pydantic, for help too."""
        if not args or args[0] not in self.commands:
            return super().parse_args(ctx, args)
        ctx._protected_args, ctx.args = args[:1], args[1:]
        return args[1:]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named first. Raises RequestError if there is none of this name."""
        if args[0] not in self.commands:
            raise RequestError(f"unknown command {args[0]!r}{did_you_mean(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


def group_of(commands: Mapping[str, Later], base: type[Group] = Group) -> type[Group]:
    """The class of a group with these commands, in this order."""

    class Postponed(base):  # type: ignore[valid-type, misc]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands = {name: _outline(name, later) for name, later in commands.items()}

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, _, rest = super().resolve_command(ctx, args)
            if _HELP & {*rest}:
                _postpone()
            return name, _loaded(name, commands[name]), rest

        def load_all(self) -> None:
            """Loads every command, for those who describe or call them all."""
            self.commands = {name: _loaded(name, later) for name, later in commands.items()}
            for command in self.commands.values():
                if hasattr(command, "load_all"):
                    command.load_all()

    return Postponed


def _outline(name: str, later: Later) -> Any:
    """What help shows of a command."""
    return _command(name, lambda: None, later.summary, later.panel)


def _loaded(name: str, later: Later) -> Any:
    with _one_thread_of_blas():
        return _command(name, later.load())


def _command(name: str, function: Any, summary: str | None = None, panel: str | None = None) -> Any:
    """The command of a function, or of a group, as a part of another group."""
    holder = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
    holder.callback()(lambda: None)
    if isinstance(function, typer.Typer):
        holder.add_typer(function)
    else:
        holder.command(name, help=summary, rich_help_panel=panel)(function)
    return typer.main.get_group(holder).commands[name]


class _Postponed(ModuleType):
    """A module that loads when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        with _one_thread_of_blas():
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
        self.__dict__.update(vars(module))
        return getattr(module, name)


def _postpone() -> None:
    """Lets `import numpy` load nothing yet. The loader of the standard library does, until a second import."""
    for name in _HEAVY:
        if name not in sys.modules:
            spec = find_spec(name)
            sys.modules[name] = _Postponed(name)
            sys.modules[name].__spec__ = spec


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
