"""Two runs: each has its own row, verdict, curves, packets and name, and its place in a link."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import PAGE, Open, Problems
from lab.test_packets import both, wait
from lab.test_server import running
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.timeout(300)
SIMPLE = Scenario.load("c4/simple-20mbps").toml
LINKS = """title = "two links"
[[link]]
name = "near"
rate = "50 Mbps"
rtt = "10 ms"
[[link]]
name = "far"
rate = "10 Mbps"
rtt = "10 ms"
buffer = "20 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "1 MB"
route = ["near", "far"]
"""
COMPARED = """async () => {
  await thalweg.keep();
  await thalweg.controllers({main: "bbr"});
  await thalweg.set({"path.buffer": '"20 ms"'});
}"""


def write(file: Path, window: int) -> None:
    """A controller with a window in bytes: of different lengths, for Python tells files apart by that too."""
    file.write_text(
        "import thalweg\n\n\nclass Mine(thalweg.Controller):\n"
        f"    def on_ack(self, event, path):\n        self.window = {window}\n"
    )


def said(view: Page) -> str:
    view.get_by_role("alert").wait_for(timeout=120_000)
    return view.get_by_role("alert").inner_text()


def test_packets_of_a_file_that_has_changed_since_are_refused(
    browser: Browser, static: str, problems: Problems, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    write(file, 30_000)
    with running(tmp_path, "--python") as lab:
        view = lab.page(browser, problems)
        view.evaluate("(text) => thalweg.open(text, 'simple')", SIMPLE)
        view.evaluate("thalweg.controllers({main: './mine.py'})")
        view.evaluate("thalweg.keep()")
        write(file, 120_000)
        view.evaluate("thalweg.watch()")
        assert "the file of ./mine.py has changed since this run; run it again" in said(view)
        # Run again, it is shown; but not the kept one.
        view.evaluate("thalweg.rerun()")
        kept, present = view.evaluate("[thalweg.shown.kept.hash, thalweg.shown.trial.hash]")
        assert kept != present
        view.evaluate("thalweg.watch()")
        assert "the file of ./mine.py has changed since the kept run; run it again" in said(view)
        view.evaluate("thalweg.keep()")
        view.evaluate("thalweg.rerun()")
        view.evaluate("thalweg.watch()")
        wait(view)
        assert view.get_by_role("alert").count() == 0
        view.context.close()


def test_runs_of_the_same_name_are_told_apart(opened: Open) -> None:
    view = opened()
    view.evaluate("thalweg.watch()")
    view.evaluate("thalweg.keep()")
    both(view)
    kept, present = view.locator(".watch h3").all_inner_texts()
    assert kept.removesuffix(" (kept)") == present.removesuffix(" (now)") != kept
    view.evaluate("thalweg.controllers({main: 'bbr'})")
    both(view)
    assert not any(name.endswith(")") for name in view.locator(".watch h3").all_inner_texts())


def test_a_link_that_a_trial_does_not_have_is_not_awaited_in_the_next(opened: Open) -> None:
    view = opened()
    view.evaluate("thalweg.watch()")
    wait(view, "down")
    view.evaluate("thalweg.watch(true, 'near')")
    wait(view, "down")
    view.evaluate("(text) => thalweg.open(text, 'links')", LINKS)
    wait(view, "far")


@pytest.fixture
def compared(opened: Open) -> Page:
    view = opened(scenario="c4/simple-20mbps")
    view.evaluate(COMPARED)
    return view


def test_the_kept_run_keeps_its_row_and_its_verdict(compared: Page) -> None:
    rows = compared.locator(".outcome tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows] == [["main", "bbr"], ["main (kept)", "c4"]]
    native = Scenario.load("c4/simple-20mbps").run(seed=1)
    (completion,) = (one.median for one in native.verdict().criteria if one.metric == "completion")
    assert completion != native.flows["completion_s"][0]  # as if it had started when the scenario has it start
    assert f"{completion:.3f} s" in rows[1]
    verdicts = compared.locator(".criteria .kept").all_inner_texts()
    assert len(verdicts) == compared.locator(".criteria li").count() > 0
    assert verdicts[0] == "kept: 4.52 s ✓"
    compared.get_by_role("button", name="Stop comparing").click()
    assert compared.locator(".outcome tbody tr").count() == 1
    assert compared.locator(".kept").count() == 0


def test_two_runs_are_drawn_over_each_other_each_in_one_colour(compared: Page) -> None:
    compared.get_by_label("how two runs are compared").select_option("over each other")
    assert compared.locator(".chart").count() == 1
    panel = compared.locator('[data-panel="window"]')
    entries = panel.locator(".legend li").all_inner_texts()
    assert {entry.strip() for entry in entries} >= {"congestion window, this run", "congestion window, kept"}
    colours = panel.locator(".legend .swatch").evaluate_all("(all) => all.map((one) => one.style.color)")
    names = panel.locator("[data-line]").evaluate_all("(all) => all.map((one) => one.dataset.line)")
    of = dict(zip(names, colours, strict=True))
    own, kept = (
        {of[f"{name}, {run}"] for name in ("congestion window", "bytes in flight")} for run in ("this run", "kept")
    )
    assert len(own) == len(kept) == 1
    assert own != kept
    # Each at the cursor has the number of its own run.
    compared.evaluate("thalweg.point(2)")
    texts = {name: panel.locator(f'[data-line="{name}"]').inner_text() for name in names}
    assert texts["congestion window, kept"] != texts["congestion window, this run"]
    ribbons = compared.locator(".legend.states").count()
    assert ribbons == 2


def test_a_telephone_draws_two_runs_over_each_other(opened: Open) -> None:
    view = opened(width=400, scenario="c4/simple-20mbps")
    view.evaluate(COMPARED)
    assert view.get_by_label("how two runs are compared").input_value() == "over"
    assert view.evaluate("document.scrollingElement.scrollWidth") <= 400


def test_a_link_carries_both_runs(compared: Page, opened: Open) -> None:
    link = compared.evaluate("thalweg.link()")
    now, before = compared.evaluate("[thalweg.shown.trial.hash, thalweg.shown.kept.hash]")
    view = opened(link[link.index("#") :])
    assert view.evaluate("[thalweg.shown.trial.hash, thalweg.shown.kept.hash]") == [now, before]
    assert before == Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
    assert "the hashes are equal" in view.locator(".promise").inner_text()
    assert view.get_by_role("button", name="Copy a link to both trials").is_visible()
    # The next run is compared with the same one.
    view.evaluate("thalweg.seed(2)")
    assert view.evaluate("thalweg.shown.kept.hash") == before


def test_what_hinders_a_link_stands_beside_its_button(browser: Browser, opened: Open) -> None:
    view = opened(scenario="c4/simple-20mbps")
    assert "of this machine" in view.locator(".hindered").inner_text()

    def serve(route: Route) -> None:
        file = PAGE / route.request.url.partition("lab.example/")[2].partition("#")[0]
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        kind = "application/wasm" if file.suffix == ".wasm" else kind
        route.fulfill(status=200, body=file.read_bytes(), content_type=kind)

    public = browser.new_context().new_page()
    public.route("https://lab.example/**", serve)
    public.goto("https://lab.example/index.html")
    public.wait_for_selector("[data-ready]", timeout=60_000)
    assert public.locator(".hindered").count() == 0
    text = Scenario.load("c4/simple-20mbps").toml.replace('controller = "c4"', 'controller = "c4" # not mine.py')
    public.evaluate("(text) => thalweg.open(text)", text)
    assert public.evaluate("thalweg.shown.refusal") is None
