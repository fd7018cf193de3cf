"""What `thalweg tails` says of trials whose tail is known: counted, or by the binomial distribution."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from textwrap import fill as fill_lines

import numpy as np

from pages.experiments.experiment import Part, table
from pages.made import fill, made, row
from pages.tails import blocks, coverage
from pages.tails.counted import COUNTED, HERE, PAGE, known, shown
from thalweg.engine.scenario import Scenario
from thalweg.experiments.tails.event import Event, read_event
from thalweg.experiments.tails.tails import Tails, TailsResult, judge
from thalweg.judging.statistics.probabilities import binomial_above
from thalweg.trials.threads import Threads

TO = 1e-6
FRAMES, LOSS, ABOVE = 100, 0.01, 8
"""What audio.toml has: 50 frames a second for 2 s, one packet each, of which 1 % are lost."""
SEEDS = (1, 2, 3)
MANY = 3000
"""Particles with which the error is small."""
_FEW = 100
"""Particles of a line that is cheap to measure again."""


def asked(name: str, event: Event, particles: int = 1000, seed: int = 1) -> tuple[TailsResult, float]:
    """What the command says, and the seconds of processor time for trials and all around them."""
    scenario = Scenario.load(str(HERE / f"{name}.toml"))
    begin = time.process_time()
    found = Tails(scenario.toml, name, event, TO, particles, seed=seed).run(Threads(1))
    return found, time.process_time() - begin


def against_counts() -> Iterator[str]:
    """The events that were counted: the rarest is asked for, and the runs say of the others what they passed."""
    for one in COUNTED:
        events = one.events()
        found, core_s = asked(one.name, events[-1])
        for event, bound in zip(events, one.bounds, strict=True):
            counted, (_, said) = known(one.name, bound), judge(found.runs, event.threshold)
            ratio = f"{said.value / counted.value:.2f}"
            cost = (f"{found.asked.played}", f"{core_s:.0f}") if event is events[-1] else ("", "")
            yield row(event.sentence, shown(counted), shown(said), ratio, *cost)


def audio_event() -> Event:
    """More frames lost than `ABOVE`."""
    return read_event(Scenario.load(str(HERE / "audio.toml")), "undelivered", None, "audio", str(ABOVE), None)


def audio(particles: int, seed: int) -> str:
    """A line of the event whose probability is binomial."""
    return _audio(particles, seed)[0]


def _audio(particles: int, seed: int) -> tuple[str, float, float]:
    found, core_s = asked("audio", audio_event(), particles, seed)
    exact = binomial_above(ABOVE, FRAMES, LOSS)
    said = shown(found.probability) if found.how != "bounded" else f"below {found.probability.high:.2e}"
    ratio = found.probability.value / exact
    cells = (f"{particles}", f"{seed}", said, f"{ratio:.2f}", f"{found.asked.played}")
    return row(*cells), ratio, core_s


def against_binomial() -> str:
    """Its table, and what it comes to."""
    measured = [_audio(MANY, seed) for seed in SEEDS]
    fewer = [audio(particles, seed) for particles in (1000, _FEW) for seed in SEEDS]
    head = ("particles", "seed of the runs", "estimate (interval of 95 %)", "estimate / known", "trials")
    lines = table(head, 0, [*(line for line, _, _ in measured), *fewer])
    error = np.sqrt(np.mean([(ratio - 1) ** 2 for _, ratio, _ in measured]))
    longest = max(core_s for _, _, core_s in measured)
    said = (
        f"Known: {binomial_above(ABOVE, FRAMES, LOSS):.3e}. With {MANY} particles the error is "
        f"{100 * error:.0f} % (root mean square of {len(SEEDS)} seeds; the aim is 30 %), and a line takes up "
        f"to {longest:.0f} s of processor time (the aim is 600 s)."
    )
    return f"{lines}\n\n{fill_lines(said, 110)}"


def parts() -> list[Part]:
    """Lines that are cheap to measure again."""
    return [(f"audio, seed {seed}", partial(audio, _FEW, seed)) for seed in SEEDS]


def make() -> None:
    """Writes all tables but the tables of counts and of coverage."""
    blocks.make()
    head = ("event", "counted", "estimate (interval of 95 %)", "estimate / counted", "trials", "processor time, s")
    fill(PAGE, "estimates", f"{table(head, 1, list(against_counts()))}\n\n{made('tails')}")
    fill(PAGE, "binomial", against_binomial())


def make_coverage() -> None:
    """Writes the tables of coverage."""
    sums = [line for particles in coverage.PARTICLES for line in coverage.all_lines(particles)]
    few = [line for particles in coverage.PARTICLES for line in coverage.few_lines(particles)]
    fill(PAGE, "coverage", f"{table(coverage.HEAD, 0, sums)}\n\n{made('tails-coverage')}")
    fill(PAGE, "few", table(coverage.HEAD, 0, few))
