"""Why checks of `wifi-compete` hold or not: what docs/evidence/studies/wifi-compete.md has next to its study.

- **causes**: the study changed in one thing at a time, of the engine or of the peer, with its checks and mean
  ratios.
- **which**: for each check that does not hold, what the changes and the error of the publication say of it.
- **publication**: how far 199 of our own trials lie from all of them: the error of what is published.
- **exits**: how v1 first leaves Initial, next to the re-measurement.
- **shared**: one jitter sequence for all trials, as the paper had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from pages.causes.exits import EXITS, first_exit
from pages.made import DOCS, fill, made, row
from thalweg.base.quantity import percent, text
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import ratio_to_published_mean
from thalweg.judging.statistics.quantiles import median
from thalweg.judging.statistics.ratios import MEDIAN, OrderStatistic, ratio_to_published
from thalweg_c4_history.checks import P90, checks
from thalweg_c4_history.measure import ends
from thalweg_c4_history.parameters import BACKGROUND, Cell, scenario
from thalweg_c4_history.published import (
    ACCEPTANCE,
    ALONE,
    COMPETITORS,
    FIRST_EXITS,
    HEAD_START_S,
    REMEASURED_TRIALS,
    SAME,
)

PAGE = DOCS / "evidence" / "studies" / "wifi-compete.md"
TRIALS, CHANGED_TRIALS = 1000, 300
"""Trials of the study, and of each change of it."""
SEQUENCES, SHARED_TRIALS = range(1, 6), 100
VARIANTS = ("v1", "no-exit", "v2", "v3")

Side = Literal["", "engine", "peer"]
Ends = Mapping[tuple[str, str], Values]


@dataclass(frozen=True, eq=False)
class Change:
    """One difference from the study, of the engine or of the peer's controllers."""

    name: str
    side: Side = ""
    overrides: Mapping[str, str] = field(default_factory=dict)
    backgrounds: Mapping[str, str] = field(default_factory=dict)
    """Other controllers of the background, by competitor."""

    def concerns(self, check: Check) -> bool:
        """Whether it changes the trials of a check."""
        return bool(self.overrides) or any(
            f"against {competitor}" in check.name for competitor in self.backgrounds
        )


CHANGES = (
    Change("nothing"),
    Change("no fallback of the MTU", "engine", {"transport.mtu_fallback": "false"}),
    Change("the rules of the RFCs", "engine", {"transport.rules": '"rfc"'}),
    Change("an ACK for every second packet", "engine", {"transport.ack_frequency": "false"}),
    Change("ACKs wait up to 25 ms", "engine", {"transport.max_ack_delay": "25 ms"}),
    Change("each packet answered before the next is read", "engine", {"flow.*.host": '"ideal"'}),
    Change(
        "the rules of the RFCs, and all read before an answer",
        "engine",
        {"transport.rules": '"rfc"', "flow.*.host": '"picoquic"'},
    ),
    Change(
        "an ACK for every second packet, after up to 25 ms",
        "engine",
        {"transport.ack_frequency": "false", "transport.max_ack_delay": "25 ms"},
    ),
    Change("ACKs counted in flight and paced", "engine", {"transport.acks": "counted"}),
    Change("an initial window of 14 720 B", "engine", {"transport.initial_window": "14720 B"}),
    Change("senders wake up at once", "engine", {"noise.wakeup": "0 us"}),
    Change("background: BBR of the draft", "peer", backgrounds={"bbr": "bbr"}),
    Change("background: the peer's BBRv1", "peer", backgrounds={"bbr": "bbr1:variant=picoquic"}),
    Change("background: CUBIC of the RFC", "peer", backgrounds={"cubic": "cubic"}),
)


@lru_cache(maxsize=32)
def _ends(cell: Cell, overrides: tuple[tuple[str, str], ...], background: str | None, trials: int) -> Values:
    text_ = scenario(*cell).toml
    controllers = {BACKGROUND: background} if background else {}
    return ends(Scenario.from_toml(text_, cell.name, dict(overrides), controllers).trials(trials))


def measure(change: Change) -> Ends:
    """When the main flow closed in each trial of each cell that is published."""
    overrides = tuple(change.overrides.items())
    trials = CHANGED_TRIALS if change.side else TRIALS
    return {cell: _ends(Cell(*cell), overrides, change.backgrounds.get(cell[1]), trials) for cell in ACCEPTANCE}


def causes(measured: Mapping[Change, Ends]) -> Iterator[str]:
    """The table of changes: checks, and geometric means over the versions of the ratios to what is published."""
    what = [f"{where}: {name}" for where in COMPETITORS for name in ("median", "mean")]
    yield row("changed", "of", "hold", "open", "do not hold", *what)
    yield row(":--", ":--", *["--:"] * (3 + len(what)))
    for change, cells in measured.items():
        answers = Counter(check.answer for check in checks(cells))
        ratios = [_mean_ratio(cells, where, name) for where in COMPETITORS for name in ("median", "mean")]
        counts = (str(answers[answer]) for answer in (HOLDS, UNDECIDED, FAILS))
        yield row(change.name, change.side or "-", *counts, *(f"{ratio:.2f}" for ratio in ratios))


