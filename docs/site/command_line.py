"""The commands and their options as Markdown, out of what `--help` says."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from thalweg.cli.commands import everything


def command_line() -> str:
    """A heading for each command, its help, and a table of its options."""
    return "\n".join(line for names, command in _commands((), everything()) for line in _described(names, command))


def _commands(names: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands, each after the group that holds it."""
    yield names, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands((*names, name), inner)


def _described(names: tuple[str, ...], command: Any) -> Iterator[str]:
    full = " ".join(("thalweg", *names))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    shown = " ".join(_argument(one) for one in arguments)
    rest = "COMMAND" if hasattr(command, "commands") else shown
    yield f"{'#' * (len(names) + 1 if names else 2)} {full}\n"
    yield f"```text\n{' '.join(part for part in (full, '[OPTIONS]', rest) if part)}\n```\n"
    yield f"{command.help or ''}\n"
    rows = [(f"`{_argument(one)}`", one.help or "", "") for one in arguments]
    rows += [(_option(one), one.help or "", _default(one)) for one in options]
    yield "| option | meaning | default |\n|---|---|---|"
    yield from ("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)
    yield ""


def _argument(parameter: Any) -> str:
    name = parameter.metavar or str(parameter.name).upper()
    return str(name)


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return f"{names} `{parameter.metavar}`" if parameter.metavar else names


def _default(parameter: Any) -> str:
    value = parameter.default
    if callable(value) or value in (None, False, (), []):
        return ""
    value = value.value if isinstance(value, Enum) else value
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
