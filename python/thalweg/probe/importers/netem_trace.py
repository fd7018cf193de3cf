"""Bandwidth models of netem-trace (stack-rs/netem-trace 0.5, src/model/bw.rs) as steps, and as a delivery trace.

All of its configurations, with or without its feature `human`, with its defaults; a `TraceBwConfig` also as
older versions wrote it, a list without the key `pattern`. Those that draw (`NormalizedBwConfig`, and
`SawtoothBwConfig` with noise) draw what netem-trace draws for their seed (`netem_draws.py`), which is 42 where the
file has none.

A delivery trace repeats, with `count` or without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.probe.importers.delivery import LONGEST_NS, MOST_LINES, Step, delivery_lines
from thalweg.probe.importers.netem_draws import standard_normals

_MOST_STEPS = 1_000_000
_HIGHEST_BPS = 10**15
_MBPS = 10**6
_SECOND = 10**9
_DEFAULT_SEED = 42

_TIMES = {
    "nanos nsec ns": 1,
    "usec us µs": 10**3,
    "millis msec ms": 10**6,
    "seconds second secs sec s": _SECOND,
    "minutes minute mins min m": 60 * _SECOND,
    "hours hour hrs hr h": 3600 * _SECOND,
    "days day d": 86_400 * _SECOND,
    "weeks week wks wk w": 604_800 * _SECOND,
}
"""The units of its crate humantime, without months and years, which are beyond what a trace may last."""
_RATES = {
    f"{scale}bps {scale}bit/s {scale}b/s": factor
    for scale, factor in (("", 1), ("k", 10**3), ("m", 10**6), ("g", 10**9), ("t", 10**12))
}
"""The units of its crate human-bandwidth, in small letters."""
_WORD = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-zA-Zµ]+(?:/s)?)")


def is_bandwidth(model: dict[str, Any]) -> bool:
    """Whether a JSON object is one of netem-trace's models, of bandwidth or of something else."""
    return len(model) == 1 and next(iter(model)).endswith("Config")


def delivery_trace(file: Path, model: dict[str, Any]) -> str:
    """The lines of the file. Raises RequestError.

    >>> steps = {"TraceBwConfig": {"pattern": [["2ms", ["12Mbps", "24Mbps"]], ["1ms", ["0bps"]]]}}
    >>> delivery_trace(Path("x.json"), steps).split()
    ['1', '2', '3', '3', '4', '5']
    """
    steps = list(islice(bandwidth_steps(str(file), model), _MOST_STEPS + 1))
    if not any(step.bps * step.nanoseconds for step in steps):
        raise RequestError(f"{file}: the model never offers a byte; there is no delivery trace of it")
    lines = None
    if len(steps) <= _MOST_STEPS and sum(step.nanoseconds for step in steps) <= LONGEST_NS:
        lines = delivery_lines(steps)
    if lines is None:
        raise RequestError(
            f"{file}: the model is too long for a delivery trace; accepted: up to {_MOST_STEPS} steps, "
            f"{MOST_LINES} packets of 1500 bytes and {LONGEST_NS // _SECOND} seconds in a period"
        )
    return "".join(f"{line}\n" for line in lines)


def bandwidth_steps(where: str, model: dict[str, Any]) -> Iterator[Step]:
    """The steps of a model, once. Raises RequestError, which says where."""
    return _steps(where, model, is_outermost=True)


class _Config:
    """The keys of a configuration: a value that is missing, or null, is the default."""

    def __init__(self, where: str, config: Any, keys: str) -> None:
        self.where = where
        if not isinstance(config, dict):
            raise RequestError(f"{where}: expected an object with any of {', '.join(keys.split())}")
        for key in config:
            if key not in keys.split():
                raise RequestError(f"{where}.{key[:40]}: unknown key; accepted: {', '.join(keys.split())}")
        self._values = {key: value for key, value in config.items() if value is not None}

    def bps(self, key: str, default: int | None) -> int | None:
        """A rate."""
        value = self._values.get(key)
        return default if value is None else _quantity(f"{self.where}: {key}", value, _RATES, None, _HIGHEST_BPS)

    def nanoseconds(self, key: str, default: int) -> int:
        """A time."""
        value = self._values.get(key)
        return default if value is None else _quantity(f"{self.where}: {key}", value, _TIMES, None, LONGEST_NS)

    def number(self, key: str, default: float) -> float:
        """A number."""
        value = self._values.get(key, default)
        if not _is_number(value) or not 0 <= value <= 1:
            raise RequestError(f"{self.where}: {key} = {str(value)[:40]}: expected a number from 0 to 1")
        return float(value)

    def whole(self, key: str, default: int, most: int) -> int:
        """A whole number."""
        value = self._values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise RequestError(f"{self.where}: {key} = {str(value)[:40]}: expected 0 to {most}")
        return value

    def rows(self, key: str) -> list[Any]:
        """A list."""
        return _list(f"{self.where}.{key}", self._values.get(key, []))


def _static(where: str, config: Any) -> Iterator[Step]:
    keys = _Config(where, config, "bw duration")
    yield Step(keys.bps("bw", 12 * _MBPS) or 0, keys.nanoseconds("duration", _SECOND))


def _trace(where: str, config: Any) -> Iterator[Step]:
    rows = config if isinstance(config, list) else _Config(where, config, "pattern").rows("pattern")
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2:
            raise RequestError(f"{where}[{at}]: expected [duration, [rate, rate, ...]]")
        duration = _quantity(f"{where}[{at}]: duration", row[0], _TIMES, 10**6, LONGEST_NS)
        for rate in _list(f"{where}[{at}]", row[1]):
            yield Step(_quantity(f"{where}[{at}]: rate", rate, _RATES, _MBPS, _HIGHEST_BPS), duration)


