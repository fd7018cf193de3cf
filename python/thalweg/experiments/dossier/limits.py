"""Limits of a dossier: how far a number may lie beyond the standards' numbers. Ours, with reasons, in one file.

Other sets of limits are shipped next to it; each changes some of them, or adds numbers that only it judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.regular_file import read_regular
from thalweg.base.quantity import bits_per_second, percent, seconds, share, text
from thalweg.base.toml import place, read_toml, shown
from thalweg.experiments.dossier.numbers import NUMBERS
from thalweg.judging.derived import renamed
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.interval import Values

_MOST = 1 << 20
"""Bytes of a file."""
_ABSOLUTE: Mapping[str | None, str] = {"lower": "at_most", "higher": "at_least"}
"""The key of a bound that does not depend on the standards, by the better end of a number."""
_KEYS = ("times", "plus", *_ABSOLUTE.values(), "reason")


@dataclass(frozen=True)
class Relative:
    """A bound by the numbers of the standards."""

    times: float
    """How many times the worse one."""
    plus: float
    """Beyond that, in the unit of the number."""


@dataclass(frozen=True)
class Limit:
    """The limit of a number: what is beyond all of its bounds is beyond the limit. It has at least one of them."""

    relative: Relative | None
    absolute: float | None
    """No number on the better side of this is beyond the limit."""
    reason: str

    def bound(self, number: Measure, standards: Sequence[Values]) -> Values:
        """The limit in each trial, of the numbers of the standards in the trials with the same seeds.

        A share of the packets that are lost never lets more than half of the others be lost too.
        """
        lower = number.better == "lower"
        bounds = []
        if self.relative:
            worse: Values = np.max(standards, axis=0) if lower else np.min(standards, axis=0)
            plus = self.relative.plus if lower else -self.relative.plus
            relative = worse * self.relative.times + plus
            bounds.append(np.minimum(relative, (1 + worse) / 2) if number.unit == "share" and lower else relative)
        if self.absolute is not None:
            bounds.append(np.full(len(standards[0]), self.absolute))
        bound: Values = np.max(bounds, axis=0) if lower else np.min(bounds, axis=0)
        return bound

    def words(self, number: Measure) -> str:
        """As people read it.

        >>> LIMITS["p95-queue-delay"].words(NUMBERS["p95-queue-delay"])
        'at most 1.5 times the larger of the standards and 10 ms'
        >>> SETS["c4-load"]["load"].words(NUMBERS["load"])
        'at most 70.0 %'
        """
        lower = number.better == "lower"
        parts = []
        if self.relative:
            parts = [f"{self.relative.times:g} times the {'larger' if lower else 'smaller'} of the standards"]
            if self.relative.plus:
                parts.append(f"{'and' if lower else 'less'} {amount(self.relative.plus, number)}")
            if lower and number.unit == "share":
                parts.append("but no more than half of the way to 100 %")
        if self.absolute is not None:
            parts += [*(["or"] if parts else []), amount(self.absolute, number)]
        return " ".join(["at most" if lower else "at least", *parts])


def amount(value: float, number: Measure) -> str:
    """A number as people read it."""
    return percent(value) if number.unit == "share" else text(value, number.unit, 3)


def read_limits(choice: str) -> Mapping[str, Limit]:
    """The usual limits, with the changes of a shipped set or of a file. Raises RequestError."""
    if not choice:
        return LIMITS
    if choice in SETS:
        return {**LIMITS, **SETS[choice]}
    file = Path(choice)
    if not file.suffix and not file.exists():
        raise RequestError(f"--limits {choice}: no such file; shipped sets are {', '.join(SETS)}")
    return {**LIMITS, **_limits(read_tables(file), str(file))}


def read_tables(file: Path) -> dict[str, Any]:
    """A small TOML file of the user. Raises RequestError."""
    return read_toml(read_regular(file, _MOST, "a TOML file"), str(file))


def _limits(tables: Mapping[str, Any], where: str) -> dict[str, Limit]:
    found = {}
    for name, table in tables.items():
        number = NUMBERS.get(name)
        if told := renamed("dossier", name):
            raise RequestError(f"{place(where, name)}: {told}")
        if number is None:
            raise RequestError(f"{place(where, name)}: unknown table [{name}]{did_you_mean(name, NUMBERS)}")
        if not isinstance(table, dict):
            said = f"expected a table [{name}] with times, plus and reason"
            raise RequestError(f"{place(where, name)}: {name} = {shown(table)}: {said}")
        for key in table:
            if key not in _KEYS:
                raise RequestError(
                    f"{place(where, name, key)}: unknown key {name}.{key}{did_you_mean(key, _KEYS)}"
                )
        try:
            found[name] = _limit(number, table)
        except RequestError as error:
            key = str(error).removeprefix(".").split(" ")[0].rstrip(":")
            raise RequestError(f"{place(where, name, key)}: {name}{error}") from None
    return found


def _limit(number: Measure, table: Mapping[str, Any]) -> Limit:
    """The limit in a table. Raises RequestError, whose message begins behind the name of the table."""
    for better, key in _ABSOLUTE.items():
        if key in table and better != number.better:
            own = _ABSOLUTE[number.better]
            raise RequestError(f".{key}: for {number.heading}, {number.better} is better: expected {own}")
    times = table.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int | float) or not 0 <= times <= 1000:
        raise RequestError(f".times = {shown(times)}: expected a number from 0 to 1000")
    reason = table.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        given = "" if reason is None else f" = {shown(reason)}"
        raise RequestError(f".reason{given}: expected a sentence that says why")
    key = _ABSOLUTE[number.better]
    absolute = _read(number, table[key], f".{key}") if key in table else None
    relative = None
    if "times" in table or "plus" in table:
        if "plus" in table and not number.unit:
            raise RequestError(".plus: a number without a unit has no plus")
        relative = Relative(float(times), _read(number, table.get("plus", 0), ".plus"))
    if relative is None and absolute is None:
        raise RequestError(f": expected times and plus, or {key}")
    return Limit(relative, absolute, reason.strip())


def _read(number: Measure, value: object, where: str) -> float:
    """A number in its unit."""
    if value == 0 and not isinstance(value, bool):
        return 0.0
    if isinstance(value, str) and number.unit == "s":
        return seconds(value, where)
    if isinstance(value, str) and number.unit == "bps":
        return bits_per_second(value, where)
    if not number.unit and isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1000:
        return float(value)
    part = share(value) if isinstance(value, str) else None
    if number.unit == "share" and part is not None and 0 <= part <= 1:
        return part
    form = {"s": 'a time such as "10 ms"', "bps": 'a rate such as "1 Mbps"', "share": 'a share such as "1 %"'}
    raise RequestError(f"{where} = {shown(value)}: expected {form.get(number.unit, 'a number from 0 to 1000')}")


def _shipped(name: str) -> Mapping[str, Limit]:
    file = f"{name}.toml"
    text = files(__package__).joinpath("limit_sets", file).read_text(encoding="utf-8")
    return _limits(read_toml(text, file), file)


LIMITS = _shipped("usual")
"""The usual ones, by number."""
SETS = {"c4-load": _shipped("c4-load")}
"""What others ask, by name: changes of the usual ones."""
