"""Quantities that a study reckons with before a scenario reads them: times and rates, as texts with a unit.

The units are those of scenario files, and scenarios check all other quantities themselves.
"""

from __future__ import annotations

import re

from thalweg.errors import RequestError

_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_RATES = {
    f"{prefix}{unit}": factor
    for unit in ("bps", "bit/s")
    for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
}


def seconds(text: str, option: str) -> float:
    """A time. Raises RequestError that names the option.

    >>> seconds("50 ms", "--rtt")
    0.05
    """
    return _read(text, option, _TIMES, 'a time such as "50 ms"')


def bits_per_second(text: str, option: str) -> float:
    """A rate. Raises RequestError that names the option.

    >>> bits_per_second("12 Mbps", "--rate")
    12000000.0
    """
    return _read(text, option, _RATES, 'a rate such as "12 Mbps"')


def _read(text: str, option: str, units: dict[str, float], example: str) -> float:
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ/]+)\s*", text)
    if found is None or found[2] not in units:
        raise RequestError(f"{option} {text!r}: accepted: {example}; units are {', '.join(units)}")
    return float(found[1]) * units[found[2]]
