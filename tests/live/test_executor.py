"""The executor of real time, with trials that take no time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.realtime import Recording, Timing, rounds


@dataclass
class Player:
    """Plays trials of which some are late."""

    name: str
    played: list[tuple[str, int]]
    is_late: Callable[[int], bool] = lambda _: False
    recordings: list[Recording | None] = field(default_factory=list)

    def run(self, seed: int, *, recording: Recording | None = None, **_: object) -> Any:
        self.played.append((self.name, seed))
        self.recordings.append(recording)
        return SimpleNamespace(report={"unfaithful": ["late"] if self.is_late(seed) else []})


def point(*players: Player) -> Any:
    return SimpleNamespace(contestants=players)


def test_contestants_play_each_seed_in_an_order_that_alternates() -> None:
    played: list[tuple[str, int]] = []
    done = list(rounds([point(Player("a", played), Player("b", played))], 3, 7, Timing()))
    assert played == [("a", 7), ("b", 7), ("b", 8), ("a", 8), ("a", 9), ("b", 9)]
    assert [(one.number, one.seed, one.counts, sorted(one.trials)) for one in done] == [
        (0, 7, True, [0, 1]),
        (1, 8, True, [0, 1]),
        (2, 9, True, [0, 1]),
    ]


def test_a_late_trial_plays_again_and_a_round_that_stays_late_ends_there_and_does_not_count() -> None:
    played: list[tuple[str, int]] = []
    heard: list[str] = []
    late = Player("a", played, lambda seed: seed == 1)
    done = list(rounds([point(late, Player("b", played))], 2, 1, Timing(retry=2, heard=heard.append)))
    # Three attempts at seed 1, after which b would have nothing to be compared with.
    assert played == [("a", 1)] * 3 + [("b", 2), ("a", 2)]
    assert [(one.counts, sorted(one.trials)) for one in done] == [(False, [0]), (True, [0, 1])]
    assert done[0].trials[0].report["attempts"] == 3
    assert heard == [f"a, seed 1, attempt {attempt}: late; once more" for attempt in (1, 2)]


def test_points_take_turns_until_each_is_decided() -> None:
    played: list[tuple[str, int]] = []
    points = [point(Player("a", played)), point(Player("b", played))]
    asked: list[int] = []

    def is_open(one: Any, left: int) -> bool:
        asked.append(left)
        return one is points[0] or left > 2

    list(rounds(points, 4, 1, Timing(), is_open))
    assert played == [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3), ("a", 4)]
    assert asked == [4, 4, 3, 3, 2, 2, 1, 1]


def test_the_last_round_is_recorded() -> None:
    player, kept = Player("a", []), Recording(trace=True)
    list(rounds([point(player)], 3, 1, Timing(), last=kept))
    assert player.recordings == [None, None, kept]


def test_what_was_played_before_an_interrupt_has_been_handed_over() -> None:
    def interrupted(seed: int) -> bool:
        if seed == 2:
            raise KeyboardInterrupt
        return False

    playing = rounds([point(Player("a", [], interrupted))], 3, 1, Timing())
    assert next(playing).seed == 1
    with pytest.raises(KeyboardInterrupt):
        next(playing)
