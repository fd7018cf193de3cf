"""Parameters of a study, which are options of the command line as well.

A study has one frozen dataclass of parameters, with the defaults of the published experiment. A field made by
`option` is an option of `thalweg study`; the form of its value follows from the field: a text, a number, or a
tuple of them for an option that may be repeated. What was not given keeps the value of the preset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_args, get_origin, get_type_hints

from thalweg.engine.controllers.definition import file_of

_KEY = "option"
_LONGEST = 120
"""Letters of the name of a file, without its ending."""


def file_name(*parts: str) -> str:
    """The name of a cell in files and places of a page: letters, digits, points and dashes.

    The folder of a controller in a file is left out.

    >>> file_name("40 ms", "cubic:beta=0.8", "1bdp"), file_name("./mine.py:Mine", "/home/me/b c.py")
    ('40ms-cubic.beta.0.8-1bdp', 'mine.py.Mine-bc.py')
    """
    name = "-".join(_in_files(part) for part in parts)
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 9]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


def _in_files(part: str) -> str:
    if file := file_of(part):
        part = part.replace(file, Path(file).name, 1)
    return re.sub("[^A-Za-z0-9.-]", ".", "".join(part.split())).strip(".-") or "x"


class Cell(Protocol):
    """What runs with one scenario: it can be compared and hashed."""

    @property
    def name(self) -> str:
        """For files and places of a page: letters, digits, points and dashes."""

    @property
    def title(self) -> str:
        """For people."""


C_co = TypeVar("C_co", bound=Cell, covariant=True)


class Parameters(Protocol[C_co]):
    """All that defines an experiment."""

    @property
    def trials(self) -> int:
        """How many trials a cell has unless the user asks for another number."""

    def cells(self) -> Iterable[C_co]:
        """All cells, each once, in the order in which they run."""


@dataclass(frozen=True)
class Option:
    """How a parameter is given on the command line."""

    flags: tuple[str, ...]
    """Empty: two dashes and the name of the field."""
    help: str
    metavar: str | None = None
    panel: str | None = None
    least: float | None = None
    most: float | None = None
    read: Callable[[str], Any] | None = None
    """Makes a value out of its text, where texts and numbers do not do; raises RequestError."""


def option(
    default: Any,
    *flags: str,
    help: str,  # noqa: A002 - as typer has it
    metavar: str | None = None,
    panel: str | None = None,
    least: float | None = None,
    most: float | None = None,
    read: Callable[[str], Any] | None = None,
) -> Any:
    """A field of parameters that is an option as well."""
    return field(default=default, metadata={_KEY: Option(flags, help, metavar, panel, least, most, read)})


def options(parameters: type) -> Iterator[tuple[str, Any, Option]]:
    """For each option: the name of its field, the type of what is given (None for nothing), and its form."""
    hints = get_type_hints(parameters)
    for parameter in fields(parameters):
        if _KEY in parameter.metadata:
            hint = hints[parameter.name]
            form: Option = parameter.metadata[_KEY]
            each = get_args(hint)[0] if get_origin(hint) is tuple else hint
            given = str if form.read else each
            values = given if each is hint else list[given]  # type: ignore[valid-type]
            yield parameter.name, values | None, form


def settings(parameters: Any) -> dict[str, str]:
    """Every parameter by its name, as text."""

    def setting(value: Any) -> str:
        return ", ".join(map(setting, value)) if isinstance(value, tuple) else str(value)

    return {parameter.name: setting(getattr(parameters, parameter.name)) for parameter in fields(parameters)}


P = TypeVar("P")


def changed(parameters: P, given: Mapping[str, Any]) -> P:
    """These parameters with what was given instead; what is given twice counts once. Raises RequestError."""
    forms = {name: form for name, _, form in options(type(parameters))}

    def value(name: str, given: Any) -> Any:
        read = forms[name].read or (lambda text: text)
        return tuple(dict.fromkeys(map(read, given))) if isinstance(given, list) else read(given)

    values = {name: value(name, entry) for name, entry in given.items() if entry is not None}
    return replace(parameters, **values)  # type: ignore[type-var]
