"""How large the document of a scenario is, so that the smaller of two that do the same is the better find.

A size is a tuple of whole numbers, compared from the left: numbers, keys, length, changes, digits. Each step of
shrinking makes it smaller, and no size is below zero: so shrinking ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thalweg.base.quantity import measure

Path = tuple[str | int, ...]
LENGTHS = frozenset(
    ("time_limit", "download", "upload", "start", "at", "duration", "call", "count", "repeat", "measure_from")
)
"""Keys that make a trial longer, or let something happen later in it."""
_UNTOLD = ("title", "pass")
"""What says nothing of how a trial goes."""
_NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)(.*)", re.DOTALL)
_OPTION = re.compile(r"=\s*[-+]?[0-9]")
_MICRO = 10**6


@dataclass(frozen=True, order=True)
class Size:
    """The size of a document."""

    numbers: int
    """Numbers in its values."""
    leaves: int
    """Values."""
    length: int
    """Binary digits of times and sizes, in microseconds and bytes, of keys in `LENGTHS`."""
    changes: int
    """Values that are new or differ from the scenario that the hunt began with."""
    digits: int
    """Significant digits of all numbers."""

    @staticmethod
    def of(document: Mapping[str, Any], base: Mapping[str, Any]) -> Size:
        """The size of a document, and of what it changes in another."""
        before = dict(leaves(base))
        found = [(path, value) for path, value in leaves(document) if path[0] not in _UNTOLD]
        return Size(
            sum(map(numbers, (value for _, value in found))),
            len(found),
            sum(_length(path, value) for path, value in found),
            sum(before.get(path, ...) != value for path, value in found),
            sum(digits(value) for _, value in found),
        )


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All values that are neither tables nor lists of tables, with their paths."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def at(document: Any, key: str) -> Any:
    """What a key of a scenario has, with entries of lists by name or number; None if it is not there.

    >>> at({"flow": [{"name": "main", "download": "1 MB"}]}, "flow.main.download")
    '1 MB'
    """
    for part in key.split("."):
        if isinstance(document, list):
            named = [entry for entry in document if isinstance(entry, Mapping) and entry.get("name") == part]
            numbered = document[int(part) : int(part) + 1] if part.isdigit() else []
            document = next(iter([*named, *numbered]), None)
        else:
            document = document.get(part) if isinstance(document, Mapping) else None
    return document


def numbers(value: Any) -> int:
    """How many numbers a value has.

    >>> numbers("20 ms"), numbers(3), numbers("c4:push=1.1"), numbers("c4"), numbers(True), numbers("us: 0 5 7 9")
    (1, 1, 1, 0, 0, 4)
    """
    if isinstance(value, str):
        if value.startswith(("us:", "ms:")):
            return len(value.split()) - 1
        return 1 if parts(value) else len(_OPTION.findall(value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


def parts(value: Any) -> tuple[Decimal, str] | None:
    """The number of a value and what follows it; None for a value that is not a number.

    >>> parts("20.5 ms"), parts(3), parts("c4")
    ((Decimal('20.5'), ' ms'), (Decimal('3'), ''), None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Decimal(str(value)), ""
    if not isinstance(value, str) or not (match := _NUMBER.fullmatch(value.strip())):
        return None
    if match[2].strip() and measure(value) is None:
        return None
    return Decimal(match[1]), match[2]


def digits(value: Any) -> int:
    """Significant digits of a number.

    >>> digits("120 ms"), digits("0.125 bdp"), digits(0), digits("cubic")
    (2, 3, 1, 0)
    """
    found = parts(value)
    return len(found[0].normalize().as_tuple().digits) if found else 0


def _length(path: Path, value: Any) -> int:
    if path[-1] not in LENGTHS:
        return 0
    found = measure(value) if isinstance(value, str) else None
    number = found[0] * (_MICRO if found[1] == "s" else 1) if found else value if isinstance(value, int) else 0
    return round(abs(number)).bit_length()
