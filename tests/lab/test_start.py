"""How `thalweg lab` starts, opens a browser, and tells what it refuses; and what a reader sees first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from lab.conftest import Open, Problems, shown_hash
from lab.test_server import SIMPLE, Lab, ask, folder, lab, running, setup  # noqa: F401 - fixtures
from thalweg import Scenario
from thalweg.base.errors import RequestError
from thalweg.lab.folder import Folder
from thalweg.lab.opener import opener

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
SWEEP = """trials = 2
[axes]
"path.rate" = ["5 Mbps", "20 Mbps"]
[scenario]
path = { rate = "5 Mbps", rtt = "30 ms", buffer = "1 bdp" }
[[scenario.flow]]
name = "main"
controller = "reno"
download = "300 kB"
"""
HUNT = """scenario = "c4/simple-20mbps"
objective = "slowdown"
[[elements]]
"""
OWN = """title = "Our path"
path = { rate = "5 Mbps", rtt = "30 ms", buffer = "1 bdp" }
flow = [{ name = "main", controller = "reno", download = "300 kB" }]
"""


def test_a_folder_of_links_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(RequestError, match="there is no such folder"):
        Folder.at(tmp_path / "loop")


def test_the_browser_is_opened_once_the_server_answers_and_is_told_no_token(tmp_path: Path) -> None:
    """The browser is a program that asks at once, as curl does, and writes down its arguments."""
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, re, sys, urllib.request\n"
        "page = pathlib.Path(sys.argv[1].removeprefix('file://'))\n"
        "target = re.search('url=([^\"]*)', page.read_text())[1]\n"
        "mode = oct(page.parent.stat().st_mode)[-3:]\n"
        "status = urllib.request.urlopen(target).status\n"
        f"pathlib.Path({str(tmp_path / 'said')!r}).write_text(f'{{status}} {{mode}} {{sys.argv}} {{target}}')\n"
    )
    browser.chmod(0o755)
    before = os.environ.get("BROWSER")
    os.environ["BROWSER"] = str(browser)
    try:
        with running(tmp_path, "--open") as own:
            said = tmp_path / "said"
            for _ in range(200):
                if said.exists() and said.read_text():
                    break
                time.sleep(0.05)
            status, mode, *rest = said.read_text().split()
            assert (status, mode) == ("200", "700")
            assert rest[-1] == own.address
            assert own.token not in " ".join(rest[:-1])
    finally:
        os.environ.pop("BROWSER")
        if before is not None:
            os.environ["BROWSER"] = before


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_browser_that_is_a_snap_can_read_what_leads_to_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool
) -> None:
    """A snap reads in the home folder what has no leading dot."""
    (tmp_path / "snap").mkdir()
    home = tmp_path / "home"
    if is_writable:
        home.mkdir()
    monkeypatch.setattr("thalweg.lab.opener.SNAPS", tmp_path / "snap")
    monkeypatch.setenv("HOME", str(home))
    with opener("http://127.0.0.1:1/?token=x") as page:
        file = Path(page.removeprefix("file://"))
        assert file.is_file()
        assert file.parent.stat().st_mode & 0o777 == 0o700
        assert (file.parent.parent == home) == is_writable
        assert not file.parent.name.startswith(".")
    assert not file.parent.exists()


def test_no_module_of_the_folder_is_run_by_python_m(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(SIMPLE)
    # Modules that the processes of trials import. What the command has imported before is not the lab's to refuse.
    for name in ("tomllib", "numpy", "polars"):
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'it-has-run')!r}, 'w').close()\nraise SystemExit(3)\n"
        )
    program = (
        "import sys, numpy, polars, tomllib; from thalweg.cli import main; import thalweg.lab.server; "
        "sys.path.insert(0, ''); sys.argv = ['thalweg', 'lab', '.']; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert process.stdout is not None
        parts = urlsplit(process.stdout.readline().removeprefix("open ").strip())
        own = Lab.__new__(Lab)
        assert parts.port is not None
        own.port, own.token = parts.port, parts.query.removeprefix("token=")
        own.wait()
        with own.socket() as connection:
            header = ask(connection, name="run", setup=setup(), seed="1", traced=False)
        assert len(header["outcomes"]["trials"]["trace_hash"]) == 1
        assert not (tmp_path / "it-has-run").exists()
    finally:
        process.terminate()
        process.wait(20)


def test_the_ninth_connection_hears_why_it_is_closed(lab: Lab) -> None:  # noqa: F811 - a fixture
    connections = [lab.socket() for _ in range(8)]
    try:
        with lab.socket() as ninth, pytest.raises(ConnectionClosed, match="4 pages of the lab are open already"):
            ninth.recv(10)
    finally:
        for connection in connections:
            connection.close()


def test_a_refusal_has_its_key_and_the_file_of_its_line(lab: Lab, folder: Path) -> None:  # noqa: F811 - fixtures
    with lab.socket() as connection:
        refused = ask(connection, name="check", setup=setup(SIMPLE.replace('"20 Mbps"', '"20 Mbs"')))["refused"]
        assert (refused["file"], refused["line"]) == (None, SIMPLE[: SIMPLE.index('"20 Mbps"')].count("\n") + 1)
        assert refused["key"].startswith("path.rate") or "rate" in refused["key"]
        (folder / "down.trace").write_text("1\n2\nx\n")
        wrong = re.sub(r'rate\s*=\s*"20 Mbps"', 'trace = "down.trace"', SIMPLE)
        refused = ask(connection, name="check", setup=setup(wrong))["refused"]
        assert (refused["file"], refused["line"]) == ("down.trace", 3)


def test_scenarios_that_are_offered_have_a_limited_size(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.toml").write_text(SIMPLE + "#" * (1000 << 10))
    offered = Folder.at(tmp_path).scenarios()
    assert 10 < len(offered) < 20
    assert sum(map(len, offered.values())) <= 16 << 20
    assert next(iter(offered)) == "00.toml"


def test_plans_of_sweeps_and_hunts_are_not_among_the_scenarios_of_a_folder(tmp_path: Path) -> None:
    files = {"a-sweep.toml": SWEEP, "a-hunt.toml": HUNT, "our-path.toml": OWN, "begun.toml": "[path]\nrate = "}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert set(Folder.at(tmp_path).scenarios()) == {"our-path.toml", "begun.toml"}


def test_an_engine_that_could_not_be_had_is_fetched_again(browser: Browser, static: str) -> None:
    view = browser.new_context().new_page()
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    view.route("**/*.wasm", refuse)
    view.goto(static)
    view.get_by_role("alert").wait_for()
    assert refused
    view.unroute("**/*.wasm")
    assert view.evaluate("thalweg.about().then(({controllers}) => controllers.length)") > 3


def box(view: Page, selector: str) -> dict[str, Any]:
    found = view.locator(selector).first.bounding_box()
    assert found is not None, selector
    return {**found, "bottom": found["y"] + found["height"]}


def test_the_page_opens_on_the_simple_path_and_says_what_it_is(opened: Open) -> None:
    view = opened(scenario=None)
    assert shown_hash(view) == Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
    assert view.locator(".what").inner_text() == "Congestion control, simulated: move a slider, watch."
    assert view.locator("header.top select").input_value() == "c4/simple-20mbps"


def test_behind_a_server_the_page_opens_on_the_first_scenario_of_the_folder(
    browser: Browser, problems: Problems, tmp_path: Path
) -> None:
    (tmp_path / "a-plan.toml").write_text(SWEEP)
    (tmp_path / "our-path.toml").write_text(OWN)
    with running(tmp_path) as own:
        view = own.page(browser, problems)
        assert view.locator("header.top select").input_value() == "our-path.toml"
        assert shown_hash(view) == Scenario.from_toml(OWN, "our-path.toml").run(seed=1).trace_hash
        view.context.close()


def test_charts_stand_directly_below_the_table(opened: Open) -> None:
    view = opened(scenario=None)
    sections = view.locator("main > section").evaluate_all("(all) => all.map((one) => one.className)")
    assert sections[:3] == ["outcome", "charts", "strip"]
    assert sections.index("watch") > 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_telephone_has_the_sliders_and_the_first_chart_on_one_screen(opened: Open, scheme: Any) -> None:
    view = opened(scenario=None, width=400, scheme=scheme)
    view.set_viewport_size({"width": 400, "height": 800})
    view.wait_for_selector("[data-panel=window] canvas")
    for name in ("Rate", "Round-trip time", "Buffer", "Loss"):
        slider = view.get_by_role("slider", name=name, exact=True).bounding_box()
        assert slider is not None
        assert slider["y"] + slider["height"] < 800
        assert slider["width"] >= 60
    assert box(view, "[data-panel=window] canvas")["bottom"] <= 800
    # What is less often wanted is folded, and all of it is there.
    assert not view.get_by_label("Queue discipline").is_visible()
    view.get_by_text("More settings").click()
    for name in ("Queue discipline", "Jitter", "Seed", "options of the controller of main"):
        assert view.get_by_label(name, exact=True).is_visible()
