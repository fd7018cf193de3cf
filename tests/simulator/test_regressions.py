"""The suite `regressions`: each scenario fails with its bug, and passes without, on seeds that set no bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.tables.regressions import BUGS, played
from thalweg.cli import main
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario

SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1001, 5001)))
"""The first seeds of three sets; the bounds follow from paths and documents, as each note says."""


def test_every_scenario_has_a_controller_with_its_bug() -> None:
    assert [entry.name for entry in Suite.find("regressions").entries] == list(BUGS)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", BUGS)
def test_a_scenario_passes_without_its_bug_and_fails_with_it(scenario: str, seed: int) -> None:
    without, with_it = BUGS[scenario]
    assert played(scenario, without, seed).verdict().answer == "holds"
    assert played(scenario, with_it, seed).verdict().answer == "fails"


@pytest.mark.parametrize("scenario", BUGS)
def test_a_note_names_the_bug_and_the_source_its_thread(scenario: str) -> None:
    loaded = Scenario.load(f"regressions/{scenario}")
    assert (loaded.source or "").startswith("https://github.com/")
    assert (loaded.note or "").startswith("The bug: ")


def test_the_scenario_of_a_mutant_is_that_of_its_thread() -> None:
    for scenario, controllers in BUGS.items():
        (mutant,) = [name for name in controllers if name.startswith("mutant:bug=")] or [""]
        if not mutant:
            continue
        thread, number = mutant.removeprefix("mutant:bug=").removesuffix("-mended").rsplit("-", 1)
        source = Scenario.load(f"regressions/{scenario}").source or ""
        assert source.endswith(f"/{number}"), scenario
        assert thread.replace("-", "_") in source.replace("-", "_"), scenario


def test_where_a_bug_does_not_matter_a_mutant_is_the_sound_controller() -> None:
    for bug, sound in (("noq-819", "bbr"), ("quiche-1598", "bbr"), ("quiche-2370", "cubic")):
        hashes = [
            Scenario.load("c4/simple-20mbps", controllers={"main": name}).run(seed=1).trace_hash
            for name in (sound, f"mutant:bug={bug}")
        ]
        assert hashes[0] == hashes[1], bug


MEDIANS_ALIKE = ("minimum-window", "unused-window")
"""Bugs of half of the trials, and of what nobody uses."""


@pytest.mark.soak
@pytest.mark.parametrize("scenario", BUGS)
def test_the_gate_finds_a_bug_that_the_median_trial_feels(scenario: str, tmp_path: Path) -> None:
    without, with_it = BUGS[scenario]
    gate = ["gate", "regressions", "--only", scenario, "--baseline", str(tmp_path / "b.json"), "-n", "20"]
    assert main([*gate, "-c", f"main={without}", "--accept"]) == 0
    assert main([*gate, "-c", f"main={with_it}"]) == (scenario not in MEDIANS_ALIKE)
