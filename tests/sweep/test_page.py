"""The page of a sweep as a person meets it in Chromium, and its figures as Vega-Lite has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import Scheme, opened, serious
from drawings import vega_lite_schema
from short_download import SCENARIO
from thalweg import Sweep, SweepResult
from thalweg.experiments.sweep.report.figures import plot_sweep
from thalweg.experiments.sweep.report.page import write_sweep
from thalweg.experiments.sweep.report.view import view_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [
    pytest.mark.timeout(300),  # longer than others: a loaded machine must not fail them
]
RATES, RTTS, CONTROLLERS = ["5 Mbps", "20 Mbps"], ["10 ms", "40 ms", "160 ms"], ["cubic", "c4"]


@pytest.fixture(name="result", scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    folder = tmp_path_factory.mktemp("sweep")
    file = folder / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    axes: dict[str, Any] = {"path.rate": RATES, "path.rtt": RTTS, "controller.main": CONTROLLERS}
    # With losses trials differ, so that points have intervals.
    loss = {"path.loss": '{ model = "random", rate = "1 %" }'}
    return Sweep(str(file), axes, trials=6, set=loss).run(folder / "out")


@pytest.fixture(name="page", scope="module")
def written(result: SweepResult) -> Path:
    page = result.folder / "report.html"
    write_sweep(result, page, traces=2)
    return page


@pytest.mark.soak
def test_its_figures_are_valid_vega_lite(result: SweepResult) -> None:
    from altair.utils.schemapi import validate_jsonschema  # noqa: PLC0415 - takes half a second to load

    view, accepted = view_of(result), vega_lite_schema()
    for metric in view.metrics:
        for brushes in (True, False):
            for theme in ("screen", "dark", "paper"):
                validate_jsonschema(plot_sweep(view, metric, "title", brushes).to_dict(theme), accepted)
    broken = plot_sweep(view, view.metrics[0], "title").to_dict()
    broken["vconcat"][-1]["height"] = "tall"
    with pytest.raises(Exception, match="tall"):
        validate_jsonschema(broken, accepted)


@pytest.mark.soak
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, page: Path, scheme: Scheme) -> None:
    view = opened(browser, page, scheme=scheme)
    view.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert serious(view) == {}


@pytest.mark.parametrize("width", [1300, 400])
def test_nothing_scrolls_sideways(browser: Browser, page: Path, width: int) -> None:
    view = opened(browser, page, width)
    view.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width


def opacities(figure: Locator, mark: str) -> list[float]:
    """The opacities of all marks of a kind in a figure."""
    drawn: list[float] = figure.evaluate(
        """(figure, mark) => [...figure.querySelectorAll(`.mark-${mark}[class*="_marks"] path`)]
        .map((one) => Number(one.getAttribute('opacity') ?? 1))""",
        mark,
    )
    return drawn


def drag(view: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    view.mouse.move(*start)
    view.mouse.down()
    view.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    view.mouse.move(*end)
    view.mouse.up()
    view.wait_for_timeout(500)


def test_a_brush_marks_the_same_points_in_all_views(browser: Browser, page: Path) -> None:
    view = opened(browser, page)
    figure = view.locator("figure").first
    cells = figure.locator('.mark-rect[class*="_marks"] path')
    n = len(RATES) * len(RTTS) * len(CONTROLLERS)
    assert cells.count() == n
    assert set(opacities(figure, "symbol")) == {1.0}
    boxes = [box for box in (cells.nth(number).bounding_box() for number in range(n)) if box]
    # The first column of the first heat map: all controllers at one RTT.
    first = min(boxes, key=lambda box: (box["x"], box["y"]))
    column = [box for box in boxes if box["x"] == first["x"] and abs(box["y"] - first["y"]) < 3 * box["height"]]
    top, bottom = min(column, key=lambda box: box["y"]), max(column, key=lambda box: box["y"])
    middle = first["x"] + first["width"] / 2
    drag(view, (middle - 5, top["y"] + 3), (middle + 5, bottom["y"] + bottom["height"] - 3))
    marked = [opacity for opacity in opacities(figure, "rect") if opacity == 1.0]
    # Both heat maps have a cell of each controller at that RTT.
    assert len(marked) == len(RATES) * len(CONTROLLERS)
    # The same points are in the lines, and in throughput against delay.
    assert len(opacities(figure, "symbol")) == 2 * n
    assert opacities(figure, "symbol").count(1.0) == 2 * len(marked)
