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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

Scheme = Literal["light", "dark"]
Open: TypeAlias = "Callable[..., Page]"
Load: TypeAlias = "Callable[[str, int, Scheme, str], Page]"
"""Address, width, scheme, and a script that runs before those of the page."""
OPEN = """(wanted) => {
  const {text, name} = thalweg.scenarios.find(({name}) => name === wanted);
  return thalweg.open(text, name);
}"""
STOP = "thalweg.stop()"
"""Leaves the hundred trials beside the one that is shown until something changes: they take a second of a core."""
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

    def watch(self, view: Page, own: str) -> Callable[[], None]:
        """Hears a page, until what is returned is called."""

        def thrown(error: object) -> None:
            self.append(str(error))

        def said(message: ConsoleMessage) -> None:
            if message.type == "error":
                self.append(message.text)

        def asked(request: Request) -> None:
            if not request.url.startswith((own, "blob:", "data:")):
                self.append(request.url)

        heard: list[tuple[Any, Any]] = [("pageerror", thrown), ("console", said), ("request", asked)]
        for event, hear in heard:
            view.on(event, hear)

        def stop() -> None:
            for event, hear in heard:
                view.remove_listener(event, hear)

        return stop


@pytest.fixture
def problems() -> Iterator[Problems]:
    """A test that opens a page fails for each error on its console and each request to another place."""
    found = Problems()
    yield found
    assert found == []


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[list[Page]]:
    """The page that the tests of a module share; it is closed with them."""
    pages: list[Page] = []
    yield pages
    for view in pages:
        if not view.is_closed():
            view.context.close()


@pytest.fixture
def load(browser: Browser, kept: list[Page], problems: Problems) -> Iterator[Load]:
    """Loads an address into the page of the module, or into another one, if the test has that already.

    Loading anew resets all that a page knows, with half of the processor time that another page takes. After the
    test nothing is left there: a page goes on with its trials, and a server gives its processes to a few pages.
    """
    used: list[Page] = []
    deaf: list[Callable[[], None]] = []

    def load_(address: str, width: int, scheme: Scheme, script: str) -> Page:
        if used or script or not kept or kept[0].is_closed():
            view = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
            if not used and not script:
                kept[:] = [view]
        else:
            view = kept[0]
            view.set_viewport_size({"width": width, "height": 900})
            view.emulate_media(color_scheme=scheme, reduced_motion="no-preference")
        used.append(view)
        if script:
            view.add_init_script(script)
        deaf.append(problems.watch(view, address[: address.rindex("/") + 1]))
        view.goto(address)
        return view

    yield load_
    for stop in deaf:
        stop()
    for view in used:
        if view.is_closed():
            continue
        if view in kept:
            view.unroute_all()
            view.mouse.move(0, 0)
            view.goto("about:blank")
        else:
            view.context.close()


@pytest.fixture(scope="module")
def loaded(browser: Browser, static: str) -> Iterator[Page]:
    """A page whose first trials are shown."""
    view = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light").new_page()
    view.goto(static)
    view.wait_for_selector("[data-settled]", timeout=60_000)
    yield view
    view.context.close()


@pytest.fixture
def one_page(loaded: Page, static: str, problems: Problems) -> Iterator[Page]:
    """The page that tests of a module have one after the other: they ask its engine, or it refuses a file.

    To load it for each would take most of their time.
    """
    stop = problems.watch(loaded, static[: static.rindex("/") + 1])
    yield loaded
    stop()


@pytest.fixture
def opened(load: Load, static: str) -> Open:
    """Opens the page and waits until a trial is shown: that of the fragment, else one of `scenario`."""

    def open_(
        fragment: str = "",
        width: int = 1400,
        scheme: Scheme = "light",
        settled: bool = False,
        scenario: str | None = "c4/bad-wifi",
    ) -> Page:
        view = load(static + fragment, width, scheme, "")
        view.wait_for_selector("[data-ready]", timeout=60_000)
        if not fragment and scenario is not None:
            view.evaluate(OPEN, scenario)
            if not settled:
                view.evaluate(STOP)
        if settled:
            view.wait_for_selector("[data-settled]", timeout=60_000)
        return view

    return open_


def shown_hash(view: Page) -> str:
    """The trace hash that the page shows."""
    return view.locator("[data-hash]").inner_text()


def shows(view: Page, trace_hash: str) -> None:
    """Waits for a trial, and not for the hundred beside it."""
    for _ in range(600):
        if shown_hash(view) == trace_hash:
            return
        view.wait_for_timeout(100)
    assert shown_hash(view) == trace_hash
