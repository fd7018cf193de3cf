"""One axis of a sweep: the key that varies, and its values, listed or spaced over a range.

A value is a text, as a scenario file has it, and where that text is a number with a unit also a number: tables and
figures have numbers, in base units that the name of their column says (`path.rate_bps`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import between, measure, plain, split
from thalweg.base.toml import shown
from thalweg.engine.controllers.definition import of_class
from thalweg.experiments.sweep.plan_file import PlanFile

CONTROLLER = "controller."
"""What the key of an axis over controllers begins with; the name of a flow follows."""
_RANGE = ("from", "to", "steps", "scale")
_SCALES = ("linear", "log")
_MOST = 10**4
_ACCEPTED = (
    'a list such as ["1 Mbps", "10 Mbps"], or { from = "1 Mbps", to = "10 Mbps", steps = 4, scale = "log" }'
)
_COUNTED = {"", "packets", "packet"}
"""Units whose numbers stay whole over a range between whole numbers."""


def is_finite(number: float) -> bool:
    """Whether a number is finite as a float too: whole numbers can be too large for one."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


@dataclass(frozen=True)
class Value:
    """A value of an axis."""

    text: str
    """As `--set` and `--controller` take it."""
    number: float | None
    """In the base unit; None where it is none."""
    unit: str
    given: Any
    """As the plan has it: a class of controllers is not text."""

    @staticmethod
    def of(given: Any) -> Value:
        """The value that an entry of a plan means. Raises RequestError."""
        if isinstance(given, str):
            number, unit = measure(given) or (_bare(given), "")
            return Value(given, number, unit, given)
        if isinstance(given, bool):
            return Value(str(given).lower(), None, "", given)
        if isinstance(given, int | float):
            if not is_finite(given):
                raise RequestError("accepted: a finite number")
            return Value(plain(given) if isinstance(given, float) else str(given), float(given), "", given)
        if isinstance(given, dict | list):
            try:
                return Value(_toml(given), None, "", given)
            except TypeError:  # a date, or a time
                raise RequestError("accepted: texts, numbers, lists, tables") from None
        return Value(of_class(given).text, None, "", given)


