"""What to try to make of the document of a scenario to make it smaller, one pass after the other.

without     fewer flows, changes and other entries of lists; then fewer keys
reverted    values of the scenario that the hunt began with
shorter     half the time, and less to send; changes that come sooner
rounder     numbers with fewer digits
elsewhen    without, and all changes of the path sooner or later: what goes often decides when something happens
            that a change has to meet

Of what they propose, only what is smaller (`size.py`) is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from itertools import chain
from typing import Any

from thalweg.experiments.hunt.size import LENGTHS, Path, leaves, parts

Document = dict[str, Any]
_KEPT = ("title", "pass")
_FACTORS = tuple(map(Decimal, ("0.5", "0.7", "0.85", "1.2", "1.4", "2")))
"""By which changes come sooner or later."""


def without_entries(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """Fewer entries of lists of tables: all, halves, quarters, and so on; the entries of needed flows stay."""
    for path, entries in _lists(document):
        kept = needed if path == ("flow",) else frozenset()
        free = [place for place, entry in enumerate(entries) if entry.get("name") not in kept]
        run = len(free)
        while run:
            for first in range(0, len(free), run):
                gone = set(free[first : first + run])
                rest = [entry for place, entry in enumerate(entries) if place not in gone]
                yield _put(document, path, rest) if rest else _cut(document, path)
            run //= 2


def without_keys(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """Without a key, tables before what is in them."""
    for path in _keys(document, ()):
        if path != ("flow",):
            yield _cut(document, path)


def elsewhen(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """Without entries or a key, with all times of changes by a factor sooner or later."""
    for made in chain(without_entries(document, base, needed), without_keys(document, base, needed)):
        times = [(path, parts(value)) for path, value in leaves(made) if path[-1] == "at"]
        for factor in _FACTORS if times else ():
            moved = made
            for path, time in times:
                if time is not None:
                    moved = _put(moved, path, f"{_rounded(time[0] * factor, 2)}{time[1]}")
            yield moved


def reverted(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """With a value of the base."""
    before = dict(leaves(base))
    for path, value in leaves(document):
        if path[0] not in _KEPT and path in before and before[path] != value:
            yield _put(document, path, before[path])


def shorter(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """With a fraction of a length, or with all changes of a list sooner."""
    for path, entries in _lists(document):
        times = [parts(entry["at"]) if "at" in entry else None for entry in entries]
        if len(times) > 1 and times[0] and all(time and time[1] == times[0][1] for time in times):
            for divisor in (4, 2):
                sooner = times[0][0] - _rounded(times[0][0] / divisor, 1)
                moved = [
                    {**entry, "at": _text(time[0] - sooner, time[1], entry["at"])}
                    for entry, time in zip(entries, times, strict=True)
                    if time
                ]
                yield _put(document, path, moved)
    for path, value in leaves(document):
        number = parts(value) if path[-1] in LENGTHS and path[0] not in _KEPT else None
        if number:
            for divisor in (8, 4, 2):
                yield _put(document, path, _text(_rounded(number[0] / divisor, 2), number[1], value))


def rounder(document: Document, base: Document, needed: frozenset[str]) -> Iterator[Document]:
    """With fewer digits: all numbers, then one."""
    for count in (1, 2, 3):
        changed = document
        for path, value in leaves(document):
            if path[0] not in _KEPT and (number := parts(value)):
                changed = _put(changed, path, _text(_rounded(number[0], count), number[1], value))
        yield changed
    for path, value in leaves(document):
        number = parts(value) if path[0] not in _KEPT else None
        if number:
            for count in (1, 2, 3):
                for way in (ROUND_HALF_UP, ROUND_FLOOR, ROUND_CEILING):
                    yield _put(document, path, _text(_rounded(number[0], count, way), number[1], value))


PASSES = (without_entries, without_keys, reverted, shorter, rounder, elsewhen)


def _lists(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Document]]]:
    """Lists of tables, the outer ones first."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if path or key not in _KEPT:
                yield from _lists(inner, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(inner, Mapping) for inner in value):
        yield path, value
        for place, inner in enumerate(value):
            yield from _lists(inner, (*path, place))


def _keys(value: Any, path: Path) -> Iterator[Path]:
    entries = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        if not path and key in _KEPT:
            continue
        if isinstance(value, Mapping):
            yield (*path, key)
        yield from _keys(inner, (*path, key))


def _put(document: Document, path: Path, value: Any) -> Document:
    changed = deepcopy(document)
    table: Any = changed
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    return changed


def _cut(document: Document, path: Path) -> Document:
    changed = deepcopy(document)
    table: Any = changed
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    return changed


def _rounded(number: Decimal, count: int, way: str = ROUND_HALF_UP) -> Decimal:
    """A number with so many significant digits.

    >>> [str(_rounded(Decimal(text), 1)) for text in ("123.4", "0.0951", "0", "7")]
    ['100', '0.1', '0', '7']
    """
    if not number:
        return number
    exponent = number.adjusted() - count + 1
    return _plain(number.quantize(Decimal(1).scaleb(exponent), way))


def _plain(number: Decimal) -> Decimal:
    """Without an exponent and without zeros behind the point."""
    return Decimal(format(number.normalize(), "f"))


def _text(number: Decimal, suffix: str, like: Any) -> Any:
    """A number in the form of another value."""
    if isinstance(like, int):
        return max(int(number), 1)
    return float(number) if isinstance(like, float) else f"{_plain(number)}{suffix}"
