"""Trials in real time behind `thalweg lab`: told while they run, stopped at once, and refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Problems
from lab.test_server import Lab, ask, running, setup
from real_time import needs_rights, networks
from thalweg import Scenario
from waiting import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(300)]
TEXT = Scenario.load("c4/simple-20mbps", overrides={"flow.main.download": "6 MB"}).toml


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    (tmp_path / "mine.toml").write_text(TEXT)
    with running(tmp_path) as found:
        yield found


def opened(browser: Browser, lab: Lab, problems: Problems) -> Page:
    view = lab.page(browser, problems, settled=True)
    view.select_option("header.top select", "mine.toml")
    view.wait_for_selector("[data-settled]")
    return view


@needs_rights
def test_the_queue_of_the_emulator_is_drawn_while_the_trial_runs(
    browser: Browser, lab: Lab, problems: Problems
) -> None:
    view = opened(browser, lab, problems)
    view.get_by_role("button", name="Run in real time").click()
    growing = view.get_by_role("region", name="measurement").get_by_text("in the queue")
    growing.wait_for(timeout=20_000)
    first = view.locator(".two > div").first
    first.locator('[data-panel="queue"]').wait_for()
    ended = view.get_by_role("region", name="measurement").get_by_text("completed in")
    ended.wait_for(timeout=30_000)
    first.locator('[data-panel="window"]').wait_for()
    seconds = float(ended.inner_text().split("completed in ")[1].split(" ")[0])
    # What the link lets through bounds the time below, the time limit of the scenario above.
    assert 6e6 * 8 / 20e6 < seconds < 30
    view.evaluate("thalweg.point(1.5)")
    delivered = first.locator('[data-panel="rate"] [data-line="delivery rate"]').inner_text()
    assert delivered.endswith("bps")


@needs_rights
def test_reports_come_while_it_runs_and_sum_up(lab: Lab) -> None:
    reports: list[dict[str, float]] = []
    with lab.socket() as connection:
        header = ask(connection, reports, name="live", setup=setup(TEXT), seed="1")
    assert len(reports) > 5
    for key in ("time_s", "delivered_bytes", "offered_packets"):
        values = [report[key] for report in reports]
        assert values == sorted(values)
    assert reports[-1]["delivered_bytes"] > 4e6
    assert header["unfaithful"]


@needs_rights
def test_a_run_in_real_time_is_stopped_at_once_and_leaves_nothing(
    browser: Browser, lab: Lab, problems: Problems
) -> None:
    before = networks()
    view = opened(browser, lab, problems)
    view.get_by_role("button", name="Run in real time").click()
    view.get_by_role("region", name="measurement").get_by_text("in the queue").wait_for(timeout=20_000)
    view.get_by_role("button", name="Stop real time").click()
    view.get_by_role("button", name="Run in real time").wait_for(timeout=10_000)
    until(lambda: networks() <= before, "the namespaces of the run are gone")


def test_why_a_scenario_does_not_run_in_real_time_is_said(lab: Lab) -> None:
    hops = TEXT.replace("[path]", '[[link]]\nname = "a"')
    second = '[[link]]\nname = "b"\nrate = "20 Mbps"\nrtt = "10 ms"\n[transport]'
    with lab.socket() as connection:
        refused = ask(connection, name="live", setup=setup(hops.replace("[transport]", second)), seed="1")[
            "refused"
        ]
        assert "accepted" in refused["message"]


def test_a_controller_of_a_file_outside_does_not_run_in_real_time_either(lab: Lab) -> None:
    for controller in ("../secret.py", "./mine.py"):
        with lab.socket() as connection:
            asked = setup(TEXT, controllers={"main": controller})
            refused = ask(connection, name="live", setup=asked, seed="1")["refused"]["message"]
            assert "outside of the folder" in refused or "requires thalweg lab --python" in refused


def test_a_page_cannot_have_commands_run(lab: Lab, tmp_path: Path) -> None:
    # A scenario may come from a stranger, by a link: its commands would have all rights of the user.
    mark = tmp_path / "mark"
    command = f'command = {{ client = "touch {mark}" }}\ncontroller = "command:'
    program = TEXT.replace('controller = "', command)
    assert "command:" in program
    with lab.socket() as connection:
        for name in ("live", "check"):
            answer = ask(connection, name=name, setup=setup(program), seed="1")
            assert "refused" in answer or "requires real time" in str(answer), answer
        refused = ask(connection, name="live", setup=setup(program), seed="1")["refused"]["message"]
    assert "[flow.command] cannot be run from a page; use thalweg run --live" in refused
    assert not mark.exists()
