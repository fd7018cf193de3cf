"""What every study shares, on a study of a few lines: it is parameters, a number for each cell, and a table."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from thalweg.base.errors import RequestError
from thalweg.base.executor import Batch, Report, T, Take, unheard
from thalweg.base.quantity import text
from thalweg.engine.audit import auditing
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.parameters import Option, changed, option, options
from thalweg.experiments.studies.runner.result import Check
from thalweg.experiments.studies.runner.study import Study
from thalweg.experiments.studies.runner.table import Column, legend
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.claims import HOLDS
from thalweg.trials.machine import ThisMachine


class Size(NamedTuple):
    """A cell."""

    size: str

    @property
    def name(self) -> str:
        return self.size.replace(" ", "")

    @property
    def title(self) -> str:
        return f"A download of {self.size}"


@dataclass(frozen=True)
class Parameters:
    sizes: tuple[str, ...] = option(("100 kB", "200 kB"), "--size", help="May be repeated.")
    rate: str = option("10 Mbps", help="Of the path.")
    shaped: bool = option(True, help="A parameter of two values.")
    trials: ClassVar[int] = 2

    def cells(self) -> Iterator[Size]:
        return map(Size, self.sizes)

    def scenario(self, cell: Size) -> Scenario:
        flow = {"name": "main", "controller": "reno", "download": cell.size}
        path = {"rate": self.rate, "rtt": "20 ms", "buffer": "1 bdp"}
        return Scenario.from_toml(scenario_text({"title": cell.title, "path": path, "flow": [flow]}), cell.name)


def mean_completion_s(_parameters: Parameters, _cell: Size, trials: CellTrials) -> float:
    return float(trials.outcomes().flows["completion_s"].to_numpy().mean())


STUDY: Study[Parameters, Size, float] = Study(
    name="downloads",
    title="Downloads",
    source="nowhere",
    presets={"default": Parameters()},
    trials=Option(("--trials", "-n"), "Trials."),
    columns=(
        Column("size", "size", kind=str),
        Column("completion_s", "time", "s", "mean of the trials"),
        Column("n", kind=int, meaning="trials"),
    ),
    legend="Of each size.",
    scenario=Parameters.scenario,
    measure=mean_completion_s,
    rows=lambda _, cells: [{"size": cell.size, "completion_s": mean, "n": 2} for cell, mean in cells.items()],
    checks=lambda _parameters, _cells: [Check("it was measured", "nowhere", HOLDS, "")],
    page=lambda _: Page(()),
)


@dataclass
class Elsewhere:
    """An executor that is not this machine: it says where trials run, and may be interrupted."""

    after: int | None = None
    asked: list[tuple[str, int, int]] = field(default_factory=list)
    width: int = 1
    lanes: int = 1
    name: str = "elsewhere"

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        (batch,) = batches
        if len(self.asked) == self.after:
            raise KeyboardInterrupt
        self.asked.append((batch.scenarios[0].title, len(batch.seeds), batch.seeds[0]))
        ThisMachine(jobs=1).play([batch], take, report)

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        return ThisMachine(jobs=1).each(scenario, seeds, take, report)


def test_a_study_consists_of_its_parameters_and_its_measurements(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    executor = Elsewhere()
    done = STUDY.run(Parameters(), seed=7, executor=executor, on_progress=lambda *step: heard.append(step))
    # Two cells of two trials, from seed 7 on, wherever they run.
    assert executor.asked == [("A download of 100 kB", 2, 7), ("A download of 200 kB", 2, 7)]
    short, long = (float(row["completion_s"] or 0) for row in done.result.rows)
    # A handshake and a request take 40 ms; 100 kB at 10 Mbps take 80 ms.
    assert 0.12 < short < long < 2
    assert done.result.checks[0].holds
    assert (heard[0], heard[-1][2]) == (("A download of 100 kB", 0, 4), 4)
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)
    root = done.save(tmp_path / "study")
    files = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    assert files == ["experiment.json", "report.html", "scenarios/100kB.toml", "scenarios/200kB.toml"]


def test_the_tables_and_the_legend_of_a_study_follow_from_its_columns(tmp_path: Path) -> None:
    done = STUDY.run(Parameters(sizes=("100 kB",)))
    (table,) = STUDY.tables(done.result)
    mean_s = float(done.result.rows[0]["completion_s"] or 0)
    # The column without a heading stands in the document alone.
    assert (table.headers, table.lines, table.words) == (["size", "time"], [["100 kB", text(mean_s, "s", 3)]], 1)
    assert STUDY.page_table(done.result) == table
    assert legend(STUDY.legend, STUDY.columns) == "Of each size. Time: mean of the trials."
    page = (done.save(tmp_path / "study") / "report.html").read_text(encoding="utf-8")
    assert "Of each size. Time: mean of the trials." in page


def test_an_interrupted_study_has_the_rows_that_are_finished_and_judges_nothing() -> None:
    done = STUDY.run(Parameters(), executor=Elsewhere(after=1))
    assert not done.complete
    assert [row["size"] for row in done.result.rows] == ["100 kB"]
    assert list(done.scenarios) == ["100kB"]
    assert done.result.checks == []
    assert STUDY.reached(done) == "1 rows"


def test_no_trials_and_a_value_that_no_scenario_takes_are_refused_before_any_trial() -> None:
    executor = Elsewhere()
    with pytest.raises(RequestError, match="0 trials: at least 1"):
        STUDY.run(Parameters(), trials=0, executor=executor)
    with pytest.raises(RequestError, match="rate"):
        STUDY.run(Parameters(rate="fast"), executor=executor)
    assert executor.asked == []


def test_parameters_are_options_and_what_is_not_given_keeps_its_value() -> None:
    forms = {name: (kind, form.flags) for name, kind, form in options(Parameters)}
    assert forms == {
        "sizes": (list[str] | None, ("--size",)),
        "rate": (str | None, ()),
        "shaped": (bool | None, ()),
    }
    given: dict[str, Any] = {"sizes": ["1 MB", "2 MB", "1 MB"], "rate": None, "shaped": None}
    assert changed(Parameters(), given) == Parameters(sizes=("1 MB", "2 MB"))
    assert not changed(Parameters(), {"shaped": False}).shaped


def test_a_scenario_text_reads_back_as_the_keys_that_it_was_made_of() -> None:
    keys = {
        "title": 'a "quoted" title',
        "pass": [],
        "path": {"rate": "1 Mbps", "queue": {"model": "codel", "ecn": False}},
        "path.change": [{"at": "1 s", "rate": "2 Mbps"}, {"at": "2 s", "rate": "3 Mbps"}],
        "flow": [{"name": "main", "route": ["a", "b"], "requests": {"count": 3}, "start": None}],
    }
    read = tomllib.loads(scenario_text(keys))
    assert read["path"].pop("change") == keys["path.change"]
    assert read == {
        "title": keys["title"],
        "pass": [],
        "path": keys["path"],
        "flow": [{"name": "main", "route": ["a", "b"], "requests": {"count": 3}}],
    }


@pytest.mark.parametrize("is_watched", [False, True])
def test_trials_with_their_traces_are_watched_if_others_are(
    is_watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    run = Scenario.run

    def noted(self: Scenario, seed: int, trace: bool, audit: bool) -> Trial:
        asked.append(audit)
        return run(self, seed, trace, audit)

    monkeypatch.setattr(Scenario, "run", noted)
    scenario = Parameters().scenario(Size("100 kB"))
    with auditing(is_watched):
        seeds = ThisMachine(jobs=2).each(
            scenario, range(5, 8), lambda trial: trial.outcomes.seed_of(0), lambda done: None
        )
    assert seeds == [5, 6, 7]
    assert asked == [is_watched] * 3