def _normalized(where: str, config: Any) -> Iterator[Step]:
    keys = _Config(where, config, "mean std_dev upper_bound lower_bound duration step seed")
    mean, deviation = keys.bps("mean", 12 * _MBPS) or 0, keys.bps("std_dev", 0) or 0
    upper, lower = keys.bps("upper_bound", None), keys.bps("lower_bound", 0) or 0
    draws = _draws(keys, deviation)
    for duration in _sampled(keys):
        rate = max(int(mean + next(draws)), lower)
        yield Step(rate if upper is None else min(rate, upper), duration)


def _sawtooth(where: str, config: Any) -> Iterator[Step]:
    keys = _Config(
        where,
        config,
        "bottom top interval duty_ratio duration step seed std_dev upper_noise_bound lower_noise_bound",
    )
    bottom, top = keys.bps("bottom", 0) or 0, keys.bps("top", 12 * _MBPS) or 0
    if bottom > top:
        raise RequestError(f"{where}: bottom {bottom} bps is above top {top} bps; accepted: bottom <= top")
    interval, step = keys.nanoseconds("interval", _SECOND), keys.nanoseconds("step", 10**6)
    if not step <= interval:
        raise RequestError(f"{where}: step {step} ns is above interval {interval} ns; accepted: step <= interval")
    turn = interval * keys.number("duty_ratio", 0.5)
    upper, lower = keys.bps("upper_noise_bound", None), keys.bps("lower_noise_bound", None)
    draws = _draws(keys, keys.bps("std_dev", 0) or 0)
    now = 0
    for duration in _sampled(keys):
        rises = now < turn
        way = round((top - bottom) * (now / turn if rises else (now - turn) / (interval - turn)))
        noise = next(draws)
        noise = noise if upper is None else min(noise, upper)
        noise = noise if lower is None else max(noise, -lower)
        yield Step(max(int((bottom + way if rises else top - way) + noise), 0), duration)
        now = (now + duration) % interval


def _draws(keys: _Config, deviation: int) -> Iterator[float]:
    """Normal numbers of a deviation."""
    seed = keys.whole("seed", _DEFAULT_SEED, 2**64 - 1)
    draws = standard_normals(seed)
    while True:
        yield deviation * next(draws) if deviation else 0.0


def _sampled(keys: _Config) -> Iterator[int]:
    """The lengths of the steps of a model that is sampled."""
    left, step = keys.nanoseconds("duration", _SECOND), keys.nanoseconds("step", 10**6)
    if step == 0:
        raise RequestError(f"{keys.where}: step = 0: expected a time above 0")
    if left > step * _MOST_STEPS:
        raise RequestError(f"{keys.where}: more than {_MOST_STEPS} steps")
    while left > 0:
        yield min(step, left)
        left -= step


_MODELS: dict[str, Callable[[str, Any], Iterator[Step]]] = {
    "StaticBwConfig": _static,
    "TraceBwConfig": _trace,
    "NormalizedBwConfig": _normalized,
    "SawtoothBwConfig": _sawtooth,
}
_REPEATED = "RepeatedBwPatternConfig"


def _steps(where: str, model: Any, *, is_outermost: bool = False, depth: int = 0) -> Iterator[Step]:
    name, config = next(iter(model.items())) if isinstance(model, dict) and len(model) == 1 else ("", None)
    if depth > 8 or name not in (*_MODELS, _REPEATED):
        raise RequestError(
            f"{where}: {name[:60] or 'this'} is not a bandwidth model, or is too deep; "
            f"accepted: {', '.join((*_MODELS, _REPEATED))} of netem-trace"
        )
    where = f"{where}: {name}" if is_outermost else f"{where}.{name}"
    if name != _REPEATED:
        yield from _MODELS[name](where, config)
        return
    keys = _Config(where, config, "pattern count")
    count = keys.whole("count", 0, _MOST_STEPS)
    if count == 0 and not is_outermost:
        raise RequestError(
            f"{where}: count = 0, forever, inside another pattern; accepted: 0 only for the outermost"
        )
    # A trace repeats by itself: the outermost pattern is its period.
    once = [
        step
        for at, part in enumerate(keys.rows("pattern"))
        for step in _bounded(where, _steps(f"{where}[{at}]", part, depth=depth + 1))
    ]
    for _ in range(1 if is_outermost else count):
        yield from once
        if not once:
            return


def _bounded(where: str, steps: Iterator[Step]) -> Iterator[Step]:
    for at, step in enumerate(steps):
        if at >= _MOST_STEPS:
            raise RequestError(f"{where}: more than {_MOST_STEPS} steps")
        yield step


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(f"{where}: expected a list")
    return value


def _quantity(where: str, value: Any, units: dict[str, int], number: int | None, most: int) -> int:
    """A quantity from a text with units, an object of parts, or a number that counts the smallest unit."""
    parts = {"secs": _SECOND, "nanos": 1} if units is _TIMES else {"gbps": 10**9, "bps": 1}
    found: Decimal | None = None
    if isinstance(value, str) and len(value) <= 200 and _WORD.sub("", value).strip() == "":
        words = _WORD.findall(value)
        scales = [_scale(unit if units is _TIMES else unit.lower(), units) for _, unit in words]
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


def _scale(unit: str, units: dict[str, int]) -> int | None:
    return next((scale for words, scale in units.items() if unit in words.split()), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
