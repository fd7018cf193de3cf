"""The lab by keyboard alone, in both modes: what Tab reaches, what has a name, and what each control does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from lab.conftest import Load
from lab.test_server import Lab, running
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.timeout(300)
OpenIn: TypeAlias = "Callable[..., Page]"
MODES = ["static", pytest.param("server", marks=pytest.mark.soak)]
SERVED = pytest.mark.parametrize(
    "opened_in", [pytest.param("static", marks=pytest.mark.soak), "server"], indirect=True
)
"""What trials come with behind a server is another time: there where keys wait for them."""


def paired(widths: Sequence[int], *pairs: tuple[str, int]) -> pytest.MarkDecorator:
    """Some pairs of a mode and a width, and all others in the soak: an engine does not know how wide a page is."""
    cases = [
        pytest.param(mode, width, marks=[] if (mode, width) in pairs else [pytest.mark.soak])
        for mode in ("static", "server")
        for width in widths
    ]
    return pytest.mark.parametrize(("opened_in", "width"), cases, indirect=["opened_in"])


FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  if (!one || one === document.body) return null;
  const {left, top, width, height} = one.getBoundingClientRect();
  const marked = [one, one.closest(".file"), one.querySelector(".reach")].filter(Boolean);
  const number = (window.numbers ??= new Map()).get(one) ?? window.numbers.size;
  window.numbers.set(one, number);
  const last = window.last;
  window.last = one;
  return {
    number,
    words: one.outerHTML.slice(0, 120),
    isMarked: marked.map((shown) => getComputedStyle(shown)).some(({outlineStyle, outlineWidth, stroke}) =>
      (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || stroke !== "none"),
    isSeen: width > 0 && height > 0 && left + width > 0 && left < innerWidth
      && top + height > 0 && top < innerHeight,
    follows: !last || last.getRootNode() !== one.getRootNode()
      || Boolean(last.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING),
  };
}"""
REACHABLE = """() => {
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']");
  return [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.getClientRects().length > 0
    && one.checkVisibility() && getComputedStyle(one).visibility === "visible").length;
}"""
BOTH_AT_ONCE = """async () => {
  document.activeElement.click();
  await new Promise((then) => queueMicrotask(() => queueMicrotask(then)));
  if (document.querySelector(".explanation").hidden) return false;
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  await new Promise((then) => queueMicrotask(() => queueMicrotask(then)));
  return document.querySelector(".explanation").hidden;
}"""
SCROLLED = """async () => {
  const drawn = () => new Promise((then) => queueMicrotask(() => queueMicrotask(then)));
  const [word, box] = [document.activeElement, document.querySelector(".explanation")];
  word.click();
  await drawn();
  dispatchEvent(new Event("scroll"));
  await drawn();
  const stays = !box.hidden;
  word.style.position = "relative";
  word.style.top = "-100px";
  dispatchEvent(new Event("scroll"));
  await drawn();
  word.style.position = word.style.top = "";
  return [stays, box.hidden];
}"""
CUT = """() => [...document.querySelectorAll("button, h2, label, output, .bound, p")].filter((one) =>
  one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline" && one.clientWidth > 0)
  .map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running(tmp_path_factory.mktemp("lab")) as found:
        yield found


@pytest.fixture(params=MODES)
def opened_in(request: pytest.FixtureRequest, load: Load, static: str) -> OpenIn:
    """Opens the page as static files or behind `thalweg lab`, and waits until all that it asked for is shown."""
    address = static if request.param == "static" else request.getfixturevalue("lab").address

    def open_(width: int = 1400, script: str = "") -> Page:
        view = load(address, width, "light", script)
        view.wait_for_selector("[data-settled]", timeout=60_000)
        return view

    return open_


def until(view: Page, script: str) -> None:
    """Waits for a condition; the policy of the page lets no other script of Playwright do so."""
    for _ in range(200):
        if view.evaluate(script):
            return
        view.wait_for_timeout(50)
    pytest.fail(f"never: {script}")


def walk(view: Page, most: int = 200) -> list[dict[str, Any]]:
    """What Tab reaches behind the first link of the page, until it leaves the page or comes round."""
    view.keyboard.press("Tab")  # from now on keys are what moves the focus
    view.evaluate("window.last = null; window.numbers = new Map(); document.querySelector('.skip').focus()")
    found = [view.evaluate(FOCUSED)]
    for _ in range(most):
        view.keyboard.press("Tab")
        now = view.evaluate(FOCUSED)
        if now is None or now["number"] in {one["number"] for one in found}:
            return found
        found.append(now)
    pytest.fail(f"Tab does not come to an end: {found[-5:]}")


@paired((1400, 400), ("static", 400), ("server", 1400))
@pytest.mark.parametrize("tab", ["Path", pytest.param("Sweep", marks=pytest.mark.soak), "Lessons"])
def test_tab_reaches_every_control_in_order_where_it_is_seen(opened_in: OpenIn, tab: str, width: int) -> None:
    view = opened_in(width)
    view.get_by_role("tab", name=tab).click()
    view.wait_for_selector("[data-settled]")
    found = walk(view)
    assert len(found) >= view.evaluate(REACHABLE) > 25
    assert [one["words"] for one in found if not one["isSeen"]] == []
    assert [one["words"] for one in found if not one["isMarked"]] == []
    assert [one["words"] for one in found if not one["follows"]] == []
    view.keyboard.press("Shift+Tab")  # back from the end, and no trap there either
    assert view.evaluate(FOCUSED) is not None


def test_every_control_has_a_name_for_screen_readers(opened_in: OpenIn) -> None:
    view = opened_in()
    view.get_by_role("button", name="Keep this run to compare").click()
    for tab in ("Path", "Scenario", "Sweep", "Lessons"):
        view.get_by_role("tab", name=tab).click()
        tree = view.locator("body").aria_snapshot()
        controls = ("button", "slider", "combobox", "textbox", "spinbutton", "tab", "link", "radio", "group")
        nameless = [
            line.strip()
            for line in tree.splitlines()
            if line.strip().rstrip(":") in {f"- {one}" for one in controls}
        ]
        assert nameless == [], tab


def test_the_editor_lets_the_keyboard_go(opened_in: OpenIn) -> None:
    view = opened_in()
    view.get_by_role("tab", name="Scenario").focus()
    view.get_by_role("tab", name="Path").focus()
    view.keyboard.press("ArrowRight")
    view.locator(".cm-content").wait_for()
    view.keyboard.press("Tab")
    assert "contenteditable" in view.evaluate(FOCUSED)["words"]
    before = view.evaluate("thalweg.shown.setup.text")
    view.keyboard.press("Tab")
    assert view.evaluate("thalweg.shown.setup.text") != before  # it indents
    view.keyboard.press("Escape")
    view.keyboard.press("Tab")
    assert "contenteditable" not in view.evaluate(FOCUSED)["words"]
    view.keyboard.press("Shift+Tab")
    assert "contenteditable" in view.evaluate(FOCUSED)["words"]
    assert "Escape" in view.locator("#tab-panel").inner_text()


@SERVED
def test_controls_of_the_path_do_their_work_by_keys(opened_in: OpenIn) -> None:
    view = opened_in()
    press = view.keyboard.press

    view.get_by_role("link", name="Skip to the trial").focus()
    press("Enter")
    assert view.evaluate("document.activeElement.id") == "trial"

    view.locator("#controller-main").focus()  # a list
    view.keyboard.type("reno")
    until(view, "thalweg.shown.trial.outcomes.flows.controller.words[0] === 'reno'")
    view.get_by_label("Round-trip time", exact=True).and_(view.locator("input")).focus()  # a slider
    press("ArrowRight")
    until(view, "'path.rtt' in thalweg.shown.setup.sets")
    view.locator("#seed").focus()  # a number
    press("ArrowUp")
    until(view, "thalweg.shown.trial.seed === 2n")
    view.get_by_role("button", name="Undo all changes").focus()
    press("Enter")
    until(view, "Object.keys(thalweg.shown.setup.sets).length === 0")
    assert view.evaluate("document.activeElement.textContent") == "Undo all changes"
    view.wait_for_selector("[data-settled]")
    assert view.locator("[data-hash]").inner_text() == Scenario.load("c4/simple-20mbps").run(seed=2).trace_hash


def test_what_is_shown_is_opened_read_and_taken_away_by_keys(opened_in: OpenIn) -> None:
    view = opened_in()
    press = view.keyboard.press

    view.locator("summary", has_text="Note").focus()  # what unfolds
    press("Enter")
    assert view.locator("details[open]").count() == 1

    view.locator(".legend .term").last.focus()  # a word that explains itself, at the end of the page
    press("Enter")
    box = view.locator(".explanation").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
    press("Escape")
    assert view.locator(".explanation").is_hidden()
    assert "term" in view.evaluate(FOCUSED)["words"]
    assert view.evaluate(BOTH_AT_ONCE)  # before another frame is drawn
    stays_with_its_word, closes_without = view.evaluate(SCROLLED)
    assert stays_with_its_word
    assert closes_without

    view.locator(".stack").focus()  # a chart
    press("+")
    press("ArrowRight")
    assert view.evaluate("thalweg.shown.cursor") > 0
    view.get_by_role("button", name="All", exact=True).focus()
    press("Space")
    assert view.evaluate("thalweg.shown.view.from") == 0
    assert view.evaluate("document.activeElement.textContent") == "All"

    view.locator('.dot[tabindex="0"]').focus()  # dots
    dot = view.evaluate("document.activeElement.dataset.trial")
    press("ArrowRight")
    until(view, "thalweg.shown.trial.seed !== 1n")
    until(view, f"document.activeElement.dataset.trial !== '{dot}'")  # the focus follows a frame later

    with view.expect_file_chooser():  # a file; what asks the page first keeps the key from overtaking the wait
        view.locator("header input[type=file]").focus()
        press("Space")
    view.get_by_role("button", name="dark colours").focus()
    press("Enter")
    assert view.evaluate("document.documentElement.dataset.scheme") == "dark"
    view.get_by_role("button", name="CSV of flows").focus()
    with view.expect_download():
        press("Enter")


@SERVED
def test_the_focus_stays_with_a_lesson(opened_in: OpenIn) -> None:
    view = opened_in()
    view.get_by_role("tab", name="Lessons").click()
    view.get_by_role("button", name="Bufferbloat").focus()
    view.keyboard.press("Enter")
    until(view, "document.activeElement.textContent === 'Bufferbloat'")  # the heading of the lesson
    view.keyboard.press("Tab")
    view.keyboard.press("Space")
    view.keyboard.press("Tab")
    view.keyboard.press("Enter")
    view.locator(".lesson table").wait_for(timeout=60_000)
    assert "promise" in view.evaluate("document.activeElement.className")
    view.get_by_role("button", name="All lessons").first.focus()
    view.keyboard.press("Enter")
    until(view, "document.activeElement.textContent === 'Bufferbloat'")  # its place in the list, a frame later


SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const {value, hadRecentInput} of list.getEntries()) if (!hadRecentInput) shifted += value;
}).observe({type: "layout-shift", buffered: true});
"""


