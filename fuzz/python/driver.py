"""Gives each target its turns until the time is over, and stores a minimised case of each new failure."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import corpus
from minimise import minimise
from player import Found, Player

_TURN_S = 20.0


@dataclass
class Tally:
    """Statistics of a target."""

    cases: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0
    failures: dict[str, list[int]] = field(default_factory=dict)
    """By kind, the seeds of their cases."""


def run(targets: Sequence[str], seconds: float, seed: str, folder: Path) -> int:
    """Runs, reports, and returns the number of different failures. Minimising takes extra time."""
    tallies = {name: Tally() for name in targets}
    turn_s = min(_TURN_S, seconds / len(targets))
    left_s = seconds
    with ExitStack() as stack:
        players = {name: stack.enter_context(Player(name)) for name in targets}
        while left_s > 0:
            for name, tally in tallies.items():
                before = tally.took_s
                _take_turn(players[name], tally, min(turn_s, left_s), seed, folder)
                left_s -= tally.took_s - before
    for name, tally in tallies.items():
        _report(name, tally)
    return sum(len(tally.failures) for tally in tallies.values())


def seed_of(seed: str, target: str, number: int) -> int:
    """The seed of a case of a run, of 64 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed} {target} {number}".encode()).digest()[:8])


def _take_turn(player: Player, tally: Tally, span_s: float, seed: str, folder: Path) -> None:
    player.start()  # which is not part of the turn
    end = tally.took_s + span_s
    while tally.took_s < end:
        case_seed = seed_of(seed, player.target, tally.cases)
        tally.cases += 1
        begin = time.monotonic()
        found = None
        try:
            tally.ends[player.new(case_seed)] += 1
        except Found as failure:
            found = failure
        tally.took_s += time.monotonic() - begin
        if found:
            seeds = tally.failures.setdefault(found.kind, [])
            seeds.append(case_seed)
            if len(seeds) == 1:
                _show(player, case_seed, found, folder)


def _show(player: Player, seed: int, found: Found, folder: Path) -> None:
    """Keeps the smallest case that shows a failure, and says how to repeat it."""
    print(f"{player.target}: {found}")
    case = player.made(seed) if found.case is None else found.case
    small = minimise(player, case, found.kind)
    file = corpus.keep(folder, player.target, found.kind, small)
    print(f"  case {seed}, {len(small)} of {len(case)} steps left; repeat it with")
    print(f"  python fuzz/python replay {file}", flush=True)


def _report(name: str, tally: Tally) -> None:
    ends = ", ".join(f"{tally.ends[end]} {end}" for end in ("played", "stopped", "refused"))
    print(f"{name:20} {tally.cases:9} cases, {tally.cases / max(tally.took_s, 1e-3):8.1f}/s: {ends}")
    for kind, seeds in tally.failures.items():
        print(f"  {len(seeds)} x {kind}; case {seeds[0]}: python fuzz/python case {name} {seeds[0]}")
