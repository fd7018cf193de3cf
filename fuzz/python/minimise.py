"""Minimises a case that still fails in the same way (delta debugging; Zeller and Hildebrandt 2002)."""

from __future__ import annotations

import time

from failure import Broken
from mutations import Step
from player import Player

_PATIENCE_S = 120.0
"""Time for one case."""


def minimise(player: Player, case: list[Step], kind: str) -> list[Step]:
    """The smallest case found that fails with `kind`: steps are left out, then bytes and characters of texts."""
    end = time.monotonic() + _PATIENCE_S

    def fails(smaller: list[Step]) -> bool:
        if time.monotonic() > end:
            return False
        try:
            player.again(smaller)
        except Broken as broken:
            return broken.kind == kind
        return False

    if not fails(case):
        return case
    run = max(len(case) // 2, 1)
    while run:
        at = 0
        while at < len(case):
            fewer = case[:at] + case[at + run :]
            if fewer and fails(fewer):
                case = fewer
            else:
                at += run
        run //= 2
    for at, step in enumerate(case):
        for word in range(2, len(step)):
            while isinstance(text := step[word], str) and len(text) > 1:
                half = next((shorter for shorter in _halves(text) if fails(_with(case, at, word, shorter))), None)
                if half is None:
                    break
                case = _with(case, at, word, half)
    return case


def _halves(text: str) -> tuple[str, str]:
    middle = len(text) // 4 * 2 or 1  # an even number of digits of bytes
    return text[:middle], text[middle:]


def _with(case: list[Step], at: int, word: int, value: str) -> list[Step]:
    step = [*case[at][:word], value, *case[at][word + 1 :]]
    return [*case[:at], step, *case[at + 1 :]]
