"""By how much a metric may become worse before it counts: the table `[gate]` of a suite, or of a file.

A threshold is a share of the median of the baseline, `"1 %"`, or a share and a least amount in the unit of the
metric, `["5 %", "1 ms"]`, of which the larger one counts: 5 % of a queue of 50 us are not a regression. `"off"`
leaves a metric out. docs/how-to/gate.md has the reasons of the defaults.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import bits_per_second, percent, seconds, share, text
from thalweg.base.toml import place, shown
from thalweg.judging.measures import MEASURES, Measure

OFF = "off"
_ACCEPTED = '"5 %", ["5 %", "1 ms"], or "off"'


@dataclass(frozen=True)
class Threshold:
    """The threshold of one metric."""

    share: float
    """A share of the baseline's median."""
    least: float = 0.0
    """In the unit of the metric; the threshold is no smaller."""

    def words(self, unit: str) -> str:
        """As people read it.

        >>> Threshold(0.05, 0.001).words("s"), Threshold(0.01).words("bps")
        ('5.0 % or 1 ms', '1.0 %')
        """
        return percent(self.share) + (f" or {text(self.least, unit)}" if self.least else "")


Thresholds = Mapping[str, Threshold]
"""By the names of metrics, those that a gate judges."""
DEFAULTS: Thresholds = {
    "completion": Threshold(0.01),
    "closed": Threshold(0.01),
    "rate": Threshold(0.01),
    "loss": Threshold(0.1, 0.001),
    "queue-delay": Threshold(0.05, 0.001),
    "frame-delay": Threshold(0.05, 0.001),
    "max-frame-delay": Threshold(0.1, 0.005),
    "frozen": Threshold(0.1, 0.15),
}


def read_thresholds(table: Mapping[str, Any], where: str) -> dict[str, Threshold]:
    """The defaults with the changes of a table; `where` names the file. Raises RequestError.

    >>> read_thresholds({"rate": "off", "loss": ["20 %", "0.5 %"]}, "suite.toml")["loss"]
    Threshold(share=0.2, least=0.005)
    """
    found = dict(DEFAULTS)
    for name, value in table.items():
        measure = MEASURES.get(name)
        if measure is None:
            known = [one.name for one in MEASURES.values() if one.better]
            raise RequestError(f"{place(where, 'gate', name)}: unknown key gate.{name}{did_you_mean(name, known)}")
        if measure.better is None:
            at = place(where, "gate", name)
            raise RequestError(f"{at}: gate.{name}: neither end of it is better; accepted: other metrics")
        if value == OFF:
            found.pop(name, None)
        else:
            try:
                found[name] = _threshold(value, measure, f"gate.{name} = {shown(value)}")
            except RequestError as error:
                raise RequestError(f"{place(where, 'gate', name)}: {error}") from None
    if not found:
        raise RequestError(f'{where}: gate: every metric is "off"; accepted: at least one that is judged')
    return found


def _threshold(value: object, measure: Measure, where: str) -> Threshold:
    given = value if isinstance(value, list) else [value]
    parts = [part for part in given if isinstance(part, str)]
    if not 1 <= len(given) == len(parts) <= 2:
        raise RequestError(f"{where}: expected {_ACCEPTED}")
    part = _share(parts[0], where)
    return Threshold(part, _amount(parts[1], measure.unit, where) if len(parts) == 2 else 0.0)


def _share(words: str, where: str) -> float:
    part = share(words)
    if part is None or not 0 <= part <= 10:
        raise RequestError(f"{where}: expected a share of 0 % to 1000 %, as in {_ACCEPTED}")
    return part


def _amount(words: str, unit: str, where: str) -> float:
    amount = {"s": seconds, "bps": bits_per_second}.get(unit)
    value = amount(words, where) if amount else _share(words, where)
    if not math.isfinite(value):
        raise RequestError(f"{where}: expected {_ACCEPTED}")
    return value
