"""How long a study takes is said before it starts, where that is more than a minute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.base.executor import Batch, Finished, Report, Take, unheard
from thalweg.cli import main
from thalweg.cli.study import command
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.catalogue import study_of
from thalweg.experiments.studies.runner.estimate import estimate_s

Capture = pytest.CaptureFixture[str]
TEXT = """title = "t"
[path]
rate = "10 Mbps"
rtt = "20 ms"
[[flow]]
name = "main"
controller = "{}"
download = "{} kB"
"""
QUICK = ["study", "stacks", "--scenario", "simple-20mbps", "-n", "5", "--jobs", "1"]


def scenario(kilobytes: int, controller: str = "reno") -> Scenario:
    return Scenario.from_toml(TEXT.format(controller, kilobytes), f"{kilobytes}")


@dataclass
class Counting:
    """An executor that notes which trials it plays: a kB takes it a second."""

    width: int = 1
    lanes: int = 1
    name: str = "one"
    played: list[str] = field(default_factory=list)

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        for batch in batches:
            assert len(batch.seeds) == 1
            for number, one in enumerate(batch.scenarios):
                self.played.append(one.name)
                outcomes: Any = SimpleNamespace(trials={"core_s": [float(one.name)]})
                take(Finished(batch, number, outcomes))

    def each(self, *_: Any) -> list[Any]:
        raise AssertionError


def estimated(scenarios: Sequence[Scenario], work: Sequence[float], executor: Any) -> float | None:
    return estimate_s(scenarios, work, 1, executor)


def test_a_few_trials_are_played_of_cells_all_over_the_study() -> None:
    scenarios = [scenario(100 + number) for number in range(60)]
    executor = Counting()
    assert estimated(scenarios, [10.0] * 60, executor)
    assert len(executor.played) == 16
    # Each is of another part of the study, and they do not all stand at the same place in turns of two or three.
    numbers = [int(name) - 100 for name in executor.played]
    assert numbers == sorted(set(numbers))
    for turns in (2, 3):
        assert {number % turns for number in numbers} == set(range(turns))


def test_the_estimate_weighs_cells_by_what_runs_for_them_and_by_what_plays_at_once() -> None:
    cells = [scenario(50), scenario(20)]
    assert estimated(cells, [100.0, 20.0], Counting()) == 100 * 50 + 20 * 20
    assert estimated(cells, [20.0, 100.0], Counting()) == 20 * 50 + 100 * 20
    assert estimated(cells, [20.0, 100.0], Counting(width=2)) == 1500
    assert estimated(cells, [20.0, 100.0], Counting(width=2, lanes=2)) == 1500


def test_few_trials_are_not_tried_before_they_run() -> None:
    executor = Counting()
    assert estimated([scenario(100)], [4.0], executor) is None
    assert executor.played == []


def test_cells_that_cannot_be_tried_say_nothing() -> None:
    """A controller that fails is told of where its cell runs."""

    @dataclass
    class Failing(Counting):
        def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
            list(batches)

    assert estimated([scenario(100)], [40.0], Failing()) is None


@pytest.mark.parametrize("long_s", [60.0, 0.0])
def test_a_long_study_says_how_long_it_takes_and_a_short_one_does_not(
    long_s: float, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(command, "LONG_S", long_s)
    assert main(QUICK) in (0, 2)
    said = capsys.readouterr()
    told = [line for line in said.err.splitlines() if line.startswith("about ")]
    assert ("15 trials of 3 cells, 1 at once" in "".join(told)) == (long_s == 0)
    assert "about" not in said.out


def test_a_hunt_counts_with_all_that_it_tries() -> None:
    study: Any = study_of("hunt")
    parameters = study.choose({"cases": ["bbr1-shallow"], "hunts": 2, "budget": 50})
    (cell,) = parameters.cells()
    assert study.work(parameters, cell, 20) >= 20 + 2 * 50
