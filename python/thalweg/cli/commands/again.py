"""The command that a result was made with, for its page: what to type to run it again."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from typer.models import ArgumentInfo

from thalweg.base.seeds import first_seed, set_of

_HOW = {
    "jobs",
    "cluster",
    "shard",
    "audit",
    "format_",
    "out",
    "figures",
    "no_report",
    "strict_timing",
    "retry",
    "quiet",
    "csv",
    "parquet",
    "yes",
    "keep",
    "no_figure",
    "trace",
    "plot",
    "report",
    "capture",
    "context",
    "junit",
    "markdown",
}
"""Options for how something runs and where it writes, not for its content."""


def command_line(command: str, signature: inspect.Signature, given: Mapping[str, Any]) -> str:
    """The command that repeats what a function with this signature did: the values that are not defaults."""
    words = ["thalweg", *command.split()]
    for name, parameter in signature.parameters.items():
        value = given.get(name)
        if name in _HOW or value is None or value is False or value == []:
            continue
        info = parameter.annotation.__metadata__[0]
        if isinstance(info, ArgumentInfo):
            words += map(str, _each(value))
            continue
        # Typer takes the first of the names for a default.
        names = [info.default, *(info.param_decls or ())]
        declared = [flag for flag in names if isinstance(flag, str) and flag.startswith("--")]
        flag = declared[0] if declared else f"--{name.replace('_', '-')}"
        if info.callback is first_seed:  # the command got the first seed of the set that was given
            value = set_of(value)
        if value == parameter.default:
            continue
        words += [flag] if value is True else [part for each in _each(value) for part in (flag, str(each))]
    return shlex.join(words)


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