@dataclass(frozen=True)
class Range:
    """Values between two bounds, both included."""

    low: float
    """In the unit that the texts have."""
    high: float
    suffix: str
    is_log: bool
    is_whole: bool

    def at(self, share: float) -> Value:
        """The value at a share of the way, of its logarithm where the scale is that; to six digits.

        >>> range_of({"from": "10 ms", "to": "320 ms", "scale": "log"}).at(0.2).text
        '20 ms'
        """
        linear = self.low + share * (self.high - self.low)
        value = between(self.low, self.high, share) if self.is_log else linear
        value = round(value) if self.is_whole else float(f"{value:.6g}")
        text = f"{plain(value)}{self.suffix}"
        return Value.of(text) if self.suffix else Value.of(value)

    def share(self, number: float) -> float:
        """The share of the way at which a number, in the base unit, is; below 0 or above 1 outside of the range.

        >>> range_of({"from": "10 ms", "to": "30 ms"}).share(0.015)
        0.25
        """
        base = measure(f"1{self.suffix}") if self.suffix else None
        value = number / (base[0] if base else 1.0)
        if self.is_log:
            return math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Axis:
    """A key and its values."""

    key: str
    values: tuple[Value, ...]
    """The values of a grid; empty for a range without steps, which designs of points draw from."""
    range: Range | None = None

    @property
    def flow(self) -> str | None:
        """The flow whose controller varies; None if a key of the scenario does."""
        return self.key.removeprefix(CONTROLLER) if self.key.startswith(CONTROLLER) else None

    @cached_property
    def unit(self) -> str | None:
        """The base unit of all values; None if they are not all numbers of one unit."""
        values = self.values or (self.range.at(0),) if self.range else self.values
        units = {value.unit for value in values}
        return units.pop() if len(units) == 1 and all(value.number is not None for value in values) else None

    @property
    def column(self) -> str:
        """Its name in tables, with the unit: `path.rate_bps`."""
        return f"{self.key}_{self.unit}" if self.unit else self.key

    def at(self, share: float) -> Value:
        """The value at a share, 0 to 1, of the axis: of its list, if it has one."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        assert self.range is not None
        return self.range.at(share)

    def cell(self, value: Value) -> float | str:
        """A value as tables have it."""
        return value.text if self.unit is None or value.number is None else value.number


def read_axis(key: str, given: Any, file: PlanFile, needs_steps: bool) -> Axis:
    """The axis that an entry of a plan means; a grid needs the steps of a range. Raises ScenarioError."""
    at = ("axes", key)
    if isinstance(given, Mapping):
        try:
            spacing = range_of(given)
            steps = given.get("steps")
            if steps is None and needs_steps:
                raise RequestError("steps is missing; accepted: steps = 6, or a design of points")
            values = [] if steps is None else [spacing.at(step / (steps - 1)) for step in range(steps)]
        except RequestError as error:
            raise file.refusal(at, str(error), dict(given)) from None
        texts = list(dict.fromkeys(value.text for value in values))
        if len(texts) < len(values):
            raise file.refusal(
                at, f"{len(values)} steps are only {len(texts)} values; accepted: fewer", dict(given)
            )
        return Axis(key, tuple(values), spacing)
    if not isinstance(given, list | tuple):
        raise file.refusal(at, f"accepted: {_ACCEPTED}", given)
    if not given:
        raise file.refusal(at, f"the axis is empty; accepted: {_ACCEPTED}", given)
    found: list[Value] = []
    for entry in given:
        try:
            value = Value.of(entry)
        except RequestError as error:
            raise file.refusal(at, str(error), entry) from None
        if any(value.text == other.text for other in found):
            raise file.refusal(at, "it is given twice; accepted: each value once", entry)
        found.append(value)
    return Axis(key, tuple(found))


def range_of(given: Mapping[str, Any]) -> Range:
    """The range that a table means. Raises RequestError."""
    for key in given:
        if key not in _RANGE:
            raise RequestError(f"unknown key {key!r}{did_you_mean(key, _RANGE)}")
    bounds = []
    for key in ("from", "to"):
        if key not in given:
            raise RequestError(f"{key} is missing; accepted: {_ACCEPTED}")
        bounds.append(_bound(key, given[key]))
    (low, low_unit, suffix), (high, high_unit, other) = bounds
    if low_unit != high_unit:
        raise RequestError(
            f"from and to have different units, {suffix!r} and {other!r}; accepted: one kind of both"
        )
    steps, scale = given.get("steps"), given.get("scale", "linear")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= _MOST):
        raise RequestError(f"steps = {shown(steps)}: accepted: a whole number, 2 to {_MOST}")
    if scale not in _SCALES:
        raise RequestError(f'scale = {shown(scale)}: accepted: "linear" or "log"')
    if scale == "log" and min(low, high) <= 0:
        raise RequestError('scale = "log": accepted: from and to above 0')
    if low == high:
        raise RequestError("from and to are the same; accepted: two values, or a list of one")
    # Both in the unit of `from`, as the texts of the values will be.
    base = measure(f"1{suffix}") if suffix else None
    unit = base[0] if base else 1.0
    low, high = (float(f"{bound / unit:.12g}") for bound in (low, high))
    if not math.isfinite(high - low):
        raise RequestError("from and to are too far apart; accepted: finite numbers")
    whole = low_unit in _COUNTED and suffix.strip() != "%" and low.is_integer() and high.is_integer()
    is_number = all(isinstance(given[key], float) for key in ("from", "to"))
    return Range(low, high, suffix, scale == "log", whole and not is_number)


def _bare(given: str) -> float | None:
    """The number of a text without a unit, as a share may be: "0.01"; None if it is none."""
    written = split(given)
    return float(written[0]) if written and not written[1] else None


def _bound(key: str, given: Any) -> tuple[float, str, str]:
    """The number that a bound means in its base unit, that unit, and what follows the number in its text."""
    if isinstance(given, str):
        found, written, bare = measure(given), split(given), _bare(given)
        if found is not None and written is not None:
            return (*found, f" {written[1]}")
        if bare is not None:
            return bare, "", ""
    elif isinstance(given, int | float) and not isinstance(given, bool) and is_finite(given):
        return float(given), "", ""
    raise RequestError(f'{key} = {shown(given)}: accepted: a number with its unit, such as "10 ms", or a number')


def option(key: str, text: str) -> tuple[str, str]:
    """The option that sets a value on the command line, and what follows it.

    >>> option("path.rate", "5 Mbps"), option("controller.main", "cubic")
    (('--set', 'path.rate=5 Mbps'), ('--controller', 'main=cubic'))
    """
    if key.startswith(CONTROLLER):
        return "--controller", f"{key.removeprefix(CONTROLLER)}={text}"
    return "--set", f"{key}={text}"


def _toml(value: Any) -> str:
    """A value in one line of TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
