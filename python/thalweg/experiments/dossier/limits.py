"""Limits of a dossier: how far a number may lie beyond those of the standards. Ours, with reasons, in one file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.regular_file import read_regular
from thalweg.base.quantity import bits_per_second, percent, seconds, split, text
from thalweg.experiments.dossier.numbers import NUMBERS, Number
from thalweg.judging.statistics.interval import Values

FILE = "limits.toml"
_MOST = 1 << 20
"""Bytes of a file."""
_KEYS = ("times", "plus", "at_most", "reason")


@dataclass(frozen=True)
class Limit:
    """Of one number."""

    times: float
    """Of the worse number of the standards."""
    plus: float
    """Beyond that, in the unit of the number."""
    at_most: float | None
    """No number of at most this is beyond the limit."""
    reason: str

    def bound(self, number: Number, standards: Sequence[Values]) -> Values:
        """The limit in each trial, of the numbers of the standards in the trials with the same seeds.

        A share of the packets that are lost never lets more than half of the others be lost too.
        """
        if number.better == "higher":
            least: Values = np.min(standards, axis=0)
            return least * self.times - self.plus
        most: Values = np.max(standards, axis=0)
        bound: Values = most * self.times + self.plus
        if number.unit == "share":
            bound = np.minimum(bound, (1 + most) / 2)
        return bound if self.at_most is None else np.maximum(bound, self.at_most)

    def words(self, number: Number) -> str:
        """As people read it.

        >>> LIMITS["queue-delay"].words(NUMBERS["queue-delay"])
        '1.5 times the larger of the standards and 10 ms'
        """
        lower = number.better == "lower"
        parts = [f"{self.times:g} times the {'larger' if lower else 'smaller'} of the standards"]
        if self.plus:
            amount = percent(self.plus) if number.unit == "share" else text(self.plus, number.unit)
            parts.append(f"{'and' if lower else 'less'} {amount}")
        if lower and number.unit == "share":
            parts.append("but no more than half of the way to 100 %")
        if self.at_most is not None:
            parts.append(f"or {text(self.at_most, number.unit)}")
        return " ".join(parts)


def read_limits(file: Path | None) -> Mapping[str, Limit]:
    """The shipped limits, with the changes of a file. Raises RequestError."""
    if file is None:
        return LIMITS
    return {**LIMITS, **_limits(read_tables(file), str(file))}


def read_tables(file: Path) -> dict[str, Any]:
    """A small TOML file of the user. Raises RequestError."""
    try:
        return tomllib.loads(read_regular(file, _MOST, "a TOML file").decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"{file}: {error}") from None


def _limits(tables: Mapping[str, Any], where: str) -> dict[str, Limit]:
    found = {}
    for name, table in tables.items():
        number = NUMBERS.get(name)
        if number is None:
            raise RequestError(f"{where}: unknown table [{name}]{did_you_mean(name, NUMBERS)}")
        if not isinstance(table, dict):
            raise RequestError(f"{where}: {name}: expected a table [{name}] with times, plus and reason")
        for key in table:
            if key not in _KEYS:
                raise RequestError(f"{where}: unknown key {name}.{key}{did_you_mean(key, _KEYS)}")
        found[name] = _limit(number, table, f"{where}: {name}")
    return found


def _limit(number: Number, table: Mapping[str, Any], where: str) -> Limit:
    times, at_most = table.get("times", 1), table.get("at_most")
    for key, value in (("times", times), ("at_most", at_most)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
            raise RequestError(f"{where}.{key} = {value!r}: expected a number from 0 to 1000")
    if at_most is not None and (number.unit or number.better == "higher"):
        raise RequestError(f"{where}.at_most: only a number without a unit has it, such as packets-per-rtt")
    reason = table.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise RequestError(f"{where}.reason: expected a sentence that says why")
    plus = _amount(number, table.get("plus"), f"{where}.plus")
    return Limit(float(times), plus, None if at_most is None else float(at_most), reason.strip())


def _amount(number: Number, value: object, where: str) -> float:
    if value is None:
        return 0.0
    forms = {"s": '"10 ms"', "bps": '"1 Mbps"', "share": '"1 %"'}
    form = forms.get(number.unit)
    if form is None:
        raise RequestError(f"{where}: a number without a unit has no plus")
    if isinstance(value, str) and number.unit == "s":
        return seconds(value, where)
    if isinstance(value, str) and number.unit == "bps":
        return bits_per_second(value, where)
    parts = split(value) if isinstance(value, str) else None
    if number.unit != "share" or not parts or parts[1] != "%" or not 0 <= float(parts[0]) <= 100:
        raise RequestError(f"{where} = {value!r}: expected a quantity such as {form}")
    return float(parts[0]) / 100


LIMITS: Mapping[str, Limit] = _limits(
    tomllib.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8")), FILE
)
"""The shipped ones, by number."""
