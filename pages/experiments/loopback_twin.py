"""The six findings of the C4 blog over a loopback, on a path in virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from itertools import product
from statistics import median

import thalweg
from pages.experiments.experiment import HERE, Part, table
from pages.made import fill, made, row
from thalweg.experiments.studies.loopback import checks
from thalweg.experiments.studies.loopback.parameters import VARIANTS
from thalweg.experiments.studies.runner.result import Check

TRIALS, HOST_TRIALS = 8, 24
"""Trials of a variant at a point; gains of a few percent need the larger number."""
RIVALS = "rivals"
"""Whose CUBIC and BBR C4 is compared with: ours if it does not say."""
BASE = {"path.rate": "8 Gbps", "path.rtt": "20 us", "noise.wakeup": "20 us", "path.buffer": "200 kB"}
BUFFERS = ("50 kB", "100 kB", "200 kB", "400 kB", "1 MB")
WAKEUPS = ("0 us", "5 us", "20 us", "50 us", "100 us")
GRID = [{**BASE, "path.buffer": b, "noise.wakeup": w} for b, w in product(BUFFERS, WAKEUPS)]
OTHERS = [
    *({**BASE, "path.rate": rate} for rate in ("1 Gbps", "2 Gbps", "4 Gbps", "16 Gbps")),
    *({**BASE, "path.rtt": rtt} for rtt in ("5 us", "10 us", "50 us", "100 us", "500 us")),
    {**BASE, "transport.rules": "rfc"},
    {**BASE, "transport.pacing": "false"},
    {**BASE, "flow.main.download": "30 MB"},
]
BLOG = {**BASE, "path.rate": "2.5 Gbps", "noise.wakeup": "150 us", "path.buffer": "50 kB", RIVALS: "picoquic"}
"""The blog's rivals were picoquic's, on a machine that wakes late and a small buffer of the socket."""
HOSTS = [
    BLOG,
    *({**BLOG, "path.rate": rate} for rate in ("3 Gbps", "8 Gbps")),
    {**BLOG, "noise.wakeup": "20 us"},
    {**BLOG, "path.buffer": "45 kB"},
    {key: value for key, value in BLOG.items() if key != RIVALS},
    {**BASE, RIVALS: "picoquic"},
    {**BASE, "path.buffer": "50 kB", "noise.wakeup": "100 us"},
]
"""Who competes, and what hosts do; HOST_TRIALS of each."""
KEYS = {
    "path.rate": "rate",
    "path.rtt": "RTT",
    "noise.wakeup": "wake-ups late by up to",
    "path.buffer": "buffer",
}
EXTRA = {
    "transport.rules": "rules of the RFCs",
    "transport.pacing": "no pacing but by the controller",
    "flow.main.download": "{}",
    "flow.*.host": "host {}",
    RIVALS: "CUBIC and BBR of {}",
}
MARKS = {"holds": "yes", "fails": "no", "undecided": "open"}

Point = tuple[tuple[str, str], ...]


@cache
def measure(point: Point, trials: int = TRIALS) -> tuple[Mapping[str, list[float]], Mapping[str, list[float]]]:
    """Goodput in bits per second and share of lost packets of each trial, by variant."""
    goodputs, losses = {}, {}
    overrides = dict(point)
    rivals = overrides.pop(RIVALS, None)
    for name, controller in VARIANTS.items():
        played = f"{controller}:variant={rivals}" if rivals and name in ("cubic", "bbr") else controller
        flows = (
            thalweg.Scenario.load(
                str(HERE / "loopback-twin.toml"), overrides=overrides, controllers={"main": played}
            )
            .trials(trials)
            .flows
        )
        span = flows["completion_s"].fill_null(20.0).fill_nan(20.0) - flows["start_s"]
        goodputs[name] = (8 * flows["bytes_delivered"] / span).to_list()
        losses[name] = (flows["packets_lost"] / flows["packets_sent"]).to_list()
    return goodputs, losses


def judged(point: Mapping[str, str], trials: int = TRIALS) -> list[Check]:
    """The six findings at a point."""
    return checks.checks(*measure(tuple(point.items()), trials))


def line(point: Mapping[str, str], trials: int = TRIALS) -> str:
    """A point, the verdicts on the six findings, and how many hold."""
    found = judged(point, trials)
    where = [point[key] for key in KEYS]
    verdicts = [MARKS[check.answer] for check in found]
    return row(*where, _otherwise(point), *verdicts, str(verdicts.count("yes")))


def goodputs(point: Mapping[str, str]) -> str:
    """The median goodput of each variant at a point, in Gbps."""
    found, _ = measure(tuple(point.items()), HOST_TRIALS)
    return row(
        *(point[key] for key in KEYS),
        _otherwise(point),
        *(f"{median(found[name]) / 1e9:.2f}" for name in VARIANTS),
    )


def _otherwise(point: Mapping[str, str]) -> str:
    return ", ".join(EXTRA[key].format(value) for key, value in point.items() if key in EXTRA) or "-"


def variant(name: str) -> str:
    """What a variant reaches at the base."""
    goodputs, losses = measure(tuple(BASE.items()))
    middle = sorted(goodputs[name])[TRIALS // 2]
    rivals = (sorted(goodputs[other])[TRIALS // 2] for other in ("cubic", "bbr"))
    ratios = (f"{100 * middle / rival:.1f} %" for rival in rivals)
    lost = 1e6 * sorted(losses[name])[TRIALS // 2]
    return row(name, VARIANTS[name], f"{middle / 1e9:.2f} Gbps", *ratios, f"{lost:.0f}")


HEAD = (
    *KEYS.values(),
    "otherwise",
    "before the fix far below",
    "the floor helps",
    "3/64 helps more",
    "floor above BBR",
    "3/64 level with CUBIC",
    "1/16 loses more",
    "hold",
)


def name_of(point: Mapping[str, str]) -> str:
    """A point in a line of `--check`."""
    return " ".join(value for key, value in point.items() if BASE.get(key) != value) or "the base"


def parts() -> list[Part]:
    """All lines."""
    lines: list[Part] = [(name_of(point), partial(line, point)) for point in [*GRID, *OTHERS]]
    for point in HOSTS:
        lines.append((name_of(point), partial(line, point, HOST_TRIALS)))
        lines.append((f"goodputs, {name_of(point)}", partial(goodputs, point)))
    return lines


def make() -> None:
    """Writes the page."""
    page = HERE / "loopback-twin.md"
    fill(page, "hosts", table(HEAD, 11, [line(point, HOST_TRIALS) for point in HOSTS]))
    fill(page, "goodputs", table((*KEYS.values(), "otherwise", *VARIANTS), 5, [goodputs(p) for p in HOSTS]))
    blog = [row(check.name, check.answer, check.measured) for check in judged(BLOG, HOST_TRIALS)]
    fill(page, "blog", table(("finding of the blog", "answer", "measured"), 3, blog))
    head = ("variant", "controller", "goodput", "of CUBIC", "of BBR", "lost of a million")
    fill(page, "base", table(head, 2, [variant(name) for name in VARIANTS]))
    found = [row(check.name, check.answer, check.measured) for check in judged(BASE)]
    fill(page, "checks", table(("finding of the blog", "answer", "measured"), 3, found))
    fill(page, "grid", table(HEAD, 11, [line(point) for point in GRID]))
    fill(page, "others", table(HEAD, 11, [line(point) for point in OTHERS]))
    every = [judged(point) for point in [*GRID, *OTHERS]]
    names = [check.name for check in every[0]]
    counts = [
        row(name, *(str(sum(found[i].answer == answer for found in every)) for answer in MARKS))
        for i, name in enumerate(names)
    ]
    fill(page, "counts", table(("finding", *MARKS), 1, counts) + f"\n\n{made('loopback-twin')}")
