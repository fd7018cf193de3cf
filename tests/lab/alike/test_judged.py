"""Criteria of stored results: the page of the lab says what Python says, by itself and from its server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from lab.conftest import Open, Problems, shows
from lab.test_server import running
from thalweg import Scenario
from thalweg.base.quantity import text
from thalweg.results.suite_result import Store, SuiteResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
LATE = """title = "Late and lossy"
time_limit = "3 s"
noise = { start = "200 ms" }
path = { rate = "5 Mbps", rtt = "30 ms", buffer = "1 bdp", loss = "1 %" }
flow = [
    { name = "main", controller = "reno", download = "800 kB" },
    { name = "call", controller = "cubic", start = "500 ms", call = "1 s" },
]
pass = [
    { flow = "main", metric = "completion", at_most = "2.6 s", in = "50 %" },
    { flow = "main", metric = "rate", at_least = "4 Mbps", informative = true },
    { flow = "call", stream = "audio", metric = "mean-delay", at_most = "100 ms" },
    { flow = "main", metric = "closed", at_most = "1 s" },
]
"""
SHOWN = """Array.from(
  document.querySelectorAll(".judged tbody tr:has(td)"),
  (row) => Array.from(row.cells, (cell) => cell.innerText),
)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result: some trials do not finish, starts are drawn, and a flow has streams of media."""
    folder = tmp_path_factory.mktemp("judged")
    outcomes = Scenario.from_toml(LATE, "late.toml").trials(12)
    result = SuiteResult(None, "Late and lossy", None, 1)
    with Store(folder / "late", result, [outcomes.scenario], outcomes.n) as store:
        result.add(outcomes)
        store.add(outcomes)
        store.finish()
    return folder


def wanted(result: SuiteResult) -> list[list[str]]:
    """What Python says of each criterion of a result."""
    rows = []
    for outcomes in result.outcomes:
        for one in outcomes.verdict().criteria:
            sign = "≤" if one.side == "at_most" else "≥"
            share = f" in {text(one.within, 'share', 3)}" if one.within < 1 else ""
            failures = f" ({one.failures} of {one.n})" if one.failures else ""
            said = f"{one.answer}{failures}{' (for info)' if one.informative else ''}"
            values = [text(value, one.unit, 3) for value in (one.median, one.worst)]
            rows.append([one.subject, *values, f"{sign} {text(one.bound, one.unit, 3)}{share}", said])
    return rows


def shown(view: Page) -> list[list[str]]:
    view.locator(".judged").wait_for()
    return list(view.evaluate(SHOWN))


def test_the_case_has_every_verdict_and_trials_that_did_not_finish(folder: Path) -> None:
    said = " ".join(" ".join(row) for row in wanted(SuiteResult.load(folder / "late")))
    assert all(word in said for word in ("infeasible", "fails", "holds", "did not finish", "≥", "audio"))


def test_a_folder_of_the_reader_has_each_criterion_with_value_limit_and_verdict(
    opened: Open, folder: Path
) -> None:
    view = opened()
    view.get_by_role("tab", name="Results").click()
    view.locator(".results input[type=file]").set_input_files(folder / "late")
    assert shown(view) == wanted(SuiteResult.load(folder / "late"))


def test_the_folder_of_the_server_has_them_too(browser: Browser, problems: Problems, folder: Path) -> None:
    with running(folder) as lab:
        view = lab.page(browser, problems)
        view.get_by_role("tab", name="Results").click()
        view.get_by_role("button", name="late (suite)").click()
        assert shown(view) == wanted(SuiteResult.load(folder / "late"))


def test_a_trial_on_the_page_has_the_values_of_its_criteria(opened: Open) -> None:
    """With a drawn start, and the first seed that does not finish."""
    flows = Scenario.from_toml(LATE, "late.toml").trials(100).flows
    late = flows.filter(~pl.col("finished"))["seed"][0]
    assert late > 1
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'late.toml')", LATE)
    for seed in (1, late):
        view.evaluate(f"thalweg.seed({seed})")
        native = Scenario.from_toml(LATE, "late.toml").run(seed=seed)
        shows(view, native.trace_hash)
        criteria = native.verdict().criteria
        wanted = [text(one.median, one.unit, 3) for one in criteria]
        assert view.locator(".criteria strong").all_inner_texts() == wanted
        assert (seed == late) == ("did not finish" in wanted)


def test_the_hundred_trials_have_the_verdict_of_python(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'late.toml')", LATE)
    one = Scenario.from_toml(LATE, "late.toml").trials(100).verdict().criteria[0]
    quantiles = f"median {text(one.median, one.unit, 3)}, 95th percentile {text(one.p95, one.unit, 3)}"
    wanted = f"{one.answer}: {one.n - one.failures} of {one.n} meet the target; {quantiles}"
    view.locator(".strip .count", has_text=wanted).wait_for(timeout=120_000)
