"""The site of the manual: it builds without a warning, needs no network, is searched, and fits a phone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from docs.site.command_line import command_line
from docs.site.sources import chapters, generated
from documentation.blocks import ROOT
from thalweg import _native
from thalweg.cli import commands

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (Debian's package chromium)")
pytestmark = pytest.mark.timeout(600)
WIDTHS = [1300, 400]
LOOKED_AT = [
    "index",
    "how-to/ten-minutes",
    "scenarios",
    "reference/command-line",
    "reference/api",
    "reference/schema",
    "fidelity",
]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    words = ["--fail-on-warning", "--keep-going", "--quiet", "-c", "docs/site", "-d", str(folder / "read")]
    command = [sys.executable, "-m", "sphinx", *words, ".", str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a test without Chromium needs none

    with sync_playwright() as playwright:
        # Root has no sandbox, and CI is root.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser: Browser, file: Path, width: int = 1300, scheme: Scheme = "light", query: str = "") -> Page:
    """A page from the disk; what it asks of a network fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri() + query)
    page.wait_for_load_state("load")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    return page


def test_every_page_of_the_manual_is_on_the_site_and_in_a_chapter(site: Path) -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    listed = {f"docs/{name}" for pages in chapters(index).values() for name in pages}
    listed = {os.path.normpath(name) for name in listed}
    of_peers = (ROOT / "docs/reference/index.md").read_text(encoding="utf-8")
    listed |= {f"docs/reference/{name}" for pages in chapters(of_peers).values() for name in pages}
    written = {str(page.relative_to(ROOT).with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}
    assert written - listed == {"docs/index"}
    assert [name for name in listed if not (site / f"{name}.html").is_file()] == []
    assert "docs/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)="(https?:)?//[^"]*""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 45
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []


def test_links_within_the_site_lead_somewhere(site: Path) -> None:
    broken = []
    ids: dict[Path, set[str]] = {}
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        ids[page.resolve()] = set(re.findall(r'\bid="([^"]+)"', text))
    for page in site.rglob("*.html"):
        for target in re.findall(r'<a [^>]*?href="([^"]+)"', page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (page.parent / path).resolve() if path else page.resolve()
            known = ids.get(file)
            if not file.exists() or (anchor and known is not None and anchor not in known):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_the_reference_has_every_command_key_and_name(site: Path) -> None:
    text = command_line()
    for name in commands._COMMANDS:
        assert re.search(rf"^## thalweg {name}$", text, re.MULTILINE), name
    assert "| `--trials`, `-n` |" in text
    schema = (site / "docs/reference/schema.html").read_text(encoding="utf-8")
    for key in ("allow_unseeded", "skip_after", "fraction", "queue"):
        assert key in schema
    api = (site / "docs/reference/api.html").read_text(encoding="utf-8")
    for name in ("Scenario.load", "Outcomes.verdict", "Trace.save", "ScenarioError", "plot_trials"):
        assert f'id="thalweg.{name}"' in api or re.search(rf'id="thalweg\.[\w.]*{re.escape(name)}"', api), name
    for metric in _native.metrics():
        assert f"`{metric['name']}`" in (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    with pytest.raises(KeyError):
        generated("<!-- generated: nothing -->\n")


@needs_chromium
def test_the_search_finds_without_a_network_or_a_server(site: Path, browser: Browser) -> None:
    page = opened(browser, site / "search.html", query="?q=policer")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    found: list[Any] = page.eval_on_selector_all("#search-results li a", "all => all.map(one => one.textContent)")
    assert any("Scenarios" in one or "Models" in one or "Link" in one for one in found), found
    page.context.close()


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_the_screen_in_light_and_dark(site: Path, browser: Browser, width: int, scheme: Scheme) -> None:
    for name in LOOKED_AT:
        page = opened(browser, site / f"docs/{name}.html", width, scheme)
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1], f"{name} scrolls sideways: {wide}"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(part) for part in re.findall(r"\d+", ground)[:3]) / 3
        assert (brightness > 128) == (scheme == "light"), f"{name}: {ground}"
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{name.replace('/', '-')}-{width}-{scheme}.png")
        page.context.close()
