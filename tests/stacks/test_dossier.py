"""A dossier of the stack of a library (RFC 9743): what it can play, and what is told of it."""

from __future__ import annotations

import pytest

from thalweg.experiments.dossier.numbers import measured
from thalweg.experiments.dossier.parameters import Parameters
from thalweg.experiments.dossier.settings.player import STACK
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.trials.machine import ThisMachine
from toys import Toy


def test_a_library_plays_all_settings_but_those_of_receivers_that_misbehave(toy: Toy) -> None:
    parameters = Parameters(controller="fixed", stack=str(toy()), full=True)
    assert parameters.candidate.grade == STACK
    left_out = {"beside-optimistic-acks", "beside-ack-division"}
    assert set(Parameters(controller="bbr", full=True).settings) - set(parameters.settings) == left_out
    for cell in parameters.cells():
        if cell.player == parameters.candidate:
            assert parameters.scenario(cell).flows


def test_a_library_that_waits_for_its_window_is_silent_without_feedback(toy: Toy) -> None:
    """The toy has no timer of losses: it sends its window, and then nothing to the end."""
    parameters = Parameters(controller="fixed", stack=str(toy()))
    setting = parameters.settings["feedback-100-30"]
    cell = next(
        cell for cell in parameters.cells() if (cell.setting, cell.player) == (setting.name, parameters.candidate)
    )
    found = measured(setting, CellTrials(parameters.scenario(cell), 1, 1, ThisMachine(1), lambda _: None))
    assert found["packets-per-rtt"][0] == 0
    # The last packets before the change are acknowledged up to half a round trip after it, and let others go.
    assert found["spacing"][0] == pytest.approx(30, abs=0.05)
