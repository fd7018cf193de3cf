"""Options of a controller in Python: the arguments of its constructor after `init`, typed and checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.engine.controllers.controller import Controller

_NONE = "none"


@dataclass(frozen=True)
class Option:
    """One argument of a constructor."""

    name: str
    types: tuple[Any, ...]
    """What it accepts: bool, int, float, str, words of a Literal, or None."""
    default: Any = inspect.Parameter.empty

    @property
    def accepted(self) -> str:
        """The accepted values in words."""
        words = {bool: "on, off", int: "a whole number", float: "a number", str: "a text", NoneType: _NONE}
        return ", ".join(words[kind] if isinstance(kind, type) else str(kind) for kind in self.types)

    @property
    def is_needed(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    def read(self, text: str) -> Any:
        """The value that a text stands for. Raises ValueError."""
        for kind in self.types:
            if isinstance(kind, str):
                if text == kind:
                    return kind
                continue
            try:
                return _READ[kind](text)
            except (ValueError, KeyError):
                continue
        raise ValueError(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_SWITCH = {"on": True, "true": True, "off": False, "false": False}
_READ: dict[type, Callable[[str], Any]] = {
    bool: lambda text: _SWITCH[text.lower()],
    int: int,
    float: _number,
    str: str,
    NoneType: lambda text: {_NONE: None}[text.lower()],
}


def options_of(controller: type[Controller], what: str) -> dict[str, Option]:
    """The options of a class by name. Raises RequestError for a constructor that texts cannot call.

    >>> class Mine(Controller):
    ...     def __init__(self, init, beta: float = 0.7, mode: Literal["a", "b"] = "a"):
    ...         self.window = init.initial_window
    >>> [(option.name, option.accepted, option.default) for option in options_of(Mine, "Mine").values()]
    [('beta', 'a number', 0.7), ('mode', 'a, b', 'a')]
    """
    constructor = inspect.unwrap(controller.__init__)
    parameters = list(inspect.signature(constructor).parameters.values())[1:]
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in places:
        raise RequestError(f"{what}: its constructor takes no init; accepted: __init__(self, init, ...)")
    try:
        hints = get_type_hints(constructor)
    except Exception as error:
        raise RequestError(f"{what}: the types of its constructor cannot be read: {error}") from None
    found = {}
    for parameter in parameters[1:]:
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise RequestError(f"{what}: {parameter.name} has no name for callers; accepted: no / after it")
        has_default = parameter.default is not inspect.Parameter.empty
        hint = hints.get(parameter.name, type(parameter.default) if has_default else str)
        found[parameter.name] = Option(
            parameter.name, tuple(_types(hint, what, parameter.name)), parameter.default
        )
    return found


def _types(hint: Any, what: str, name: str) -> list[Any]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        each = [type_ for part in get_args(hint) for type_ in _types(part, what, name)]
        return sorted(each, key=lambda kind: kind is str)  # a text accepts everything: it comes last
    if origin is Literal and all(isinstance(word, str) for word in get_args(hint)):
        return list(get_args(hint))
    if hint in _READ:
        return [hint]
    shown = getattr(hint, "__name__", str(hint))
    raise RequestError(
        f"{what}: option {name} has the type {shown}; accepted: float, int, bool, str, Literal of texts, "
        "or one of these or None"
    )


def read_options(text: str, known: Mapping[str, Option], what: str) -> dict[str, Any]:
    """The values that `beta=0.8,fast` stands for; a switch by itself means `=on`. Raises RequestError."""
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in known:
            accepted = ", ".join(known) or "none"
            raise RequestError(f'{what} has no option "{name}"{_close(name, known)}; accepted: {accepted}')
        if name in given:
            raise RequestError(f'option "{name}" of {what} is given twice')
        option = known[name]
        try:
            given[name] = option.read(value if equals else "on")
        except ValueError:
            raise RequestError(
                f'option "{name}" of {what} cannot be "{value}"; accepted: {option.accepted}'
            ) from None
    check_needed(given, known, what)
    return given


def check_needed(given: Mapping[str, Any], known: Mapping[str, Option], what: str) -> None:
    """Refuses values that lack an option without default. Raises RequestError."""
    for option in known.values():
        if option.is_needed and option.name not in given:
            raise RequestError(f'{what} needs the option "{option.name}"; accepted: {option.accepted}')


def _close(name: str, known: Mapping[str, Option]) -> str:
    hint = did_you_mean(name, known)
    return hint if "did you mean" in hint else ""


def write_options(given: Mapping[str, Any]) -> str:
    """Options as texts name them.

    >>> write_options({"beta": 0.8, "fast": True, "floor": None})
    'beta=0.8,fast=on,floor=none'
    """
    words = {True: "on", False: "off", None: _NONE}
    parts = (
        (name, words[value] if value is None or isinstance(value, bool) else value)
        for name, value in given.items()
    )
    return ",".join(f"{name}={value}" for name, value in parts)
