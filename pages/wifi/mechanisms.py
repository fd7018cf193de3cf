"""How well `thalweg probe analyze` names mechanisms: series that its reference table has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from pages.made import row
from pages.wifi.second import KINDS, PACES
from thalweg.base.quantity import percent
from thalweg.judging.statistics.rates import rate_interval
from thalweg.probe.mechanism.families import FAMILIES, Pace, Parameters
from thalweg.probe.mechanism.naming import Mechanism, name_mechanism
from thalweg.probe.series import Floats, Series

HELD_OUT = 60
"""Series of each family."""
SECOND = 20
"""Series of each kind of the second generator, at each pace."""
_SEED = 20_000
_PACE = PACES[0]
_ABSTAINS = "none"
NAMES = [family.name for family in FAMILIES if family.is_named]


def _named(rtt: Floats, pace: Pace) -> Mechanism:
    sent = np.arange(len(rtt)) * pace.interval_s
    there = np.where(np.isnan(rtt), np.nan, sent + rtt / 2)
    ones = np.isfinite(rtt).astype(np.int64)
    return name_mechanism(Series("drawn", sent, there, there.copy(), sent + rtt, ones, ones * 0))


def held_out() -> dict[str, list[tuple[Parameters, Mechanism]]]:
    """Series of the first generator, with other seeds."""
    found: dict[str, list[tuple[Parameters, Mechanism]]] = {}
    for family in FAMILIES:
        found[family.name] = []
        for index in range(HELD_OUT):
            random = np.random.default_rng([_SEED, index, *family.name.encode()])
            parameters, rtt = family.draw(random, _PACE)
            found[family.name].append((parameters, _named(rtt, _PACE)))
    return found


def confusion(found: dict[str, list[tuple[Parameters, Mechanism]]]) -> Iterator[str]:
    """What was named, by what it was."""
    yield row("truth", "series", *NAMES, _ABSTAINS)
    yield row(":--", *["--:"] * (len(NAMES) + 2))
    for truth, answers in found.items():
        counts = Counter(answer.name or _ABSTAINS for _, answer in answers)
        yield row(truth, str(len(answers)), *(str(counts[name]) for name in (*NAMES, _ABSTAINS)))


def coverage(found: dict[str, list[tuple[Parameters, Mechanism]]]) -> Iterator[str]:
    """How often the interval of 90 % holds the parameter, where the mechanism was named rightly."""
    yield row("mechanism", "parameter", "series", "interval holds it", "95 % interval of that share")
    yield row(":--", ":--", "--:", "--:", "--:")
    for truth, answers in found.items():
        right = [(parameters, answer) for parameters, answer in answers if answer.name == truth]
        for name in right[0][1].parameters if right else ():
            held = sum(
                answer.parameters[name].low <= parameters[name] <= answer.parameters[name].high
                for parameters, answer in right
            )
            share = rate_interval(held, len(right))
            cells = (percent(share.value), f"{percent(share.low)} to {percent(share.high)}")
            yield row(truth, f"`{name}`", str(len(right)), *cells)


def second() -> Iterator[str]:
    """What was named of the second generator."""
    heads = [f"{head}, {pace.interval_s * 1e3:g} ms" for pace in PACES for head in ("right", "wrong", "abstains")]
    yield row("truth", "right answer", *heads, "named wrongly")
    yield row(":--", ":--", *["--:"] * len(heads), ":--")
    for kind in KINDS:
        cells, wrongly = [], Counter[str]()
        for pace in PACES:
            answers = [_named(kind.draw(_random(kind.name, index), pace), pace).name for index in range(SECOND)]
            right = sum(answer == kind.right for answer in answers)
            abstains = sum(answer is None for answer in answers)
            wrong = [answer for answer in answers if answer not in (kind.right, None)]
            wrongly.update(name for name in wrong if name)
            cells += [str(right), str(len(wrong)), str(abstains) if kind.right else "-"]
        names = ", ".join(f"{name} {count}" for name, count in wrongly.items()) or "-"
        yield row(kind.name, kind.right or "abstain", *cells, names)


def _random(name: str, index: int) -> np.random.Generator:
    return np.random.default_rng([_SEED, index, *name.encode()])
