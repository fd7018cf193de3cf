"""How numbers with units are written for people, and read: `4.87 s`, `23.1 ms`, `20 Mbps`, `10 MB`.

Decimal prefixes, as in scenario files. A time that does not exist is infinite and reads `did not finish`; an
unknown number reads `-`. The page of the lab writes them alike (lab/src/words/quantity.ts): what
tests/lab/alike/quantities.json says holds for both.
"""

from __future__ import annotations

import math
import re

from thalweg.base.errors import RequestError

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_RATES = ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_SHARES = ((0.01, "%"),)
_SCALES = {"s": _SECONDS, "B": _BYTES, "bytes": _BYTES, "bps": _RATES, "share": _SHARES}


def text(value: float | None, unit: str = "", digits: int = 4) -> str:
    """A value in its base unit (`s`, `B` or `bytes`, `bps`, `share`, others as they are), with a fitting prefix.

    >>> text(4.871234, "s"), text(0.0231, "s"), text(2e7, "bps"), text(1e7, "B")
    ('4.871 s', '23.1 ms', '20 Mbps', '10 MB')
    >>> text(float("inf"), "s"), text(None, "s"), text(0.0, "s"), text(float("-inf"), "bps")
    ('did not finish', '-', '0 s', 'not measured')
    >>> text(0.0123, "share"), text(0.0, "share"), text(0.0, "bytes")
    ('1.23 %', '0 %', '0 B')
    >>> text(0.9996, "s", 3), text(-0.0009996, "s", 3), text(0.0123, "s", 1), text(0.105, "s", 2)
    ('1 s', '-1 ms', '10 ms', '100 ms')
    """
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "did not finish" if value > 0 and unit != "share" else "not measured"
    # Rounded first: 0.9996 s with three digits is 1 s, not 1000 ms.
    factor, name = scale(float(f"{abs(value):.{digits}g}"), unit)
    # Read back once: two digits of 105 are 100, not 1e+02.
    zero = next((base for one, base in _SCALES.get(unit, ()) if one == 1), name)
    return f"{float(f'{value / factor:.{digits}g}'):.6g} {name}".rstrip() if value else f"0 {zero}".rstrip()


def scale(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the name of the prefix that suit a value of this size.

    >>> scale(2.5e7, "bps")
    (1000000.0, 'Mbps')
    """
    steps = _SCALES.get(unit)
    if steps is None:
        return 1.0, unit
    for factor, name in steps:
        if value >= factor:
            return factor, name
    return steps[-1]


def roughly(seconds: float) -> str:
    """A time of which only the size matters.

    >>> roughly(75.4), roughly(460), roughly(26000)
    ('75 s', '7.7 min', '7.2 h')
    """
    for unit, longest, length in (("s", 120.0, 1.0), ("min", 7200.0, 60.0)):
        if seconds < longest:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds / 3600:.2g} h"


def percent(fraction: float) -> str:
    """A fraction as a percentage.

    >>> percent(0.02951)
    '3.0 %'
    """
    return f"{100 * fraction:.1f} %"


_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BITS_PER_SECOND = {
    f"{prefix}{unit}": factor
    for unit in ("bps", "bit/s")
    for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_LENGTHS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72}
_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)\s*([A-Za-zµ/]+|%|)\s*")


def split(words: str) -> tuple[str, str] | None:
    """The number and the unit of a text, as they are written; None if it is not one finite number.

    >>> split("20 Mbps"), split("1.5bdp"), split("-2e3"), split("fq-codel"), split("20 Mbps, 40 ms")
    (('20', 'Mbps'), ('1.5', 'bdp'), ('-2e3', ''), None, None)
    """
    match = _QUANTITY.fullmatch(words)
    return (match[1], match[2]) if match and math.isfinite(float(match[1])) else None


def plain(value: float) -> str:
    """A number without an exponent, which units do not have.

    >>> plain(20.0), plain(0.000012), plain(3)
    ('20', '0.000012', '3')
    """
    return f"{value:.12f}".rstrip("0").rstrip(".")


def between(low: float, high: float, share: float) -> float:
    """The number at a share of the way between two above 0, by orders of magnitude.

    >>> between(1.0, 100.0, 0.5)
    10.0
    """
    return float(low * (high / low) ** share)


def seconds(words: str, what: str) -> float:
    """The time that a text such as `20ms` or `1.5 s` means. Raises RequestError, which names `what`.

    >>> seconds("20ms", "--interval"), seconds("1.5 min", "--duration")
    (0.02, 90.0)
    """
    return _read(words, what, _TIMES, "a time such as 20ms or 75s")


def bits_per_second(words: str, what: str) -> float:
    """The rate that a text such as `12 Mbps` means. Raises RequestError, which names `what`.

    >>> bits_per_second("12 Mbps", "--rate")
    12000000.0
    """
    return _read(words, what, _BITS_PER_SECOND, "a rate such as 12Mbps")


def size(words: str, what: str) -> int:
    """The bytes that a text such as `100MB` or `1.5 GiB` means. Raises RequestError, which names `what`.

    >>> size("10 MB", "--download"), size("1.5KiB", "--upload")
    (10000000, 1536)
    """
    return round(_read(words, what, _SIZES, "a size such as 100MB"))


def share(words: str) -> float | None:
    """The part of a whole that a text such as `5 %` means; None if it is none.

    >>> share("5 %"), share("0.5%"), share("5")
    (0.05, 0.005, None)
    """
    number, unit = split(words) or ("", "")
    return float(number) / 100 if unit == "%" else None


def millimetres(words: str, what: str) -> float:
    """The length that a text such as `88mm` means. Raises RequestError, which names `what`.

    >>> millimetres("88mm", "--size"), millimetres("3.5 in", "--size")
    (88.0, 88.9)
    """
    length = _read(words, what, _LENGTHS, "a width such as 88mm")
    if not 20 <= length <= 1000:
        raise RequestError(f"{what} {words!r}: accepted: from 20mm to 1000mm")
    return round(length, 6)


_NAMED = {**dict.fromkeys(_TIMES, "s"), **dict.fromkeys(_BITS_PER_SECOND, "bps"), **dict.fromkeys(_SIZES, "bytes")}


def measure(words: str) -> tuple[float, str] | None:
    """The number that a text of a scenario means, and its base unit; None if it is not a number with a unit.

    Units that have no prefixes stay, in small letters; a share has no unit.

    >>> measure("20 Mbps"), measure("40ms"), measure("10 MB"), measure("0.5 %")
    ((20000000.0, 'bps'), (0.04, 's'), (10000000.0, 'bytes'), (0.005, ''))
    >>> measure("2 BDP"), measure("100 packets"), measure("fq-codel"), measure("cubic:beta=0.8")
    ((2.0, 'bdp'), (100.0, 'packets'), None, None)
    """
    found = split(words)
    if found is None or not found[1]:
        return None
    number, unit = float(found[0]), found[1]
    for units in (_TIMES, _BITS_PER_SECOND, _SIZES, {"%": 0.01}):
        if unit in units:
            # Twelve digits: 70 ms are 0.07 s, not 0.07000000000000001.
            return float(f"{number * units[unit]:.12g}"), _NAMED.get(unit, "")
    return number, unit.lower()


def _read(words: str, what: str, units: dict[str, float], example: str) -> float:
    number, unit = split(words) or ("", "")
    if unit not in units or number[0] in "-+":
        raise RequestError(f"{what} {words!r}: expected {example}; units are {', '.join(units)}")
    return float(number) * units[unit]
