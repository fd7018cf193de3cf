"""What a reader sees first: a trial that needs no explanation, what the page is, and charts in sight."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.conftest import Open, Problems, shown_hash
from lab.test_server import running
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)
PLAN = """# of a sweep, not a scenario
[[axis]]
key = "path.rate"
"""
OWN = """title = "Our path"
[path]
rate = "5 Mbps"
rtt = "30 ms"
buffer = "1 bdp"
[[flow]]
name = "main"
controller = "reno"
download = "300 kB"
"""


def box(view: Page, selector: str) -> dict[str, Any]:
    found = view.locator(selector).first.bounding_box()
    assert found is not None, selector
    return {**found, "bottom": found["y"] + found["height"]}


def test_the_page_opens_on_the_simple_path_and_says_what_it_is(opened: Open) -> None:
    view = opened(scenario=None)
    assert shown_hash(view) == Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
    assert view.locator(".what").inner_text() == "Congestion control, simulated: move a slider, watch."
    assert view.locator("header.top select").input_value() == "c4/simple-20mbps"


def test_behind_a_server_the_page_opens_on_the_first_scenario_of_the_folder(
    browser: Browser, problems: Problems, tmp_path: Path
) -> None:
    (tmp_path / "a-plan.toml").write_text(PLAN)
    (tmp_path / "our-path.toml").write_text(OWN)
    with running(tmp_path) as lab:
        view = lab.page(browser, problems)
        assert view.locator("header.top select").input_value() == "our-path.toml"
        assert shown_hash(view) == Scenario.from_toml(OWN, "our-path.toml").run(seed=1).trace_hash
        view.context.close()


def test_charts_stand_directly_below_the_table(opened: Open) -> None:
    view = opened(scenario=None)
    sections = view.locator("main > section").evaluate_all("(all) => all.map((one) => one.className)")
    assert sections[:3] == ["outcome", "charts", "strip"]
    assert sections.index("watch") > 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_telephone_has_the_sliders_and_the_first_chart_on_one_screen(opened: Open, scheme: Any) -> None:
    view = opened(scenario=None, width=400, scheme=scheme)
    view.set_viewport_size({"width": 400, "height": 800})
    view.wait_for_selector("[data-panel=window] canvas")
    for name in ("Rate", "Round-trip time", "Buffer", "Loss"):
        slider = view.get_by_role("slider", name=name, exact=True).bounding_box()
        assert slider is not None
        assert slider["y"] + slider["height"] < 800
        assert slider["width"] >= 60
    assert box(view, "[data-panel=window] canvas")["bottom"] <= 800
    # What is less often wanted is folded, and all of it is there.
    assert not view.get_by_label("Queue discipline").is_visible()
    view.get_by_text("More settings").click()
    for name in ("Queue discipline", "Jitter", "Seed", "options of the controller of main"):
        assert view.get_by_label(name, exact=True).is_visible()
