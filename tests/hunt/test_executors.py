"""Hunts on other executors: the same find, however the trials of a scenario are handed over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hunt.fragile import FRAGILE
from short_download import SCENARIO as SHORT
from thalweg import Find, Hunt, Scenario
from thalweg.base.executor import Batch, Failed, Finished, Report, Take, unheard
from thalweg.cli import main
from thalweg.engine.outcome import Trial
from thalweg.results.provenance import TIMES
from thalweg.trials.threads import Threads

T = TypeVar("T")

SCENARIO: dict[str, Any] = {
    "title": "Jitter",
    "time_limit": "5 s",
    "path": {"rate": "8 Mbps", "rtt": "20 ms", "jitter": {"model": "uniform", "max": "20 ms"}},
    "flow": [{"name": "main", "controller": "cubic", "download": "300 kB"}],
}


class Apart:
    """Hands over one trial at a time, the last seed first, as executors do after a trial that failed."""

    width = 1
    lanes = 1
    name = "apart"

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        for batch in batches:

            def put(result: Finished | Failed, batch: Batch = batch) -> None:
                assert isinstance(result, Finished)
                take(Finished(batch, result.number, result.outcomes))

            for seed in reversed(batch.seeds):
                Threads(1).play([Batch(batch.scenarios, [seed])], put)

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        return Threads(1).each(scenario, seeds, take, report)


def hunt(objective: str | dict[str, str]) -> Hunt:
    return Hunt(
        scenario=SCENARIO,
        objective=objective,
        trials=3,
        budget=6,
        axes={"path.rtt": {"from": "10 ms", "to": "100 ms"}},
    )


def told(find: Find) -> dict[str, Any]:
    return {name: value for name, value in find.document().items() if name not in TIMES}


@pytest.mark.soak
def test_trials_that_come_in_parts_all_count() -> None:
    for objective in ("slowdown", "capacity-starvation", {"kind": "regret", "reference": "c4"}):
        whole = hunt(objective).run(executor=Threads(1))
        assert told(hunt(objective).run(executor=Apart())) == told(whole)
        assert whole.is_worse, objective


def test_a_failing_trial_changes_no_other_scenario(tmp_path: Path) -> None:
    file = tmp_path / "fragile.py"
    file.write_text(FRAGILE, encoding="utf-8")
    plan = {
        "scenario": {**SCENARIO, "flow": [{**SCENARIO["flow"][0], "controller": str(file)}]},
        "objective": "slowdown",
        "trials": 3,
        "budget": 8,
        "axes": {"path.rtt": {"from": "10 ms", "to": "250 ms"}},
    }
    find = Hunt(**plan).run(executor=Threads(1))
    assert find.failures
    assert told(Hunt(**plan).run(executor=Threads(8))) == told(find)
    assert told(Hunt(**plan).run(2)) == told(find)


class Lanes(Apart):
    """Plays as many batches at once, and remembers how large they were."""

    lanes = 4

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.widest = 0

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        given = list(batches)
        self.widest = max(self.widest, len(given))
        self.sizes += [len(batch.scenarios) for batch in given]
        super().play(reversed(given), take, report)


def test_each_scenario_of_a_round_is_a_batch_where_several_are_played_at_once() -> None:
    lanes = Lanes()
    assert told(hunt("slowdown").run(executor=lanes)) == told(hunt("slowdown").run(executor=Threads(1)))
    assert set(lanes.sizes) == {1}
    assert lanes.widest >= 6, "the budget is one round"


@pytest.mark.soak
def test_the_commands_find_on_a_cluster_what_they_find_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, scenario = tmp_path / "plan.toml", tmp_path / "short.toml"
    scenario.write_text(SHORT, encoding="utf-8")
    plan.write_text(
        'scenario = "short.toml"\nobjective = "slowdown"\nbudget = 8\n[axes]\n'
        '"path.rtt" = { from = "10 ms", to = "100 ms" }\n',
        encoding="utf-8",
    )
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "short.toml").write_text(SHORT, encoding="utf-8")
    commands = (
        ["hunt", str(plan), "--out", str(tmp_path / "out"), "--no-figure"],
        ["tune", "cubic", "-O", "beta=0.5..0.9", "--suite", str(suite), "-n", "1", "--budget", "3"],
        ["run", str(scenario), "-n", "6", "-c", "main=c4"],
        ["run", str(scenario), "-n", "6", "-c", "main=c4", "-c", "main=cubic"],
    )
    found: list[list[Any]] = []
    for where in (["-j", "1"], ["--cluster", "local:2"]):
        found.append([])
        for words in commands:
            status = main([*words, *where, "--format", "json"])
            assert status in (0, 1, 5)
            found[-1].append((status, timeless(json.loads(capsys.readouterr().out))))
    assert found[0] == found[1]


def timeless(document: Any) -> Any:
    """A document without what a clock has measured."""
    if isinstance(document, dict):
        return {key: timeless(value) for key, value in document.items() if key not in ("host", *TIMES)}
    return [timeless(value) for value in document] if isinstance(document, list) else document
