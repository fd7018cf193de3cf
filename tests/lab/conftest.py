"""The page of the lab in Chromium: as static files behind a plain server.

`make lab` builds the page. Where there is none, or no Chromium, the tests are skipped, and fail in CI.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Scheme = Literal["light", "dark"]
Open: TypeAlias = "Callable[..., Page]"
OPEN = """(wanted) => {
  const {text, name} = thalweg.scenarios.find(({name}) => name === wanted);
  return thalweg.open(text, name);
}"""
PAGE = Path(str(files("thalweg"))) / "lab" / "page"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


@pytest.fixture(scope="session")
def static() -> Iterator[str]:
    """The address of the page as static files."""
    if not (PAGE / "index.html").exists():
        assert "CI" not in os.environ, "the page of the lab is missing: make lab"
        pytest.skip("the page of the lab is missing: make lab")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


class Problems(list[str]):
    """What the console and the network of a page have complained of."""

    def watch(self, view: Page, own: str) -> None:
        view.on("pageerror", lambda error: self.append(str(error)))
        view.on("console", lambda message: self.append(message.text) if message.type == "error" else None)
        view.on(
            "request",
            lambda request: None if request.url.startswith((own, "blob:", "data:")) else self.append(request.url),
        )


@pytest.fixture
def problems() -> Iterator[Problems]:
    """A test that opens a page fails for each error on its console and each request to another place."""
    found = Problems()
    yield found
    assert found == []


@pytest.fixture
def opened(browser: Browser, static: str, problems: Problems) -> Iterator[Open]:
    """Opens the page and waits until a trial is shown: that of the fragment, else one of `scenario`.

    It is closed after the test: pages that stay open go on with their trials.
    """
    contexts = []

    def open_(
        fragment: str = "",
        width: int = 1400,
        scheme: Scheme = "light",
        settled: bool = False,
        scenario: str | None = "c4/bad-wifi",
    ) -> Page:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        view = contexts[-1].new_page()
        problems.watch(view, static.removesuffix("index.html"))
        view.goto(static + fragment)
        view.wait_for_selector("[data-ready]", timeout=60_000)
        if not fragment and scenario is not None:
            view.evaluate(OPEN, scenario)
        if settled:
            view.wait_for_selector("[data-settled]", timeout=60_000)
        return view

    yield open_
    for context in contexts:
        context.close()


def shown_hash(view: Page) -> str:
    """The trace hash that the page shows."""
    return view.locator("[data-hash]").inner_text()
