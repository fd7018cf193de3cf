"""The files of controllers that a reader brings along: shown as they are, never lost, read by their endings."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.conftest import Open, shown_hash
from thalweg import Scenario

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
OWN = Path(__file__).parents[2] / "lab" / "src" / "own"
NEWRENO = (OWN / "newreno.js").read_text()
AIMD = (OWN / "aimd.js").read_text()


def test_a_dropped_controller_is_shown_and_runs_only_when_chosen(opened: Open, tmp_path: Path) -> None:
    view = opened()
    before = shown_hash(view)
    file = tmp_path / "drop.js"
    file.write_text(AIMD)
    view.locator("header.top input[type=file]").set_input_files(file)
    view.get_by_role("button", name="Let it steer main").wait_for()
    assert "static options" in view.locator(".cm-content").inner_text()
    assert view.locator("iframe").count() == 0
    assert shown_hash(view) == before
    (tmp_path / "picture.gif").write_bytes(b"GIF89a")
    view.locator("header.top input[type=file]").set_input_files(tmp_path / "picture.gif")
    view.get_by_role("alert").wait_for()
    assert "picture.gif: the lab cannot read it; accepted" in view.get_by_role("alert").inner_text()


def test_a_file_that_is_dropped_again_is_shown_and_stays(opened: Open, tmp_path: Path) -> None:
    view = opened()
    file = tmp_path / "mine.js"
    for code in (AIMD, AIMD.replace("0.7", "0.61")):
        file.write_text(code)
        view.locator("header.top input[type=file]").set_input_files(file)
        view.locator(".cm-content", has_text="0.61" if "0.61" in code else "0.7").wait_for()
    view.get_by_role("tab", name="Scenario").click()
    view.get_by_role("tab", name="Controller").click()
    view.locator(".cm-content", has_text="0.61").wait_for()
    # What is typed is kept, also if the tab is left at once.
    view.locator(".cm-content").click()
    view.keyboard.press("Control+Home")  # an editor draws the lines that are seen, from the first on
    view.keyboard.insert_text("// typed")
    view.get_by_role("tab", name="Scenario").click()
    view.get_by_role("tab", name="Controller").click()
    view.locator(".cm-content", has_text="// typed").wait_for()


def test_own_files_stay_when_a_link_is_opened(opened: Open, tmp_path: Path) -> None:
    view = opened()
    plain = view.evaluate("thalweg.link()")
    theirs = opened()
    theirs.evaluate("(code) => thalweg.bring('mine.js', code)", NEWRENO)
    theirs.evaluate("thalweg.controllers({main: './mine.js'})")
    link = theirs.evaluate("thalweg.link()")
    view.evaluate("(code) => thalweg.bring('mine.js', code)", AIMD)
    view.evaluate("(hash) => { location.hash = hash; }", plain[plain.index("#") :])
    view.locator(".promise").wait_for()
    view.get_by_role("tab", name="Controller").click()
    view.locator(".cm-content", has_text="0.7").wait_for()
    # Code in a link does not take the place of the reader's.
    view.evaluate("(hash) => { location.hash = hash; }", link[link.index("#") :])
    proposal = view.get_by_role("region", name="a controller in a link")
    proposal.get_by_text("yours is kept as mine-2.js").wait_for()
    proposal.get_by_role("button", name="Run this code").click()
    view.locator(".promise").get_by_text("the hashes are equal").wait_for()
    view.get_by_label("File", exact=True).select_option("mine-2.js")
    view.locator(".cm-content", has_text="0.7").wait_for()


def test_a_scenario_that_names_an_own_file_is_not_marked(opened: Open) -> None:
    view = opened()
    text = Scenario.load("c4/simple-20mbps", controllers={"main": "reno"}).toml
    view.evaluate("(code) => thalweg.bring('mine.js', code)", AIMD)
    view.get_by_role("tab", name="Scenario").click()
    mark = view.locator(".cm-lint-marker-error")
    view.evaluate("(text) => thalweg.open(text)", text.replace('"reno"', '"./none.js"'))
    mark.wait_for()
    view.evaluate("(text) => thalweg.open(text)", text.replace('"reno"', '"./mine.js"'))
    mark.wait_for(state="detached")
    view.wait_for_timeout(500)
    assert mark.count() == 0


@pytest.mark.parametrize(("name", "called"), [("MINE.WASM", "MINE.wasm"), ("A.MJS", "A.js")])
def test_the_ending_of_a_file_is_read_in_either_case(opened: Open, tmp_path: Path, name: str, called: str) -> None:
    view = opened()
    (tmp_path / name).write_text(AIMD)
    view.locator("header.top input[type=file]").set_input_files(tmp_path / name)
    view.get_by_role("button", name=f"Remove {called}").wait_for()
    assert view.get_by_text("bytes of WebAssembly").count() == (1 if called.endswith(".wasm") else 0)
