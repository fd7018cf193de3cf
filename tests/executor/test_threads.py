"""Threads: what a batch says of its progress."""

from __future__ import annotations

import time
from typing import Any

import pytest

from short_download import SCENARIO
from thalweg import Controller, Scenario
from thalweg.base.executor import Batch
from thalweg.engine.outcome import Outcomes
from thalweg.trials.gathering import gather
from thalweg.trials.threads import Threads


class Slow(Controller):
    """Takes a tenth of a second for each trial, so that a batch tells of most of them."""

    def __init__(self, init: object) -> None:
        self.window = init.initial_window  # type: ignore[attr-defined]
        time.sleep(0.12)

    def on_ack(self, event: object, path: object) -> None:
        """Grows."""
        self.window += event.newly_acked  # type: ignore[attr-defined]


def test_scenarios_with_controllers_in_python_count_their_trials_one_after_the_other() -> None:
    scenarios = [Scenario.from_toml(SCENARIO, name, controllers={"main": Slow}) for name in ("a", "b")]
    told: list[int] = []
    Threads(1).play([Batch(scenarios, range(1, 6))], lambda _: None, told.append)
    assert told == sorted(told)
    # Of the second scenario too, which begins with the sixth of ten trials.
    assert any(5 < finished < 10 for finished in told)
    assert told[-1] == 10


def test_a_ctrl_c_while_a_part_is_read_hands_over_what_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = [Scenario.from_toml(SCENARIO, name) for name in ("a", "b")]
    read, kept = Outcomes.of, list[int]()

    def interrupted(native: Any, description: Any) -> Outcomes:
        if kept:
            raise KeyboardInterrupt
        return read(native, description)

    monkeypatch.setattr(Outcomes, "of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gather(Threads(1), scenarios, range(1, 3), lambda number, _: kept.append(number))
    assert kept == [0]
