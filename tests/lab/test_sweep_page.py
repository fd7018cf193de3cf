"""The tab of sweeps when another page has started one, when the server is busy, and for a screen reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open
from lab.test_server import SIMPLE, Lab, running, setup
from lab.test_sweeps import LONG, asked, call, ended, fill, start, state
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.timeout(300)
LATER = 60_000
"""Milliseconds that a loaded machine may take."""
OWN = "({onAck() {}})"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, static: str) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "one.toml").write_text(SIMPLE)
    with running(folder) as found:
        yield found


@pytest.fixture(scope="module")
def shown(browser: Browser, lab: Lab) -> Page:
    return lab.page(browser)


@pytest.fixture
def view(shown: Page, lab: Lab) -> Iterator[Page]:
    """A page that has been loaded before any sweep runs. A refusal is an error on its console."""
    shown.goto(lab.address)
    shown.wait_for_selector("[data-ready]", timeout=LATER)
    yield shown
    shown.unroute_all()
    if state(lab)["isRunning"]:
        call(lab, "/sweep/stop", "")
        ended(lab)


def long(lab: Lab) -> None:
    """Another page starts a sweep of more than an hour."""
    start(lab, asked(name="of-another", setup=setup(LONG), trials=5000))


def tab(view: Page) -> None:
    view.get_by_role("tab", name="Sweep").click()


def stops_it(view: Page, lab: Lab) -> None:
    view.locator('[data-sweep="running"]').wait_for(timeout=LATER)
    view.get_by_role("button", name="Stop the sweep").click()
    view.locator('[data-sweep="ended"]').wait_for(timeout=LATER)
    assert not ended(lab)["isComplete"]


def test_a_page_shows_the_sweep_of_another_when_its_tab_opens(view: Page, lab: Lab) -> None:
    long(lab)
    tab(view)
    stops_it(view, lab)


def test_a_page_that_may_not_start_shows_the_sweep_that_runs(view: Page, lab: Lab) -> None:
    with view.expect_response(
        "**/sweep?token=*"
    ):  # no sweep runs yet: a button that starts one is what is pressed
        tab(view)
    view.get_by_label("Name of the folder").wait_for()
    long(lab)
    view.get_by_role("button", name="Start the sweep").click()
    view.get_by_role("alert").get_by_text("the sweep of-another runs already").wait_for(timeout=LATER)
    stops_it(view, lab)


def test_a_sweep_can_be_stopped_while_a_controller_of_ones_own_is_shown(view: Page, lab: Lab) -> None:
    flow = Scenario.load("c4/bad-wifi").flows[0]["name"]
    view.evaluate(
        "([code, flow]) => { thalweg.bring('mine.js', code); void thalweg.controllers({[flow]: './mine.js'}); }",
        [OWN, flow],
    )
    tab(view)
    view.get_by_text("A sweep runs no controllers in JavaScript").wait_for(timeout=LATER)
    assert view.get_by_role("button", name="Start the sweep").count() == 0
    view.get_by_role("tab", name="Path").click()
    long(lab)
    tab(view)
    stops_it(view, lab)
    view.get_by_text("A sweep runs no controllers in JavaScript").wait_for()


def test_a_server_that_is_busy_for_a_moment_does_not_hide_the_sweep(view: Page, lab: Lab) -> None:
    long(lab)
    tab(view)
    view.locator('[data-sweep="running"]').wait_for(timeout=LATER)

    def busy(route: Route) -> None:
        route.fulfill(status=503, body="too much at once")

    view.route("**/sweep?token=*", busy)
    view.get_by_role("alert").get_by_text("too much at once").wait_for(timeout=LATER)
    assert view.locator('[data-sweep="running"]').count() == 1
    view.unroute("**/sweep?token=*")
    view.get_by_role("alert").wait_for(state="detached", timeout=LATER)
    stops_it(view, lab)


def test_a_sweep_that_ends_before_its_first_trial_says_so(view: Page, lab: Lab) -> None:
    long(lab)
    tab(view)
    view.locator('[data-sweep="running"]').wait_for(timeout=LATER)
    none = {"number": 1, "name": "of-another", "isRunning": False, "isComplete": False, "done": 0, "trials": 0}
    view.route("**/sweep?token=*", lambda route: route.fulfill(json=none))
    view.locator('[data-sweep="ended"]').wait_for(timeout=LATER)
    told = view.locator('[data-sweep="ended"]').inner_text()
    assert told == "stopped before a trial was finished; what was there stays"


def test_a_server_that_has_gone_has_no_sweep(view: Page, lab: Lab) -> None:
    long(lab)
    tab(view)
    view.locator('[data-sweep="running"]').wait_for(timeout=LATER)
    view.route("**/sweep?token=*", lambda route: route.abort())
    view.get_by_role("alert").get_by_text("does not answer").wait_for(timeout=LATER)
    assert view.locator("[data-sweep]").count() == 0


def test_a_screen_reader_hears_what_happens_at_one_place_that_stays(view: Page) -> None:
    tab(view)
    place = view.locator(".sweep > p[role=status]")
    place.wait_for(state="attached")
    assert place.inner_text() == ""
    place.evaluate(
        "(place) => { place.isTheSame = true; place.heard = []; "
        "new MutationObserver(() => place.heard.push(place.textContent))"
        ".observe(place, {childList: true, characterData: true, subtree: true}); }"
    )
    fill(view, "Name of the folder", "heard")
    view.get_by_role("button", name="Start the sweep").click()
    view.locator('[data-sweep="ended"]').wait_for(timeout=2 * LATER)
    place.get_by_text("finished: ").wait_for(state="attached", timeout=LATER)
    heard = [words for words in place.evaluate("(place) => place.heard") if words]
    assert place.evaluate("(place) => place.isTheSame")
    assert [words.split(" ", 2)[1] for words in heard] == ["points,", "sweep", "40"]
    assert heard[0].startswith("2 points, 40 trials, 0 already stored. 40 would run: ")
    assert heard[1] == "the sweep heard has started"
    assert heard[2] == view.locator('[data-sweep="ended"]').inner_text()


def test_the_static_page_says_what_a_sweep_needs(opened: Open) -> None:
    view = opened(settled=True)
    view.get_by_role("tab", name="Sweep").click()
    assert "needs thalweg lab" in view.locator("#tab-panel").inner_text()
    assert view.evaluate("thalweg.sweeps") is None
