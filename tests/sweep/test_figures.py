"""What the figures of a sweep say: numbers in cells, scales that show all points, and words instead of keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import opened
from drawings import figures_of
from short_download import SCENARIO
from thalweg import Sweep, SweepResult
from thalweg.experiments.sweep.report.figures import plot_sweep
from thalweg.experiments.sweep.report.page import write_sweep
from thalweg.experiments.sweep.report.view import view_of
from thalweg.pages.figures import Figure

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.timeout(300)


def swept(folder: Path, **axes: Any) -> SweepResult:
    file = folder / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    named = {key.replace("_", "."): values for key, values in axes.items()}
    return Sweep(str(file), named, trials=2).run(folder / "out")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    return swept(
        tmp_path_factory.mktemp("sweep"),
        path_rate=["2 Mbps", "5 Mbps", "100 Mbps"],
        path_rtt=["10 ms", "40 ms", "80 ms"],
        controller_main=["cubic", "c4"],
    )


def figure_of(result: SweepResult, metric: str, **options: Any) -> Figure:
    view = view_of(result, metrics=[metric], **options)
    return plot_sweep(view, view.metrics[0], "title")


def panels(part: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels of a view, whether there is one or rows of them."""
    rows = part.get("vconcat", [part])
    return [panel for row in rows for panel in row.get("hconcat", [row])]


def test_cells_of_a_heat_map_have_their_medians_in_them(result: SweepResult) -> None:
    heat = panels(figure_of(result, "completion_s").spec["vconcat"][0])
    for panel in heat:
        (text,) = [layer for layer in panel["layer"] if layer["mark"]["type"] == "text"]
        (cells,) = [layer for layer in panel["layer"] if "params" in layer]
        assert text["encoding"]["text"]["field"] == cells["encoding"]["color"]["field"]


def test_numbers_that_differ_widely_have_a_scale_of_powers(result: SweepResult) -> None:
    heat, lines, _ = figure_of(result, "completion_s").spec["vconcat"]
    assert panels(heat)[0]["layer"][0]["encoding"]["color"]["scale"]["type"] == "log"
    assert panels(lines)[0]["layer"][0]["encoding"]["y"]["scale"]["type"] == "log"


def test_other_axes_begin_at_0(tmp_path: Path) -> None:
    own = swept(tmp_path, path_rate=["10 Mbps", "11 Mbps"], controller_main=["cubic", "c4"])
    _, lines, trade = figure_of(own, "completion_s").spec["vconcat"]
    assert panels(lines)[0]["layer"][0]["encoding"]["y"]["scale"]["domain"][0] == 0
    encoding = trade["layer"][-1]["encoding"]
    for way in ("x", "y"):
        scale = encoding[way]["scale"]
        assert scale.get("type") == "log" or scale["domain"][0] == 0


def test_throughput_against_delay_stands_on_a_page_once(result: SweepResult, tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    write_sweep(result, page, metrics=["completion_s", "loss", "mean_rate_bps"], traces=0)
    figures = figures_of(page.read_text(encoding="utf-8"))
    trades = [name for name, spec in figures.items() if len(spec["vconcat"]) == 3]
    assert trades == ["metric-0"]
    assert len(figures) >= 3


def test_a_point_that_lies_far_off_does_not_flatten_the_colours_of_the_others(
    result: SweepResult, tmp_path: Path
) -> None:
    view = view_of(result, metrics=["completion_s"])
    (metric,) = view.metrics
    values = [1.0 + 0.1 * number for number in range(view.points.height - 1)] + [15.0]
    column = view.points[metric.column].__class__(metric.column, values)
    object.__setattr__(view, "points", view.points.with_columns(column))
    figure = plot_sweep(view, metric, "title")
    colour = panels(figure.spec["vconcat"][0])[0]["layer"][0]["encoding"]["color"]
    scale = colour["scale"]
    assert scale["clamp"]
    # 15 s has the colour of the end, and the end says so; nothing lies below the other one.
    figure.save(tmp_path / "sweep.svg")
    drawn = (tmp_path / "sweep.svg").read_text(encoding="utf-8")
    assert f"\N{GREATER-THAN OR EQUAL TO} {scale['domain'][1]:.3g}<" in drawn
    assert "\N{LESS-THAN OR EQUAL TO}" not in drawn
    assert scale["domain"][0] == 1.0
    assert scale["domain"][1] < 6


def test_axes_and_points_are_called_in_words(result: SweepResult, browser: Browser, tmp_path: Path) -> None:
    figure = figure_of(result, "completion_s")
    assert "over rate and controller" in figure.spec["title"]["subtitle"]
    titles = {panel["title"]["text"] for panel in panels(figure.spec["vconcat"][0])}
    assert titles == {"round-trip time 10 ms", "round-trip time 40 ms", "round-trip time 80 ms"}
    page = tmp_path / "sweep.html"
    write_sweep(result, page, traces=0)
    view = opened(browser, page)
    summary = view.locator("details summary").filter(has_text="cubic").first.inner_text()
    assert summary.startswith("rate 2 Mbps, round-trip time 10 ms, controller cubic")
    assert "path.rate" not in view.locator("main figure").first.inner_text()
    # Messages say keys: these are what options take.
    with pytest.raises(Exception, match=r"--axes 'path.rates'.*path.rate"):
        view_of(result, ["path.rates"])


def test_on_a_telephone_panels_stand_in_a_column(result: SweepResult, browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    write_sweep(result, page, metrics=["completion_s"], traces=0)
    places = """[...document.querySelectorAll('figure svg g.mark-group.role-scope > g > path.background')]
      .map((one) => one.getBoundingClientRect())
      .filter(({width}) => width > 100).map(({left, width}) => [Math.round(left), Math.round(width)])"""
    narrow = opened(browser, page, 400)
    found = narrow.evaluate(places)
    assert len(found) >= 7
    assert max(left for left, _ in found) - min(left for left, _ in found) <= 40
    wide = opened(browser, page, 1300).evaluate(places)
    assert len({left // 40 for left, _ in wide}) > 1
