"""What pages take in Chromium: the lab with its engine in WebAssembly, and the report of a suite.

`make bench-browser` prints the table. Times are of the clock, as a reader sees them, so they mean something on an
idle machine only; each is the median of several visits. A report answers once the effect of a click is painted. It
draws the figures that are not yet in sight while the reader does nothing else: clicks go on for four seconds, and
the slowest one says how long that keeps a reader waiting.

Frames: the animation plays c4/bad-wifi at a hundredth of its speed for three seconds, above charts that follow its
cursor. Chromium's tracing (category `devtools.timeline.frame`, off by default) records `ActivateLayerTree`, a
frame that the page has finished, and `DrawFrame`, one that the compositor has drawn, here without a graphics
processor.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
ROUNDS = 5
PAGE = Path(str(files("thalweg"))) / "lab" / "page"
_START_S, _PLAYED_S = 1.0, 3.0
"""When tracing begins, the compositor draws nothing for 0.3 s."""
_CLICKS = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const [summary] = document.querySelectorAll("summary");
  const answered = [];
  while (performance.now() < 4000) {
    const begin = performance.now();
    await new Promise((then) => setTimeout(then));
    summary.click();
    await frame();
    await frame();
    answered.push({after: performance.now(), took: performance.now() - begin});
    await new Promise((then) => setTimeout(then, 50));
  }
  return {first: answered[0].after / 1e3, slowest: Math.max(...answered.map(({took}) => took)) };
}"""
_FRAMES = (
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
)
_SPEEDS = """async () => {
  const {text} = thalweg.scenarios.find(({name}) => name === "c4/simple-20mbps");
  await thalweg.open(text, "c4/simple-20mbps");
  const least = async (trace) => {
    let least = Infinity;
    for (let seed = 1; seed <= 20; seed++) {
      const begin = performance.now();
      await thalweg.run({text}, seed, trace);
      least = Math.min(least, performance.now() - begin);
    }
    return least;
  };
  const [plain, traced] = [await least(false), await least(true)];
  const begin = performance.now();
  for (let rate = 10; rate < 30; rate++) await thalweg.set({"path.rate": `"${rate} Mbps"`});
  const slid = performance.now();
  await thalweg.trials({text});
  return {plain, traced, slider: 20e3 / (slid - begin), hundred: (performance.now() - slid) / 1e3};
}"""


class Row(NamedTuple):
    """One line of the table."""

    name: str
    value: float
    unit: str
    goal: str


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


@contextmanager
def _static() -> Iterator[str]:
    """The address of the lab as static files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


@contextmanager
def _visit(browser: Browser, address: str) -> Iterator[Page]:
    """A page in a context of its own, so that nothing is cached."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    view = context.new_page()
    view.goto(address, wait_until="domcontentloaded")
    yield view
    context.close()


def _first_trial_s(browser: Browser, address: str) -> float:
    with _visit(browser, address) as view:
        view.wait_for_selector("[data-ready]", timeout=60_000)
        return float(view.evaluate("performance.now()")) / 1e3


def _clicks(browser: Browser, address: str) -> dict[str, float]:
    with _visit(browser, address) as view:
        return dict(view.evaluate(_CLICKS))


def _speeds(browser: Browser, address: str) -> dict[str, float]:
    with _visit(browser, address) as view:
        view.wait_for_selector("[data-settled]", timeout=60_000)
        return dict(view.evaluate(_SPEEDS))


def _frames(browser: Browser, address: str) -> dict[str, float]:
    """Events of the tracing for each second of the animation."""
    with _visit(browser, address) as view:
        view.wait_for_selector("[data-settled]", timeout=60_000)
        view.evaluate(
            """async () => {
              await thalweg.open(thalweg.scenarios.find(({name}) => name === "c4/bad-wifi").text, "c4/bad-wifi");
              await thalweg.watch();
              thalweg.point(1);
              thalweg.animate(0.01);
            }"""
        )
        view.wait_for_timeout(500)
        devtools = view.context.new_cdp_session(view)
        found: list[dict[str, Any]] = []
        ended = False

        def end(_: object) -> None:
            nonlocal ended
            ended = True

        devtools.on("Tracing.dataCollected", lambda part: found.extend(part["value"]))
        devtools.on("Tracing.tracingComplete", end)
        devtools.send("Tracing.start", {"traceConfig": {"includedCategories": _FRAMES}})
        view.wait_for_timeout((_START_S + _PLAYED_S) * 1e3)
        devtools.send("Tracing.end")
        while not ended:
            view.wait_for_timeout(20)
        end_us = max(event["ts"] for event in found)
        seen = Counter(event["name"] for event in found if event["ts"] > end_us - _PLAYED_S * 1e6)
        return {name: count / _PLAYED_S for name, count in seen.items()}


def _engine_mb() -> float:
    (engine,) = PAGE.rglob("*.wasm")
    return len(gzip.compress(engine.read_bytes())) / 1e6


def table(browser: Browser, report: Path) -> list[Row]:
    """The lines, with the goals that the project has set itself."""
    with _static() as address:
        first = median(_first_trial_s(browser, address) for _ in range(ROUNDS))
        speeds = [_speeds(browser, address) for _ in range(ROUNDS)]
        frames = [_frames(browser, address) for _ in range(ROUNDS)]

    clicks = [_clicks(browser, report.as_uri()) for _ in range(ROUNDS)]

    def of(name: str) -> float:
        return median(found[name] for found in (clicks if name in clicks[0] else speeds))

    return [
        Row("engine, compressed by gzip", _engine_mb(), "MB", "at most 1"),
        Row("first trial after opening", first, "s", "at most 2"),
        Row("trial of 10 MB", of("plain"), "ms", "at most 8"),
        Row("the same with its trace", of("traced"), "ms", "at most 20"),
        Row("trials while a slider moves", of("slider"), "a second", "at least 20"),
        Row("100 trials of 10 MB", of("hundred"), "s", "at most 1"),
        Row("frames the page finished", median(f["ActivateLayerTree"] for f in frames), "a second", "60"),
        Row("frames the compositor drew", median(f["DrawFrame"] for f in frames), "a second", "60"),
        Row("report of c4", report.stat().st_size / 1e6, "MB", "at most 3"),
        Row("until it answers a click", of("first"), "s", "at most 1"),
        Row("slowest answer to a click", of("slowest"), "ms", "at most 200"),
    ]


def main() -> None:
    """Prints the table, and stores it as JSON."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("there is no Chromium (Debian's package chromium): make browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Path(folder) / "c4"
        suite = [str(ROOT / ".venv/bin/thalweg"), "suite", "c4", "--out", str(store)]
        status = subprocess.run(suite, check=False, stdout=subprocess.DEVNULL).returncode
        if status not in (0, 1):  # a scenario that does not hold does not matter here
            raise SystemExit(f"{' '.join(suite)} ended with status {status}")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        rows = table(browser, store / "report.html")
        browser.close()
    for row in rows:
        print(f"{row.name:<30} {row.value:>8.3g} {row.unit:<10} {row.goal}")
    stored = ROOT / "target" / "bench-browser.json"
    stored.write_text(json.dumps([row._asdict() for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
