"""Pages of docs name their commit, and are measured with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pages import made, statistics
from pages.__main__ import PAGES
from pages.c4_05 import october, states
from pages.c4_05.trials import DRAFT_05
from pages.causes import transient, wifi
from pages.peer import reasons
from pages.tables import live_tables
from thalweg import Scenario
from thalweg.experiments.studies.runner.result import Check
from thalweg.judging.statistics.interval import Interval


def test_a_line_of_the_statistics_is_the_same_whatever_was_drawn_before() -> None:
    first, *_, last = statistics.intervals()
    alone = last.cells(50)
    first.cells(50)
    assert last.cells(50) == alone
    names = [(line.what, line.drawn, line.n) for line in statistics.intervals()]
    assert len(set(names)) == len(names)  # two lines of one name would draw the same


def test_the_commit_of_a_page_is_the_one_that_it_was_begun_with(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = made.commit()
    monkeypatch.setattr(made, "_git", lambda *_: "a later commit")
    assert made.commit() == begun


@pytest.mark.parametrize(
    ("commits", "runs"),
    [
        (["`0123456789`"] * 2, 1),
        (["`0123456789`", "`9876543210`"], 2),
        (["`0123456789` and changes"] * 2, 2),
        (["unknown"] * 2, 2),
    ],
)
def test_a_study_for_a_page_is_of_its_commit(
    commits: list[str], runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Path] = []

    def save(folder: Path) -> None:
        ran.append(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "experiment.json").touch()

    monkeypatch.setattr(made, "ROOT", tmp_path)
    for commit in commits:
        monkeypatch.setattr(made, "_COMMIT", commit)
        folder = made.study("laws", lambda: cast(Any, SimpleNamespace(complete=True, save=save)))
        assert (folder / "experiment.json").exists()
    assert len(ran) == runs


@pytest.mark.parametrize("name", [name for name in PAGES if name not in ("model-and-stack", "study-figures")])
def test_every_made_page_names_the_commit_that_it_was_made_with(name: str) -> None:
    line = rf"Made by `make pages PAGES={name}` with commit `[0-9a-f]{{10}}`\."
    assert re.search(line, PAGES[name].file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", ["transient", "wifi-compete"])
def test_pages_with_figures_of_studies_name_a_commit(page: str) -> None:
    text = (made.DOCS / "evidence" / "studies" / f"{page}.md").read_text(encoding="utf-8")
    part = text.partition("<!-- made: figures -->")[2].partition("<!-- end -->")[0]
    assert re.search(r"commit `[0-9a-f]{10}`", part)


def test_a_cell_of_causes_has_the_ratios_without_their_intervals() -> None:
    better = "median areas 0.3 (reno, 40 packets) and 0.4 (bbr1, 40 packets): ratio 0.75 (0.7 to 0.8)"
    tails = "95th percentile over median: bbr 1.2, reno 1.1, cubic 1; "
    tail = f"{tails}bbr / reno 1.09 (1 to 1.2), bbr / cubic 1.2 (1.1 to 1.3)"
    assert transient._ratio(better) == "0.75"
    assert transient._ratio(tail) == "1.09 and 1.2"
    check = Check("", "", "holds", "7.8 s, published 9.3 s: 0.836 (0.78 to 0.9)")
    assert wifi.judged_ratio(check) == "0.836"


def test_real_time_is_kept_with_its_command_and_machine_and_a_cell_for_each_column() -> None:
    kept = tomllib.loads((made.ROOT / "pages" / "tables" / "live_tables.toml").read_text(encoding="utf-8"))
    assert {part.__name__ for _, _, part in live_tables.PARTS} == set(kept)
    for table in kept.values():
        assert table["command"].startswith("thalweg ")
        assert table["machine"]
        assert {len(cells) for cells in table["rows"].values()} == {len(table["head"])}


def test_every_value_that_is_not_inside_has_a_reason_on_the_page_of_fidelity() -> None:
    lines = PAGES["fidelity"].file.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    begin = next(number for number, cells in enumerate(rows) if cells[-1] == "reason")
    given = {cells[0] for cells in rows[begin + 2 :] if len(cells) == len(rows[begin])}
    open_ = {cells[0] for cells in rows[:begin] if re.match(r"undecided|\*\*", cells[-1])}
    open_ |= {cells[0] for cells in rows[:begin] if {"undecided", "**outside**"} & set(cells)}
    assert open_ == given
    titles = {cells[-1] for cells in rows[begin + 2 :] if len(cells) == len(rows[begin])}
    assert titles <= {line.removeprefix("### ") for line in lines if line.startswith("### ")}


def test_a_value_without_a_reason_and_a_reason_without_a_value_fail() -> None:
    plan = tomllib.loads((made.ROOT / "pages" / "fidelity.toml").read_text(encoding="utf-8"))
    why = reasons.reasons_of(plan)
    ratio = Interval(1.3, 1.2, 1.4, 100)
    values = [reasons.OpenValue(spec, "x", ratio, 10, "outside") for reason in why for spec in reason.specs]
    assert list(reasons.complaints(why, values)) == []
    first = values[0].spec
    assert list(reasons.complaints(why, values[1:])) == [f"{why[0].title}: {first} is inside"]
    missing = [f"{spec} is not inside, without a reason" for spec in sorted(why[0].specs)]
    assert list(reasons.complaints(why[1:], values)) == missing


@pytest.mark.parametrize("test", ["vs-cubic", "vs-bbr", "low-and-up"])
def test_the_three_rules_of_october_are_its_variant_event_by_event(test: str) -> None:
    names = (f"{DRAFT_05},{october.RULES['all three']}", states.STATES["2026-10"], DRAFT_05)
    together, variant, before = (
        Scenario.load(f"c4-05/{test}", controllers={"main": name}).run(1).trace_hash for name in names
    )
    assert together == variant != before
