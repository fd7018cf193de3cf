"""Chromium for tests of pages, one for each module: Playwright allows no two at once in a process.

`make browser` gets it where it may. Without it tests are skipped, and fail in CI.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Scheme = Literal["light", "dark"]

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
"""Without the parts that draw windows, tests take a seventh less time."""
CHROMIUM = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a test without Chromium needs none

    if CHROMIUM is None:
        assert "CI" not in os.environ, "there is no Chromium (Debian's package chromium): make browser"
        pytest.skip("there is no Chromium (Debian's package chromium): make browser")
    with sync_playwright() as playwright:
        # Root has no sandbox, and CI is root.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser: Browser, page: Path, width: int = 1300, scheme: Scheme = "light", anchor: str = "") -> Page:
    """A page of figures with all of them drawn, which has asked no network and said no error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    view = context.new_page()
    problems: list[str] = []
    view.on("pageerror", lambda error: problems.append(str(error)))
    view.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    view.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    view.goto(page.as_uri() + anchor)
    view.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    assert problems == []
    return view


def serious(view: Page) -> dict[str, list[str]]:
    """What axe finds on a page that keeps people out, with some of its places."""
    view.evaluate(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = view.evaluate("axe.run().then((result) => result.violations)")
    return {
        violation["id"]: [node["html"][:200] for node in violation["nodes"]][:3]
        for violation in found
        if violation["impact"] in ("serious", "critical")
    }
