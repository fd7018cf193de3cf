"""Controllers that a reader brings along: they steer trials as native ones do, reach nothing, and are stopped."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thalweg
from lab.conftest import Open, Problems, shown_hash
from lab.test_server import running
from thalweg import Scenario
from thalweg.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
OWN = Path(__file__).parents[2] / "lab" / "src" / "own"
NEWRENO = (OWN / "newreno.js").read_text()
AIMD = (OWN / "aimd.js").read_text()
C4 = [name for name in thalweg.list_scenarios() if name.startswith("c4/")]

RUN = """async ([text, controllers, files, seed]) => {
  const asked = {text, controllers, files, origin: "t.toml"};
  const refused = (error) => `${error.name}: ${error.message}`;
  return thalweg.run(asked, BigInt(seed)).then((trial) => trial.hash, refused);
}"""


def run(view: Any, code: str, name: str = "c4/simple-20mbps", options: str = "", seed: int = 1) -> str:
    """The hash of the trial that a script steers, or why there is none."""
    text = f"./mine.js{options}"
    flow = Scenario.load(name).flows[0]["name"]
    return str(view.evaluate(RUN, [Scenario.load(name).toml, {flow: text}, {"mine.js": code}, str(seed)]))


@pytest.mark.parametrize("names", [C4[::9], pytest.param(C4, marks=pytest.mark.soak)], ids=["some", "all"])
def test_newreno_in_javascript_is_reno_event_by_event(one_page: Page, names: list[str]) -> None:
    found = {name: run(one_page, NEWRENO, name, seed=7) for name in names}
    native = {}
    for name in names:
        flow = Scenario.load(name).flows[0]["name"]
        native[name] = Scenario.load(name, controllers={flow: "reno"}).run(seed=7).trace_hash
    assert found == native


class Mine(thalweg.Controller):
    """The lines of aimd.js."""

    def __init__(self, init: Any, beta: float = 0.7) -> None:
        self.beta, self.window, self.reduced = beta, init.initial_window, 0

    def on_ack(self, event: Any, path: Any) -> None:
        self.window += event.newly_acked * path.mtu / self.window

    def on_lost(self, event: Any, path: Any) -> None:
        self.reduce(event.packet, path)

    def on_ecn(self, event: Any, path: Any) -> None:
        self.reduce(event.largest_acked, path)

    def reduce(self, packet: int, path: Any) -> None:
        if packet >= self.reduced:
            self.reduced = path.next_packet
            self.window = max(self.window * self.beta, 2 * path.mtu)


@pytest.mark.parametrize("beta", [None, 0.85])
def test_the_template_in_javascript_is_the_same_trial_as_in_python(one_page: Page, beta: float | None) -> None:
    given: Any = Mine if beta is None else partial(Mine, beta=beta)
    native = Scenario.load("c4/bad-wifi", controllers={"main": given}).run(seed=3)
    options = "" if beta is None else f":beta={beta}"
    assert run(one_page, AIMD, "c4/bad-wifi", options, 3) == native.trace_hash


def test_a_module_in_webassembly_is_reno_event_by_event(one_page: Page, tmp_path: Path) -> None:
    module = compiled(tmp_path)
    for name in ("c4/simple-20mbps", "c4/bad-wifi", "c4/media-bad-wifi"):
        flow = Scenario.load(name).flows[0]["name"]
        found = one_page.evaluate(
            """async ([text, flow, code]) => {
              const files = {"newreno.wasm": Uint8Array.from(atob(code), (char) => char.charCodeAt(0))};
              const asked = {text, controllers: {[flow]: "./newreno.wasm"}, files, origin: "t.toml"};
              return (await thalweg.run(asked, 7n, true)).hash;
            }""",
            [Scenario.load(name).toml, flow, base64.b64encode(module).decode()],
        )
        assert found == Scenario.load(name, controllers={flow: "reno"}).run(seed=7).trace_hash


def compiled(folder: Path) -> bytes:
    """The example in Rust as a module."""
    rustc = shutil.which("rustc")
    if rustc is None:
        assert "CI" not in os.environ, "rustc is missing"
        pytest.skip("rustc is missing")
    source = OWN.parents[2] / "examples" / "wasm-controller" / "newreno.rs"
    words = (first_command(source)).split()
    subprocess.run([rustc, *words[1:-1], "-o", str(folder / "newreno.wasm"), str(source)], check=True)
    return (folder / "newreno.wasm").read_bytes()


def first_command(source: Path) -> str:
    """The command that the head of the example names."""
    return next(
        line.removeprefix("//! ") for line in source.read_text().splitlines() if line.startswith("//! rustc")
    )


REACH = """
const tries = {
  fetch: () => fetch("ADDRESS/fetch"),
  XMLHttpRequest: () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = resolve; request.onerror = reject;
    request.open("GET", "ADDRESS/xhr"); request.send();
  }),
  WebSocket: () => new Promise((resolve, reject) => {
    const socket = new WebSocket("ADDRESS/socket".replace("http", "ws"));
    socket.onopen = resolve; socket.onerror = reject;
  }),
  EventSource: () => new Promise((resolve, reject) => {
    const source = new EventSource("ADDRESS/events");
    source.onopen = resolve; source.onerror = reject;
  }),
  importScripts: () => importScripts("ADDRESS/script.js"),
  import: () => import("ADDRESS/module.js"),
  Worker: () => new Promise((resolve, reject) => {
    const worker = new Worker("ADDRESS/worker.js");
    worker.onmessage = resolve; worker.onerror = reject;
  }),
  eval: () => (0, eval)("1"),
  Function: () => new Function("return 1")(),
  document: () => document.title,
  parent: () => parent.thalweg,
  Date: () => Date.now(),
  random: () => Math.random(),
  crypto: () => crypto.getRandomValues(new Uint8Array(1)),
  Intl: () => new Intl.DateTimeFormat().format(),
  Temporal: () => Temporal.Now.instant(),
  requestAnimationFrame: () => requestAnimationFrame(() => {}),
  scheduler: () => scheduler.postTask(() => {}),
  timeStamp: () => new Event("x").timeStamp.toFixed(),
  File: () => new File([], "x").lastModified,
  MessagePort: () => { MessagePort.prototype.postMessage = () => {}; },
  JSON: () => { JSON.parse = () => ({}); },
  Float64Array: () => { Float64Array.prototype.at = () => 0; },
};
const found = [];
for (const [name, attempt] of Object.entries(tries)) {
  try { await attempt(); found.push(name); } catch { }
}
export default class Mine {
  on_ack() { throw new Error("reached: " + found.join(" ") + "."); }
}
"""


class Listening(ThreadingHTTPServer):
    """A server of a stranger, which lets every page in."""

    def __init__(self) -> None:
        self.asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler) -> None:  # noqa: N805 - the name of a base class
                self.asked.append(handler.path)
                handler.send_response(200)
                handler.send_header("Access-Control-Allow-Origin", "*")
                handler.send_header("Content-Type", "text/javascript")
                handler.end_headers()
                handler.wfile.write(b"export default 1")

            def log_message(handler, *_: object) -> None:  # noqa: N805
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def stranger() -> Iterator[Listening]:
    server = Listening()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_a_controller_reaches_nothing(browser: Browser, static: str, stranger: Listening) -> None:
    address = f"http://127.0.0.1:{stranger.server_port}"
    view = browser.new_context().new_page()
    view.goto(static)
    view.wait_for_selector("[data-ready]", timeout=60_000)
    assert "reached: ." in run(view, REACH.replace("ADDRESS", address))
    view.wait_for_timeout(300)
    assert stranger.asked == []
    # The null experiment: the same attempts by a page that may connect are heard by the stranger.
    view = browser.new_context().new_page()
    view.goto(address)
    view.evaluate("(address) => fetch(address + '/fetch')", address)
    assert "/fetch" in stranger.asked


def test_the_policy_alone_refuses_connections_too(browser: Browser, static: str, stranger: Listening) -> None:
    """The frame without the second lock, which takes the functions away."""
    view = browser.new_context().new_page()
    view.goto(static)
    found = view.evaluate(
        """(address) => new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.setAttribute("sandbox", "allow-scripts");
          frame.src = new URL("sandbox.html", document.baseURI).href;
          const {port1, port2} = new MessageChannel();
          port1.onmessage = ({data}) => resolve(data);
          const worker = `onmessage = async ({ports: [port]}) => {
            const found = [];
            await fetch("${address}/fetch").then(() => found.push("fetch"), () => {});
            await import("${address}/module.js").then(() => found.push("import"), () => {});
            try { importScripts("${address}/script.js"); found.push("importScripts"); } catch {}
            try { new Function("return 1")(); found.push("Function"); } catch {}
            const request = new XMLHttpRequest();
            try {
              request.open("GET", "${address}/xhr", false); request.send(); found.push("XMLHttpRequest");
            } catch {}
            const socket = new WebSocket("${address}/socket".replace("http", "ws"));
            await new Promise((done) => {
              socket.onopen = () => { found.push("WebSocket"); done(); }; socket.onerror = done;
            });
            port.postMessage("reached: " + found.join(" ") + ".");
          }`;
          addEventListener("message", ({source}) => {
            if (source !== frame.contentWindow) return;
            source.postMessage({worker, engine: new ArrayBuffer(8)}, "*", [port2]);
          });
          document.body.append(frame);
        })""",
        f"http://127.0.0.1:{stranger.server_port}",
    )
    assert found == "reached: ."
    assert stranger.asked == []


CLASS = "export default class Mine {\n  on_ack(event, path) {\n    BODY\n  }\n}\n"
LOOP = CLASS.replace("BODY", "for (;;);")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (CLASS.replace("BODY", "event.snapshot.x.y"), r"mine.js:3: TypeError: .* \(in on_ack of ./mine.js: flow "
         r"main of the trial with seed 1, at 0\.\d+ s\)"),
        (CLASS.replace("BODY", "this.window = NaN;"), r"mine.js:2: RangeError: window is NaN; accepted: a "
         r"number of bytes, 0 or more \(in on_ack"),
        (CLASS.replace("BODY", "this.window = -1;"), "window is -1; accepted"),
        (CLASS.replace("BODY", "this.window = 'wide';"), 'window is "wide"; accepted'),
        (CLASS.replace("BODY", "this.pacing = Infinity;"), "pacing is Infinity; accepted: a number of bits per"),
        (CLASS.replace("BODY", "throw {}"), r"mine.js:2: threw \[object Object\]"),
        (CLASS.replace("BODY", "throw Object.create(null)"), "mine.js:2: threw an object without words"),
        ("export default class A {\n  on_ack() {}\n  get pacing() { throw new Error('none'); }\n}",
         r"mine.js:\d: Error: none \(in constructor of ./mine.js: flow main"),
        (CLASS.replace("BODY", "this.window = = 3;"), r"mine.js:3: SyntaxError"),
        ("const a = 1;\nthrow new Error('early');", r"mine.js:2: Error: early"),
        ("export default 3;", "exports no class; accepted: export default class"),
        ("export default class A { on_loss() {} }", "mine.js:1: nothing calls on_loss; accepted: "),
        ("export default class A {\n  on_lost() {}\n}", "mine.js:1: it has no on_ack"),
        ("export default class A {\n  async on_ack() {}\n}", r"2: on_ack is a coroutine \(async\): nothing"),
        ("export default class A {\n  *on_ack() {}\n}", r"mine.js:2: on_ack is a generator \(\*\): nothing"),
        ("export default class A {\n  on_ack() {}\n  async *observe() {}\n}", "mine.js:3: observe is an async"),
        ("export default class A {\n  on_report() {}\n}", "mine.js:2: it says no report_every"),
        ('export default class A { static report_every = "0 ms"; on_report() {} }', 'every = "0 ms"; accepted'),
        ('export default class A { ecn = "ect9"; on_ack() {} }', 'ecn is "ect9"; accepted: "ect0"'),
        ("export default class A { constructor() { none(); } on_ack() {} }", "ReferenceError: .*in constructor"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(one_page: Page, code: str, said: str) -> None:
    found = run(one_page, code)
    assert re.search(said, found), found
    assert re.fullmatch(r"[0-9a-f]{16}", run(one_page, NEWRENO))  # the next trial runs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (":beta=0.5,beta=0.8", 'option "beta" of "./mine.js" is given twice'),
        (":beto=1", 'has no option "beto"; accepted: beta'),
        (":beta=x", 'option "beta" of mine.js cannot be "x"'),
    ],
)
def test_wrong_options_are_refused_as_those_of_native_controllers(one_page: Page, options: str, said: str) -> None:
    assert said in run(one_page, AIMD, options=options)


def test_a_module_that_is_none_of_ours_is_refused(one_page: Page) -> None:
    found = one_page.evaluate(
        """async ([text]) => {
          const found = [];
          const empty = [0, 97, 115, 109, 1, 0, 0, 0];
          for (const bytes of [[1, 2, 3], empty, [...empty, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 97, 1, 98, 0, 0]]) {
            const files = {"mine.wasm": Uint8Array.from(bytes)};
            const asked = {text, files, controllers: {main: "./mine.wasm"}};
            await thalweg.run(asked).catch((error) => found.push(error.message));
          }
          return found;
        }""",
        [Scenario.load("c4/simple-20mbps").toml],
    )
    assert len(found) == 3
    for message, part in zip(
        found, ("accepted: a module in WebAssembly", "it exports no", "it imports a.b"), strict=True
    ):
        assert part in message


def test_a_loop_without_end_is_ended_by_the_reader(opened: Open) -> None:
    view = opened()
    stopped = view.evaluate(
        """async ([text, code]) => {
          const asked = {text, controllers: {main: "./mine.js"}, files: {"mine.js": code}};
          await thalweg.run({...asked, files: {"mine.js": "export default class A { on_ack() {} }"}});
          const abort = new AbortController();
          const run = thalweg.run(asked, 1n, false, abort.signal).catch((error) => error.name);
          await new Promise((resolve) => setTimeout(resolve, 300));
          const old = [...document.querySelectorAll("iframe")];
          abort.abort();
          const reason = await run;
          return [reason, old.length, old.filter((frame) => frame.isConnected).length];
        }""",
        [Scenario.load("c4/simple-20mbps").toml, LOOP],
    )
    assert stopped == ["AbortError", 1, 0]  # the frame in which it ran is gone
    assert re.fullmatch(r"[0-9a-f]{16}", run(view, NEWRENO))
    assert view.locator("iframe").count() <= 2


@pytest.mark.soak  # ten seconds of a core
def test_a_loop_without_end_is_ended_by_the_page(opened: Open) -> None:
    view = opened()
    assert "nothing was heard of the trial for 10 s" in run(view, LOOP)
    assert re.fullmatch(r"[0-9a-f]{16}", run(view, NEWRENO))
    assert view.locator("iframe").count() <= 2


def steer_by_newreno(view: Page) -> None:
    """With the template, from a press of a button on."""
    view.get_by_role("tab", name="Controller").click()
    view.get_by_role("button", name="New from newreno.js").click()
    view.get_by_role("button", name="Let it steer main").click()
    view.wait_for_selector("[data-settled]")


def test_a_controller_is_written_on_the_page_and_steers_a_flow(opened: Open) -> None:
    view = opened(settled=True)
    steer_by_newreno(view)
    native = Scenario.load("c4/bad-wifi", controllers={"main": "reno"})
    assert shown_hash(view) == native.run(seed=1).trace_hash
    many = view.evaluate("[...thalweg.shown.many.flows.completion_s]")
    assert many == native.trials(100).flows["completion_s"].to_list()
    assert {"slow start", "congestion avoidance"} <= set(
        view.evaluate("thalweg.shown.trial.trace.flows.state.words")
    )
    view.locator(".cm-content").click()
    view.keyboard.press("Control+a")
    view.keyboard.insert_text(CLASS.replace("BODY", "this.window = undefined_name;"))
    view.get_by_role("alert").wait_for()
    assert "newreno.js:3: ReferenceError" in view.get_by_role("alert").inner_text()
    view.locator(".cm-lintRange-error").first.wait_for()
    assert "undefined_name" in view.locator(".cm-lintRange-error").first.inner_text()
    assert "JavaScript" in view.locator(".take-away").inner_text()


def test_a_controller_in_a_link_is_shown_and_asked_for_before_it_runs(opened: Open) -> None:
    view = opened()
    link = view.evaluate(
        """async ([code]) => {
          const {text} = thalweg.scenarios[0];
          await thalweg.open(text, "c4/simple-20mbps");
          await thalweg.bring("mine.js", code);
          await thalweg.controllers({main: "./mine.js"});
          return thalweg.link();
        }""",
        [NEWRENO],
    )
    view = opened(link[link.index("#") :], settled=True)
    proposal = view.get_by_role("region", name="a controller in a link")
    assert "this.window += event.newly_acked" in proposal.inner_text()
    assert view.locator("iframe").count() == 0
    assert shown_hash(view) == Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
    proposal.get_by_role("button", name="Run this code").click()
    view.locator(".promise").wait_for()
    assert "the hashes are equal" in view.locator(".promise").inner_text()
    reno = Scenario.load("c4/simple-20mbps", controllers={"main": "reno"})
    assert shown_hash(view) == reno.run(seed=1).trace_hash


def test_the_documentation_has_the_template_and_the_records_of_the_engine(one_page: Page) -> None:
    page = (OWN.parents[2] / "docs/how-to/lab-controllers.md").read_text()
    assert AIMD in page
    fields = set(re.findall(r"^\s*(?:get )?(on_\w+)\(", NEWRENO, re.MULTILINE))
    listed = {
        row[0]: re.findall(r"`([^`]+)`", row[1]) for row in re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M)
    }
    assert fields <= set(listed)
    code = """
      const found = {};
      export default class Mine {
        on_ack(event, path) { throw new Error(`names ${names(TOLD).join(" ")}.`); }
      }
      function names(object) {
        const prototypes = [];
        for (let part = object; part && part !== Object.prototype; part = Object.getPrototypeOf(part)) {
          prototypes.push(part);
        }
        const names = prototypes.flatMap((part) => Object.getOwnPropertyNames(part));
        return names.filter((name) => name !== "constructor");
      }
    """
    for told, record in (("event", "on_ack"), ("path", "path")):
        names = re.search(r"names ([\w ]+)\.", run(one_page, code.replace("TOLD", told)))
        assert names is not None
        groups = {field.split(".")[0].rstrip("?") for field in listed[record]}
        assert set(names[1].split()) - {"window_was_underused", "random"} == groups


def test_behind_the_server_they_run_in_the_page_and_files_are_drawn_too(
    browser: Browser, problems: Problems, tmp_path: Path
) -> None:
    trace = Scenario.load("c4/bad-wifi").run(seed=1, trace=True).trace
    assert trace is not None
    trace.save(tmp_path / "mine.sqlog")
    explained = tmp_path / "mine.json"
    assert main(["explain", str(tmp_path / "mine.sqlog"), "--out", str(explained)]) == 0
    with running(tmp_path) as lab:
        view = lab.page(browser, problems, width=800)
        steer_by_newreno(view)
        reno = Scenario.load("c4/simple-20mbps", controllers={"main": "reno"})
        assert shown_hash(view) == reno.run(seed=1).trace_hash
        view.locator("header.top input[type=file]").set_input_files(explained)
        view.get_by_role("region", name="measurement").get_by_text("seen from the sender").wait_for()
        assert view.locator(".two .chart").count() == 2


def test_its_document_does_nothing_in_a_frame_with_an_origin(browser: Browser, static: str) -> None:
    view = browser.new_context().new_page()
    errors: list[str] = []
    view.on("pageerror", lambda error: errors.append(str(error)))
    view.goto(static)
    view.wait_for_selector("[data-settled]")
    found = view.evaluate(
        """() => new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.src = new URL("sandbox.html", document.baseURI).href;
          addEventListener("message", ({source}) => source === frame.contentWindow && resolve("ready"));
          frame.onload = () => setTimeout(() => resolve("nothing"), 200);
          document.body.append(frame);
        })"""
    )
    assert found == "nothing"
    assert ["a frame without origin" in error for error in errors] == [True]