def _mean_ratio(cells: Ends, competitor: str, what: str) -> float:
    logs = []
    for variant in VARIANTS:
        times, published = cells[variant, competitor], ACCEPTANCE[variant, competitor]
        ratio = median(times) / published.median_s if what == "median" else times.mean() / published.mean_s
        logs.append(np.log(ratio))
    return float(np.exp(np.mean(logs)))


def which(measured: Mapping[Change, Ends]) -> Iterator[str]:
    """For each check that does not hold, which side differs, by these experiments."""
    judged = {change: {check.name: check for check in checks(cells)} for change, cells in measured.items()}
    (nothing, here), *others = judged.items()
    exact = {check.name: check for check in checks(measured[nothing], exact=True)}
    yield row("check", "here", "measured", "which differs", "evidence")
    yield row(*[":--"] * 5)
    for name, check in here.items():
        if check.answer != HOLDS:
            yield row(name, check.answer, check.measured, *_cause(check, exact[name], dict(others)))


def _cause(check: Check, exact: Check, others: Mapping[Change, Mapping[str, Check]]) -> tuple[str, str]:
    """Which side, and why: first what the error of the publication explains, then what a change mends."""
    others = {change: judged for change, judged in others.items() if change.concerns(check)}
    mended = [change for change, judged in others.items() if judged[check.name].answer == HOLDS]
    named = ", ".join(f"{change.name} ({judged_ratio(others[change][check.name])})" for change in mended)
    if check.answer == UNDECIDED and exact.answer != UNDECIDED:
        why = f"were the published number exact: {exact.answer}"
        return "publication", f"{why}; holds with: {named}" if named else why
    if mended:
        sides = dict.fromkeys(change.side for change in mended)
        return " or ".join(sides), f"holds with: {named}"
    if check.answer == UNDECIDED:
        return "publication or engine", "at the margin: with only our trials it is open too"
    moves = {change: judged_ratio(judged[check.name]) for change, judged in others.items()}
    low, high = min(moves.values(), key=float), max(moves.values(), key=float)
    return "engine, not found", f"no change mends it: the ratio stays between {low} and {high}"


def judged_ratio(check: Check) -> str:
    """The ratio in what a check measured.

    >>> judged_ratio(Check("", "", "holds", "7.8 s, published 9.3 s: 0.836 (0.78 to 0.9)"))
    '0.836'
    """
    return check.measured.rpartition(" (")[0].split()[-1]


def publication(cells: Ends) -> Iterator[str]:
    """The error of 199 trials: 95 % of such numbers lie so far from the truth, in our distributions."""
    yield row("version", "against", "median", "mean", "90th percentile")
    yield row(":--", ":--", "--:", "--:", "--:")
    for (variant, competitor), published in ACCEPTANCE.items():
        times = cells[variant, competitor]
        mean = ratio_to_published_mean(times, published.mean_s, published.sd_s, REMEASURED_TRIALS)
        of = (_own(MEDIAN, times), mean, _own(P90, times))
        yield row(variant, competitor, *(f"±{percent((each.high - each.low) / 2 / each.value)}" for each in of))


def _own(statistic: OrderStatistic, times: Values) -> Interval:
    return ratio_to_published(statistic, times, statistic.of(times), REMEASURED_TRIALS)


def exits() -> Iterator[str]:
    """First exits of v1 from Initial, as many trials as the re-measurement had."""
    again = [f"re-measured: {name}" for name in EXITS[:3]]
    yield row("v1", *EXITS, *again)
    yield row(":--", *["--:"] * (len(EXITS) + len(again)))
    for competitor in COMPETITORS:
        of = scenario("v1", competitor)
        found = Counter(first_exit(of.run(seed, trace=True)) for seed in range(1, REMEASURED_TRIALS + 1))
        shares = (found[name] / REMEASURED_TRIALS for name in EXITS)
        where = competitor if competitor == ALONE else f"against {competitor}"
        yield row(where, *(f"{share:.0%}".replace("%", " %") for share in (*shares, *FIRST_EXITS[competitor])))


def shared() -> Iterator[str]:
    """One jitter sequence for all trials."""
    pairs = ("v1 against v1, median", "slowdown", "v2 against v2", "v2 / v1")
    yield row("sequence", "v1 alone, median", "its sd", *pairs)
    yield row(*["--:"] * (3 + len(pairs)))
    for sequence in SEQUENCES:
        cells = {
            cell: ends(scenario(*cell, jitter_seed=sequence).trials(SHARED_TRIALS))
            for cell in (("v1", ALONE), ("v1", SAME), ("v2", SAME))
        }
        alone, old, new = (median(times) for times in cells.values())
        times = [text(value, "s", 3) for value in (alone, float(cells["v1", ALONE].std(ddof=1)), old)]
        slowdown = (old - HEAD_START_S) / alone
        yield row(str(sequence), *times, f"{slowdown:.2f}", text(new, "s", 3), f"{new / old:.2f}")


def make() -> None:
    """Measures all parts."""
    measured = {change: measure(change) for change in CHANGES}
    parts = {
        "causes": causes(measured),
        "which": which(measured),
        "publication": publication(measured[CHANGES[0]]),
        "exits": exits(),
        "shared": shared(),
    }
    for name, lines in parts.items():
        fill(PAGE, name, "\n".join([*lines, "", made("wifi-causes")]))
