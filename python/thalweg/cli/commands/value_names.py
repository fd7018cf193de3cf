"""What help calls the value of an option: nothing for a flag, and no types or ranges of Python.

An argument stands in the line of usage as one types it, in brackets if it may be left out. A number outside of
its range is refused with the range; help need not say 2^63.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperOption

_NAMES = {
    "bool": None,
    "int": "N",
    "int range": "N",
    "float": "X",
    "str": "TEXT",
    "path": "PATH",
    "list[path]": "PATH",
}
_of_typer = TyperOption.display_type_rich


def _name(self: Any, ctx: Any) -> str | None:
    """The name of the value of an option, or of an argument that has no name of its own."""
    if isinstance(self, TyperArgument) and self.metavar:
        return None
    found = (_of_typer(self, ctx) or "").removeprefix("<").removesuffix(">")
    return _NAMES.get(found.casefold(), found) or None


def _in_usage(self: Any) -> str:
    """An argument in the line of usage."""
    name = self.display_name_raw if self.required else f"[{self.display_name_raw}]"
    return f"{name}..." if self.nargs != 1 else name


def name_values() -> None:
    """Lets help name values so: typer has no setting for it."""
    for kind in (TyperOption, TyperArgument):
        kind.display_type_rich = _name  # type: ignore[method-assign]
        kind._get_number_range_help_str = lambda self: None  # type: ignore[method-assign]
    TyperArgument._usage_display_name = _in_usage  # type: ignore[method-assign]
