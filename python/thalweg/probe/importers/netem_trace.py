"""Bandwidth models of netem-trace (stack-rs/netem-trace, src/model/bw.rs) as a delivery trace that a link replays.

Read are the models whose steps are in the file: `StaticBwConfig`, `TraceBwConfig` and `RepeatedBwPatternConfig` of
these, written with or without its feature `human`. The others draw from Rust's generator; netem-trace can
write what they draw in Mahimahi's format, which needs no import.

A line for each 1500 bytes: the first millisecond by whose end the model has offered all bytes up to them. The
last line closes the period: the end of the model, rounded up to a millisecond, with the rest of an opportunity
as a whole one. A delivery trace repeats, with `count` or without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError

_OPPORTUNITY = 1500 * 8 * 10**9
"""Bits of a line, times nanoseconds in a second."""
_MILLISECOND = 10**6
_MOST_STEPS, _MOST_LINES = 1_000_000, 3_000_000
"""A trace of a scenario has at most 32 MiB, and a line up to eleven bytes."""
_LONGEST_NS = 10**18
_HIGHEST_BPS = 10**15

_MODELS = ("StaticBwConfig", "TraceBwConfig", "RepeatedBwPatternConfig")
_TIMES = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "sec": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
}
_TIMES |= {"h": 3600 * 10**9, "hour": 3600 * 10**9}
_RATES = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9, "tbps": 10**12}
_WORD = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-zµ]+)")


def is_bandwidth(model: dict[str, Any]) -> bool:
    """Whether a JSON object is one of netem-trace's models, of bandwidth or of something else."""
    return len(model) == 1 and next(iter(model)).endswith("Config")


def delivery_trace(file: Path, model: dict[str, Any]) -> str:
    """The lines of the file. Raises RequestError.

    >>> steps = {"TraceBwConfig": [[2, [12, 24]], [1, [0]]]}
    >>> delivery_trace(Path("x.json"), steps).split()
    ['1', '2', '3', '3', '4', '4', '5']
    """
    lines: list[int] = []
    now = offered = 0
    for steps, (rate, duration) in enumerate(_steps(str(file), model, is_outermost=True), start=1):
        beyond = steps > _MOST_STEPS or now + duration > _LONGEST_NS
        if beyond or (offered + rate * duration) // _OPPORTUNITY > _MOST_LINES:
            raise RequestError(
                f"{file}: the model is too long for a delivery trace; accepted: up to {_MOST_STEPS} steps, "
                f"{_MOST_LINES} packets of 1500 bytes and {_LONGEST_NS // 10**9} seconds in a period"
            )
        while (len(lines) + 1) * _OPPORTUNITY <= offered + rate * duration:
            missing = (len(lines) + 1) * _OPPORTUNITY - offered
            lines.append(-(-(now * rate + missing) // (rate * _MILLISECOND)))
        now, offered = now + duration, offered + rate * duration
    end = -(-now // _MILLISECOND)
    if not lines:
        raise RequestError(
            f"{file}: the model never offers a packet of 1500 bytes; there is no delivery trace of it"
        )
    if lines[-1] < end:
        lines.append(end)
    return "".join(f"{line}\n" for line in lines)


def _steps(where: str, model: Any, *, is_outermost: bool = False, depth: int = 0) -> Iterator[tuple[int, int]]:
    """Rates in bits per second, and for how many nanoseconds each holds."""
    name, config = next(iter(model.items())) if isinstance(model, dict) and len(model) == 1 else ("", None)
    if name not in _MODELS or depth > 8:
        raise RequestError(
            f"{where}: {name or 'this'} is no bandwidth model with steps; "
            f"accepted: {', '.join(_MODELS)} of netem-trace"
        )
    where = f"{where}: {name}" if is_outermost else f"{where}.{name}"
    if name == "TraceBwConfig":
        for at, row in enumerate(_list(where, config)):
            if not isinstance(row, list) or len(row) != 2:
                raise RequestError(f"{where}[{at}]: expected [duration, [rate, rate, ...]]")
            duration = _quantity(f"{where}[{at}]: duration", row[0], _TIMES, 10**6, _LONGEST_NS)
            for rate in _list(f"{where}[{at}]", row[1]):
                yield _quantity(f"{where}[{at}]: rate", rate, _RATES, 10**6, _HIGHEST_BPS), duration
        return
    if not isinstance(config, dict):
        raise RequestError(f"{where}: expected an object")
    if name == "StaticBwConfig":
        duration = _quantity(f"{where}: duration", config.get("duration"), _TIMES, None, _LONGEST_NS)
        yield _quantity(f"{where}: bw", config.get("bw"), _RATES, None, _HIGHEST_BPS), duration
        return
    count, pattern = config.get("count", 0), _list(where, config.get("pattern"))
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MOST_STEPS:
        raise RequestError(f"{where}: count = {str(count)[:40]}: expected 0 to {_MOST_STEPS}")
    if count == 0 and not is_outermost:
        raise RequestError(
            f"{where}: count = 0, forever, inside another pattern; accepted: 0 for the outermost alone"
        )
    # A trace repeats by itself: the outermost pattern is its period.
    once = [
        step
        for at, part in enumerate(pattern)
        for step in _bounded(where, _steps(f"{where}[{at}]", part, depth=depth + 1))
    ]
    for _ in range(1 if is_outermost else count):
        yield from once
        if not once:
            return


def _bounded(where: str, steps: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for at, step in enumerate(steps):
        if at >= _MOST_STEPS:
            raise RequestError(f"{where}: more than {_MOST_STEPS} steps")
        yield step


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(f"{where}: expected a list")
    return value


def _quantity(where: str, value: Any, units: dict[str, int], number: int | None, most: int) -> int:
    """Of a text with units, of an object of parts, or of a number that counts `number` of the smallest unit."""
    parts = {"secs": 10**9, "nanos": 1} if units is _TIMES else {"gbps": 10**9, "bps": 1}
    found: Decimal | None = None
    if isinstance(value, str) and len(value) <= 200 and _WORD.sub("", value.lower()).strip() == "":
        words = _WORD.findall(value.lower())
        scales = [units.get(unit, units.get(unit.removesuffix("s"))) for _, unit in words]
        if words and None not in scales:
            found = sum(
                (Decimal(amount) * (scale or 0) for (amount, _), scale in zip(words, scales, strict=True)),
                Decimal(0),
            )
    elif isinstance(value, dict) and value and all(key in parts and _is_number(value[key]) for key in value):
        found = sum((Decimal(str(value[key])) * parts[key] for key in value), Decimal(0))
    elif number is not None and _is_number(value):
        found = Decimal(str(value)) * number
    if found is None or not found.is_finite() or not 0 <= found <= most:
        accepted = (
            '"1s 500ms" or {"secs": 1, "nanos": 0}'
            if units is _TIMES
            else '"12Mbps" or {"gbps": 0, "bps": 12000000}'
        )
        also = "" if number is None else ", or a number of " + ("milliseconds" if units is _TIMES else "Mbps")
        raise RequestError(f"{where} = {str(value)[:40]}: expected {accepted}{also}, at most {most}")
    return round(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
