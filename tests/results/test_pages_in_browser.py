"""Pages as a person meets them in Chromium: on wide and narrow screens, in light and dark, on paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from calls import CALL
from chromium import Scheme, opened, serious
from short_download import SCENARIO
from thalweg.engine.scenario import Scenario
from thalweg.pages.figures import plot_distribution, plot_trial
from thalweg.pages.report import write_report
from thalweg.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Read: TypeAlias = "Callable[..., Page]"
pytestmark = [
    pytest.mark.timeout(300),  # longer than others: a loaded machine must not fail them
]
WIDTHS = [1300, 400, pytest.param(360, marks=pytest.mark.soak)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def report(folder: Path) -> Path:
    """The report of six scenarios, the last of which is a call that fails."""
    texts = {f"short-{number}": SCENARIO for number in range(5)} | {"call": CALL}
    outcomes = [Scenario.from_toml(text, name).trials(3) for name, text in texts.items()]
    page = folder / "report.html"
    result = SuiteResult(None, "By hand", "a source", seed=1, outcomes=outcomes, folder=folder)
    result.host = {**result.host, "processor": "a processor with a name that is quite as long as they often are"}
    write_report(result, page)
    return page


@pytest.fixture(scope="module")
def figure(folder: Path) -> Path:
    """The page of one figure."""
    page = folder / "figure.html"
    plot_trial(Scenario.from_toml(CALL, "call").run(seed=1, trace=True)).save(page)
    return page


@pytest.fixture(scope="module")
def study(folder: Path) -> Path:
    """The page of a small study."""
    from thalweg.cli import main  # noqa: PLC0415

    arguments = "study fairness -c c4 -c cubic --buffer 1 --queue drop-tail --flows 2 --duration 20s"
    arguments += " --rtt-ratio 1 --rtt-ratio 2"
    main([*arguments.split(), "-n", "2", "--out", str(folder / "study")])
    return folder / "study" / "report.html"


@pytest.fixture(scope="module")
def read(browser: Browser, request: pytest.FixtureRequest) -> Read:
    """A page at a width that tests read one after the other: to draw its figures anew takes most of their time.

    They unfold and scroll; a test that does more, or asks what a page is like at first, opens its own.
    """

    @cache
    def read_(name: str, width: int = 1300) -> Page:
        return opened(browser, request.getfixturevalue(name), width)

    return read_


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["report", "figure", "study"])
def test_nothing_scrolls_sideways(read: Read, name: str, width: int) -> None:
    view = read(name, width)
    view.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert view.evaluate("innerWidth") == width
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width
    wide = """() => [...document.querySelectorAll('body *')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'auto')
      .map((one) => one.outerHTML.slice(0, 100))"""
    if width < 500:
        assert view.evaluate(wide) == []
    figures = view.evaluate("[...document.querySelectorAll('figure svg')].map((one) => one.clientWidth)")
    assert figures
    assert max(figures) <= width


@pytest.mark.soak
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "figure", "study"])
def test_axe_finds_nothing_serious(
    browser: Browser, name: str, scheme: Scheme, request: pytest.FixtureRequest
) -> None:
    view = opened(browser, request.getfixturevalue(name), scheme=scheme)
    view.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert serious(view) == {}


def test_every_figure_has_words_and_every_table_a_caption_and_scopes(read: Read) -> None:
    view = read("report")
    for what in (
        "[...document.querySelectorAll('figure figcaption')].every((one) => one.textContent.length > 40)",
        "document.querySelectorAll('figure').length === document.querySelectorAll('figure figcaption').length",
        "[...document.querySelectorAll('table')].every((one) => one.caption.textContent.length > 5)",
        "[...document.querySelectorAll('th')].every((one) => one.scope)",
    ):
        assert view.evaluate(what), what


def test_the_strips_of_the_overview_have_their_legend_above(read: Read) -> None:
    view = read("report")
    above = """[...document.querySelectorAll('.legend')].find((one) => one.textContent.includes('Each strip runs'))
      .getBoundingClientRect().bottom <= document.querySelector('.overview').getBoundingClientRect().top"""
    assert view.evaluate(above)


def test_a_link_lands_where_it_says(browser: Browser, report: Path) -> None:
    for anchor in ("short-3", "call"):
        view = opened(browser, report, anchor=f"#{anchor}")
        view.wait_for_timeout(300)
        top = view.evaluate("(id) => document.getElementById(id).getBoundingClientRect().top", anchor)
        room = view.evaluate("innerHeight")
        below = view.evaluate("document.scrollingElement.scrollHeight - innerHeight - scrollY")
        # Below the head, which stays; at the end of a page there may be nothing left to scroll.
        assert 0 < top < 120 or (below < 2 and top < room)


def test_figures_reserve_their_height_within_a_few_lines(read: Read) -> None:
    view = read("report")
    view.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    reserved = """() => [...document.querySelectorAll('figure')].map((one) => {
      const drawn = one.querySelector('svg').getBoundingClientRect().height;
      return [drawn, Number(one.dataset.reserved)];
    })"""
    for drawn, asked in view.evaluate(reserved):
        assert abs(drawn - asked) < 80, (drawn, asked)


def test_the_overview_filters_and_sorts(browser: Browser, report: Path) -> None:
    view = opened(browser, report)
    names = (
        "() => [...document.querySelectorAll('.overview tbody tr:not([hidden]) a')].map((one) => one.textContent)"
    )
    assert view.evaluate(names) == ["call", *(f"short-{number}" for number in range(5))]
    view.get_by_role("button", name="scenario").click()
    view.get_by_role("button", name="scenario").click()
    assert view.evaluate(names) == [*(f"short-{number}" for number in reversed(range(5))), "call"]
    view.get_by_role("searchbox").fill("short-2")
    assert view.evaluate(names) == ["short-2"]
    assert view.locator("#shown").text_content() == "1 of 6"
    assert view.locator("section.scenario:visible").count() == 1
    view.get_by_role("searchbox").fill("")
    view.locator("#answer").select_option("fails")
    assert view.evaluate(names) == ["call"]


def test_failures_are_open_and_the_rest_is_folded(browser: Browser, report: Path) -> None:
    view = opened(browser, report)
    opened_ = "() => [...document.querySelectorAll('section.scenario:has(> [open])')].map((one) => one.id)"
    assert view.evaluate(opened_) == ["call"]
    view.locator(".bar summary").click()
    view.locator(".bar a", has_text="A short download").nth(2).click()
    view.wait_for_selector("#short-2 > [open]", state="attached")  # the event of a new address comes later
    assert view.evaluate(opened_) == ["short-2", "call"]


def test_the_head_stays_in_sight(read: Read) -> None:
    view = read("report")
    view.mouse.wheel(0, 3000)
    view.wait_for_timeout(300)
    assert view.evaluate("scrollY") > 1000
    assert view.evaluate("document.querySelector('.bar').getBoundingClientRect().top") == 0


def test_the_cursor_reads_exact_values_of_all_panels(browser: Browser, figure: Path) -> None:
    view = opened(browser, figure)
    panel = view.locator("g.mark-group.role-scope > g > path.background").nth(1).bounding_box()
    assert panel is not None
    view.mouse.move(panel["x"] + panel["width"] / 2, panel["y"] + panel["height"] / 2)
    box = view.locator(".cursor-box")
    assert box.is_visible()
    rows = dict(
        view.evaluate(
            "[...document.querySelectorAll('.cursor-box tr')].map((row) => [...row.cells].map((c) => c.innerText))"
        )
    )
    at = float(box.locator("b").inner_text().split()[1])
    until = view.evaluate("Number(document.querySelector('.cursor-box b').textContent.split(' ')[1])")
    assert at == until
    trace = Scenario.from_toml(CALL, "call").run(seed=1, trace=True).trace
    assert trace is not None
    before = trace.flows.filter(trace.flows["time_s"] <= at).tail(1).row(0, named=True)
    assert {"congestion window", "bytes in flight", "latest RTT", "smoothed RTT", "delivery rate"} <= set(rows)
    assert float(rows["congestion window"].split()[0]) == pytest.approx(before["window_bytes"] / 1e3, rel=0.02)
    assert before["state"] in rows["main"]
    view.mouse.move(2, 2)
    assert box.is_hidden()


def test_the_gestures_are_those_of_the_lab(browser: Browser, figure: Path) -> None:
    """Drag looks closer, Shift and drag moves along, Ctrl and the wheel looks closer, a double click shows all."""
    view = opened(browser, figure)

    def ticks() -> list[float]:
        labels: list[str] = view.evaluate(
            "[...[...document.querySelectorAll('.role-axis')]"
            ".find((axis) => axis.querySelector('.role-axis-title')?.textContent === 'time (s)')"
            ".querySelectorAll('.role-axis-label text')].map((one) => one.textContent)"
        )
        return sorted(map(float, labels))

    panel = view.locator("g.mark-group.role-scope > g > path.background").first.bounding_box()
    assert panel is not None
    middle = (panel["x"] + panel["width"] / 2, panel["y"] + panel["height"] / 2)
    whole = ticks()
    view.mouse.move(*middle)
    view.mouse.wheel(0, -400)
    assert ticks() == whole  # the page scrolls; the figure stays
    view.evaluate("scrollTo(0, 0)")
    view.keyboard.down("Control")
    view.mouse.move(*middle)
    view.mouse.wheel(0, -400)
    view.keyboard.up("Control")
    view.wait_for_timeout(300)
    near = ticks()
    assert max(near) - min(near) < 0.7 * (max(whole) - min(whole))
    view.keyboard.down("Shift")
    view.mouse.down()
    view.mouse.move(middle[0] - 150, middle[1])
    view.mouse.up()
    view.keyboard.up("Shift")
    view.wait_for_timeout(300)
    assert min(ticks()) > min(near)
    view.mouse.dblclick(*middle)
    view.wait_for_timeout(300)
    assert ticks() == whole
    view.mouse.move(panel["x"] + panel["width"] / 4, middle[1])
    view.mouse.down()
    view.mouse.move(*middle)
    assert view.locator(".cursor-range").is_visible()
    view.mouse.up()
    view.wait_for_timeout(300)
    part = [share * max(whole) for share in (0.2, 0.6)]
    assert part[0] < min(ticks()) < max(ticks()) < part[1]
    assert view.locator(".cursor-range").is_hidden()
    view.mouse.dblclick(*middle)
    view.wait_for_timeout(300)
    assert ticks() == whole


def test_on_paper_all_is_open_and_drawn(browser: Browser, report: Path, tmp_path: Path) -> None:
    view = opened(browser, report)
    paper = tmp_path / "report.pdf"
    view.pdf(path=paper)
    assert paper.stat().st_size > 50_000
    view.emulate_media(media="print")
    assert view.locator(".bar").is_hidden()
    assert view.evaluate("[...document.querySelectorAll('figure')].every((one) => 'drawn' in one.dataset)")


def test_a_study_page_begins_with_answers_and_figures_and_can_be_run_again(read: Read, study: Path) -> None:
    view = read("study")
    order = view.evaluate("[...document.querySelectorAll('main section')].map((one) => one.id)")
    assert order.index("rows") > order.index("checks")
    assert order[-3:] == ["rows", "scenarios", "parameters"]
    document = json.loads((study.parent / "experiment.json").read_text(encoding="utf-8"))
    command = view.locator(".top .command").inner_text()
    assert command == document["command"]
    assert command.startswith("thalweg study fairness --controller c4 --controller cubic --buffer 1.0")
    assert document["settings"]["duration"] == "20s"
    assert "duration" in view.locator("#parameters").inner_text()


def test_on_a_telephone_facets_of_a_study_stand_in_a_column(browser: Browser, tmp_path: Path) -> None:
    from thalweg.experiments.studies.fairness.figures import (  # noqa: PLC0415 - altair takes half a second
        plot_condition,
    )
    from thalweg.pages.figures.figure import figure as ours  # noqa: PLC0415

    names = ("c4", "cubic", "bbr")
    rows = [
        {"first": first, "second": second, "buffer": size, "first_of_fair": 0.5 + size / 10}
        for first in names
        for second in names
        for size in (1, 2, 4)
    ]
    page = tmp_path / "facets.html"
    ours(plot_condition(rows, "buffer", "buffer (bdp)", "Shares")).save(page)
    places = """[...document.querySelectorAll('figure svg .cell > g > path.background')]
      .map((one) => one.getBoundingClientRect()).map(({left, width}) => [Math.round(left), Math.round(width)])"""
    narrow = opened(browser, page, 400).evaluate(places)
    assert len({left for left, _ in narrow}) == 1
    assert min(width for _, width in narrow) > 200
    wide = opened(browser, page, 1300).evaluate(places)
    assert len({left for left, _ in wide}) == len(wide) == 3


@pytest.mark.parametrize("width", WIDTHS)
def test_the_title_of_a_drawing_is_not_below_its_menu(width: int, read: Read) -> None:
    places = """[...document.querySelectorAll('figure')].map((one) => {
      const menu = one.querySelector('summary').getBoundingClientRect();
      const titles = [...one.querySelectorAll('svg .role-title-text')].map((text) => text.getBoundingClientRect());
      return titles.map(({right, top}) => right <= menu.left || top >= menu.bottom);
    })"""
    found = read("study", width).evaluate(places)
    assert len(found) == 2
    assert all(found_in and all(found_in) for found_in in found)


def test_a_distribution_can_be_read_at_the_cursor(browser: Browser, folder: Path) -> None:
    page = folder / "distribution.html"
    plot_distribution(Scenario.from_toml(SCENARIO, "short").trials(5)).save(page)
    view = opened(browser, page)
    panel = view.locator("g.mark-group.role-scope > g > path.background").nth(1).bounding_box()
    assert panel is not None
    view.mouse.move(panel["x"] + panel["width"] - 2, panel["y"] + 20)
    assert view.locator(".cursor-box td").nth(1).inner_text() == "100 %"