@paired((2560, 1400, 800, 360), ("static", 360), ("server", 1400))
def test_nothing_moves_by_itself_while_the_page_opens_and_trials_run(opened_in: OpenIn, width: int) -> None:
    view = opened_in(width, SHIFTS)
    assert view.evaluate("shifted") < 0.01
    view.evaluate("thalweg.set({'path.rate': '\"12 Mbps\"'})")
    view.wait_for_selector("[data-settled]")
    view.wait_for_timeout(200)
    assert view.evaluate("shifted") < 0.01


@paired((360, 1400, 2560), ("static", 360))
def test_text_of_twice_the_size_has_its_room(opened_in: OpenIn, width: int) -> None:
    view = opened_in(width)
    small = view.evaluate("[...document.querySelectorAll('canvas, .dots svg')].map((one) => one.clientHeight)")
    view.evaluate("document.documentElement.style.fontSize = '200%'")
    view.wait_for_timeout(300)
    large = view.evaluate("[...document.querySelectorAll('canvas, .dots svg')].map((one) => one.clientHeight)")
    assert large == pytest.approx([2 * height for height in small], abs=1)
    for tab in ("Scenario", "Sweep", "Lessons", "Path"):
        view.get_by_role("tab", name=tab).click()
        assert view.evaluate("document.scrollingElement.scrollWidth") <= width
        assert view.evaluate(CUT) == []
