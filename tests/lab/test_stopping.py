"""What runs in the page of the lab is stopped, and what fails is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them


@pytest.mark.realtime
def test_stopping_ends_a_long_trial_at_once(opened: Open) -> None:
    view = opened()
    long = Scenario.load("c4/simple-200mbps", overrides={"flow.main.download": "10 GB"}).toml
    took = view.evaluate(
        """async (text) => {
          const abort = new AbortController();
          const run = thalweg.run({text}, 1n, false, abort.signal);
          await new Promise((resolve) => setTimeout(resolve, 300));
          const begin = performance.now();
          abort.abort();
          const reason = await run.catch((error) => error.name);
          const stopped = performance.now() - begin;
          const next = await thalweg.run({text: thalweg.scenarios[0].text}, 7n);
          return [reason, stopped, next.hash];
        }""",
        long,
    )
    assert took[0] == "AbortError"
    assert took[1] < 100
    assert took[2] == Scenario.load("c4/simple-20mbps").run(seed=7).trace_hash


def test_stop_starts_nothing_else(opened: Open) -> None:
    view = opened(settled=True)
    long = Scenario.load("c4/simple-200mbps", overrides={"flow.main.download": "10 GB"}).toml
    found = view.evaluate(
        """async (text) => {
          const open = thalweg.open(text);
          await new Promise((resolve) => setTimeout(resolve, 300));
          thalweg.stop();
          await open;
          const found = new Set();
          for (let look = 0; look < 60; look++) {
            await new Promise((resolve) => setTimeout(resolve, 10));
            found.add(String(thalweg.shown.finished));
          }
          return [...found];
        }""",
        long,
    )
    assert found == ["null"]
    assert view.get_by_role("button", name="Run again").is_visible()


def test_stop_ends_a_lesson(opened: Open) -> None:
    view = opened(settled=True)
    view.get_by_role("tab", name="Lessons").click()
    view.locator(".lessons button").first.click()
    view.locator(".lesson input").first.check()
    run = view.get_by_role("button", name="Run both")
    stopped = view.evaluate(
        """async () => {
          [...document.querySelectorAll(".lesson button")].find((one) => one.innerText === "Run both").click();
          await new Promise(requestAnimationFrame);
          thalweg.stop();
          await new Promise((resolve) => setTimeout(resolve, 1000));
          return [document.querySelector(".lesson table"), thalweg.shown.finished];
        }"""
    )
    assert stopped == [None, None]
    run.click()
    view.locator(".lesson table").wait_for()


@pytest.mark.parametrize("lost", ["**/worker-*.js", "**/*.wasm"])
def test_an_engine_that_cannot_be_loaded_is_told_once_for_each_call(
    browser: Browser, static: str, lost: str
) -> None:
    view = browser.new_context().new_page()
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    view.context.route(lost, refuse)
    view.goto(static)
    view.get_by_role("alert").wait_for()
    assert "cannot be loaded" in view.get_by_role("alert").inner_text()
    view.wait_for_timeout(300)
    before = len(asked)
    assert 1 <= before <= 6
    view.wait_for_timeout(500)
    assert len(asked) == before
    for _ in range(2):
        reason = view.evaluate("thalweg.check({text: ''}).catch((error) => error.message)")
        assert "cannot be loaded" in reason


def test_what_failed_before_is_not_told_of_the_next_run(opened: Open) -> None:
    view = opened("#trial=AAAA", settled=True)
    view.get_by_role("alert").wait_for()
    view.get_by_role("button", name="Run again").click()
    view.wait_for_selector("[data-settled]")
    assert view.get_by_role("alert").count() == 0
