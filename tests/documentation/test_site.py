"""The site of the manual: it builds without a warning, needs no network, is searched, and fits a phone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from docs.site.command_line import command_line
from docs.site.sources import chapters, generated
from documentation.blocks import ROOT
from documentation.unchanged import manual
from lab.conftest import Quiet
from thalweg import Scenario, _native
from thalweg.cli import commands

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.timeout(600), pytest.mark.soak]
WIDTHS = (1600, 1300, 1080, 400)
LOOKED_AT = [
    "index",
    "how-to/ten-minutes",
    "reference/scenarios",
    "reference/command-line",
    "reference/api",
    "reference/schema",
    "evidence/fidelity",
]
LESSONS = re.findall(
    r'^  id: "([\w-]+)"',
    "".join(file.read_text(encoding="utf-8") for file in (ROOT / "lab/src/lessons").glob("*.ts")),
    re.MULTILINE,
)
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` builds it; that of the same pages and package is there already."""
    kept = ROOT / "target" / "lanes" / f"site-{manual()[:16]}"
    if kept.is_dir():
        return kept
    folder = tmp_path_factory.mktemp("site")
    words = ["--fail-on-warning", "--keep-going", "--quiet", "-c", "docs/site", "-d", str(folder / "read")]
    command = [sys.executable, "-m", "sphinx", *words, ".", str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for older in kept.parent.glob("site-*"):
        if not older.name.startswith(kept.name):
            shutil.rmtree(older, ignore_errors=True)
    whole = kept.with_name(f"{kept.name}-{os.getpid()}")
    shutil.copytree(folder / "site", whole)
    try:
        whole.rename(kept)
    except OSError:  # another worker has it
        shutil.rmtree(whole)
    return folder / "site"


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
            if file == (site / "lab" / "index.html").resolve():
                lesson = re.fullmatch(r"(?:lesson=([\w-]+))?", anchor)
                if lesson is None or (lesson[1] and lesson[1] not in LESSONS):
                    broken.append(f"{page.relative_to(site)}: {target}")
                continue
            known = ids.get(file)
            if not file.exists() or (anchor and known is not None and anchor not in known):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_the_reference_has_every_command_key_and_name(site: Path) -> None:
    text = command_line()
    for name in commands.COMMANDS:
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
    # Options keep both of their dashes, and numbers stay on a line with their unit.
    commands_page = (site / "docs/reference/command-line.html").read_text(encoding="utf-8")
    assert "with --live, of the last" in commands_page
    verdicts = (site / "docs/evidence/verdicts.html").read_text(encoding="utf-8")
    assert re.search(r"<p>4\.457\xa0s \[4\.457,\xa04\.457\]</p>", verdicts)
    with pytest.raises(KeyError):
        generated("<!-- generated: nothing -->\n")


def test_the_search_finds_without_a_network_or_a_server(site: Path, browser: Browser) -> None:
    page = opened(browser, site / "search.html", query="?q=policer")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    found: list[Any] = page.eval_on_selector_all("#search-results li a", "all => all.map(one => one.textContent)")
    assert "All keys of a scenario > Policer" in found, found
    page.context.close()


@pytest.fixture(scope="module")
def with_lab(site: Path) -> Path:
    """The site, if the lab was built before it."""
    if "assets" not in (site / "lab" / "index.html").read_text(encoding="utf-8"):
        assert "CI" not in os.environ, "the site has no lab: make lab"
        pytest.skip("the site has no lab: make lab")
    return site


@pytest.fixture(scope="module")
def served(with_lab: Path) -> Iterator[str]:
    """The site behind a plain web server, in a folder of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=with_lab.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{with_lab.name}"
    server.shutdown()


def test_the_site_has_a_lab_that_runs_the_native_trial(served: str, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/lab/index.html")
    page.wait_for_selector("[data-ready]", timeout=60_000)
    native = Scenario.load("c4/simple-20mbps").run(seed=1)
    assert page.locator("[data-hash]").inner_text() == native.trace_hash
    assert page.url == f"{served}/lab/index.html"
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []
    page.close()


def test_each_lesson_that_the_manual_names_is_opened_by_its_link(served: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{served}/docs/how-to/lab.html")
    links = page.locator("#lessons table a")
    assert {link.split("#lesson=")[1] for link in links.evaluate_all("all => all.map(one => one.href)")} == set(
        LESSONS
    )
    link = links.nth(3)
    title = link.inner_text()
    link.click()
    page.wait_for_selector("[data-ready]", timeout=60_000)
    assert page.locator(".lesson h2").inner_text().lower() == title.lower()
    page.goto(f"{served}/lab/index.html#lesson=none")
    assert 'no lesson "none"' in page.get_by_role("alert").inner_text()
    page.close()


def test_from_a_disk_the_lab_says_what_it_needs(with_lab: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((with_lab / "lab" / "index.html").as_uri())
    page.get_by_text("python3 -m http.server").wait_for(timeout=20_000)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_the_screen_in_light_and_dark(site: Path, browser: Browser, scheme: Scheme) -> None:
    for name in LOOKED_AT:
        page = opened(browser, site / f"docs/{name}.html", max(WIDTHS), scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert wide[0] <= wide[1] == width, f"{name} scrolls sideways: {wide}"
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            brightness = sum(int(part) for part in re.findall(r"\d+", ground)[:3]) / 3
            assert (brightness > 128) == (scheme == "light"), f"{name}: {ground}"
            if folder := os.environ.get("SCREENSHOTS"):
                page.screenshot(path=Path(folder) / f"{name.replace('/', '-')}-{width}-{scheme}.png")
        page.context.close()
