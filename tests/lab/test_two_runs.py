"""Two runs side by side: no picture is of another trial than its charts, and each has a name of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open, Problems
from lab.test_packets import both, wait
from lab.test_server import running
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
