"""Sweeps that are started from the page behind `thalweg lab`: the native store, and what is refused."""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import serious
from lab.conftest import OPEN, Problems, Scheme
from lab.stored.test_results import thalweg
from lab.test_keyboard import until
from lab.test_server import MINE, SIMPLE, Lab, ask, children, eventually, running, setup
from thalweg import Scenario, Sweep
from thalweg.base.quantity import text
from thalweg.experiments.sweep import SweepResult
from thalweg.lab.server import LARGEST_MESSAGE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from websockets.sync.client import ClientConnection

pytestmark = pytest.mark.timeout(300)
RTT = {"key": "path.rtt", "values": "20 ms, 40 ms"}
CONTROLLER = {"key": "controller.main", "values": "cubic, c4"}
TRACED = SIMPLE.replace('rate   = "20 Mbps"', 'trace = "mine.txt"')
CHANGED = SIMPLE.replace("Simple 20 Mbps", "\U0001f600 é")
LONG = Scenario.load("c4/simple-200mbps", overrides={"flow.main.download": "1 GB"}).toml
"""About a quarter of a second of a core."""


def asked(**change: Any) -> dict[str, Any]:
    return {"setup": setup(), "axes": [RTT, CONTROLLER], "trials": 3, "name": "mine", **change}


def call(lab: Lab, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    """Status and text of a request with the token; POST if it has a body."""
    client = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=30)
    client.request("GET" if body is None else "POST", f"{path}?token={lab.token}", body, headers)
    answer = client.getresponse()
    return answer.status, answer.read().decode()


def state(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(lab, "/sweep")[1])
    return found


def start(lab: Lab, wanted: dict[str, Any]) -> None:
    status, said = call(lab, "/sweep/start", json.dumps(wanted))
    assert status == 200, said


def ended(lab: Lab) -> dict[str, Any]:
    """How the sweep has ended."""
    assert eventually(lambda: not state(lab)["isRunning"], 120)
    return state(lab)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweeps") / "mine"
    path.mkdir()
    (path / "one.toml").write_text(SIMPLE)
    (path / "traced.toml").write_text(TRACED)
    (path / "mine.txt").write_text("1\n" * 1000)
    (path / "mine.py").write_text(MINE)
    (path.parent / "secret.txt").write_text("a secret\n")
    (path / "elsewhere").symlink_to(path.parent)
    (path / "other").mkdir()
    (path / "other" / "notes.txt").write_text("no sweep\n")
    return path


@pytest.fixture(scope="module")
def lab(folder: Path, static: str) -> Iterator[Lab]:
    with running(folder) as found:
        yield found


@pytest.fixture(scope="module")
def connection(lab: Lab) -> Iterator[ClientConnection]:
    """A page that stays open: its process answers one call after the other, also after a refusal."""
    with lab.socket() as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_runs_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stops the sweep that a test has left: the next test could start none."""
    yield
    lab: Lab | None = request.getfixturevalue("lab") if "lab" in request.fixturenames else None
    if lab and state(lab)["isRunning"]:
        call(lab, "/sweep/stop", "")
        ended(lab)


@pytest.mark.parametrize("path", ["/sweep", "/sweep/start", "/sweep/stop"])
def test_whoever_lacks_the_token_or_is_another_page_is_refused(lab: Lab, path: str) -> None:
    body = None if path == "/sweep" else json.dumps(asked(name="of-a-stranger"))
    foreign = {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}
    assert [call(lab, path, body, **headers)[0] for headers in foreign] == [403, 403, 403]
    client = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=30)
    for query in ("", "?token=", "?token=wrong"):
        client.request("GET" if body is None else "POST", path + query, body)
        answer = client.getresponse()
        answer.read()
        assert answer.status == 403
    assert state(lab).get("name") != "of-a-stranger"


def test_a_sweep_does_not_start_by_following_a_link(lab: Lab) -> None:
    assert call(lab, "/sweep/start")[0] == 405
    assert call(lab, "/sweep/stop")[0] == 405


@pytest.mark.parametrize(
    "body",
    [
        "no json",
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps(asked(setup={})),
        json.dumps(asked(setup=setup(text="\ud800"))),
        json.dumps(asked(setup=setup(sets={"path.rtt": 3}))),
        json.dumps(asked(axes="path.rtt")),
        json.dumps(asked(axes=[{"values": "20 ms"}])),
        json.dumps(asked(axes=[{"key": "path.rtt", "values": ["20 ms"]}])),
        json.dumps(asked(axes=[RTT, CONTROLLER, {"key": "path.rate", "values": "1 Mbps"}])),
        json.dumps(asked(trials="3")),
        json.dumps(asked(trials=True)),
        json.dumps(asked(name=3)),
    ],
)
def test_nonsense_starts_nothing(lab: Lab, body: str) -> None:
    before = state(lab)["number"]
    assert call(lab, "/sweep/start", body)[0] == 400
    assert state(lab)["number"] == before


def test_a_request_that_is_too_long_is_refused(lab: Lab) -> None:
    wanted = asked(setup=setup("#" * LARGEST_MESSAGE))
    assert call(lab, "/sweep/start", json.dumps(wanted))[0] == 413


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"name": name}, "accepted: at most 64") for name in ("", "..", "../a", "/a", "a/b", ".a", "a b", "a" * 65)),
    ({"name": "elsewhere"}, "is a link"),
    ({"trials": 0}, "accepted: a whole number"),
    ({"axes": []}, "accepted: [axes]"),
    ({"axes": [RTT, RTT]}, "it is given twice as an axis"),
    ({"axes": [{"key": "path.rtt", "values": ""}]}, "the axis is empty"),
    ({"axes": [{"key": "path.rtt", "values": "20 ms, 30 Mbps"}]}, '"30 Mbps"'),
    ({"axes": [{"key": "path.rttt", "values": "20 ms"}]}, "rttt"),
    ({"axes": [{"key": "", "values": "20 ms"}]}, "accepted: a key"),
    ({"axes": [{"key": 'a"\n[x]\nb', "values": "1"}]}, "mine-plan.toml"),
    ({"axes": [{"key": "path.rtt", "values": "1 ms," * 1001}]}, "at most 1000"),
    ({"axes": [{"key": "path.rtt", "from": "1 ms", "to": "9 s", "steps": "1001"}]}, "at most 1000"),
    ({"axes": [{"key": "path.rtt", "from": "1 ms", "to": "9 s", "steps": "two"}]}, "steps"),
    ({"axes": [{"key": "path.rtt", "from": "1 ms", "steps": "3"}]}, "to is missing"),
    ({"axes": [{"key": "path.rtt", "from": "1 ms", "to": "9 s", "stops": "3"}]}, "unknown key"),
    ({"axes": [{"key": "path.rtt", "values": "[inf]"}]}, "accepted: a finite number"),
    ({"axes": [{"key": "path.rtt", "values": f"[{5000 * '1'}]"}]}, "is too large"),
    ({"setup": setup(f"x = {5000 * '1'}")}, "is too large; accepted: 64 bits"),
    ({"setup": setup(sets={"path.buffer": f"[{5000 * '1'}]"})}, "is too large"),
    ({"setup": setup("title = ")}, "string values must be quoted"),
    ({"setup": setup(f"day = 1979-05-27\n{SIMPLE}")}, "a date or a time"),
    ({"setup": setup(SIMPLE.replace("20 Mbps", "20 Mbs"))}, "20 Mbs"),
    (
        {"setup": setup(SIMPLE.replace('rate   = "20 Mbps"', "trace = '../secret.txt'"))},
        "outside of the folder",
    ),
    ({"setup": setup(sets={"path.trace": "../secret.txt"})}, "outside of the folder"),
    ({"axes": [{"key": "path.trace", "values": "../secret.txt"}]}, "outside of the folder"),
    ({"axes": [{"key": "path", "values": '[{ trace = "../secret.txt" }]'}]}, "outside of the folder"),
    ({"setup": setup(f"{SIMPLE}\n[\"x\\ntrace = '../secret.txt' #\"]\n")}, "has the character U+000A"),
    ({"setup": setup(f'"a key" = 1\n{SIMPLE}')}, 'unknown key "a key"'),
    ({"setup": setup(f'"path.rate" = "1 Mbps"\n{SIMPLE}')}, 'unknown key "path.rate"'),
    ({"setup": setup(SIMPLE.replace("rate   =", '"Ä\\"" ='))}, 'unknown key "Ä"'),
    ({"setup": setup(CHANGED, sets={"path.trace": "mine.txt"})}, 'a value names the file "mine.txt"'),
    (
        {"setup": setup(CHANGED), "axes": [{"key": "path.trace", "values": "mine.txt"}]},
        'a value names the file "mine.txt"',
    ),
    (
        {"setup": setup(controllers={"main": "./mine.py"}), "axes": [RTT]},
        "requires thalweg lab --python",
    ),
    (
        {"axes": [{"key": "controller.main", "values": "cubic, ./mine.py"}]},
        "requires thalweg lab --python",
    ),
    (
        {"setup": setup(SIMPLE.replace('"c4"', '"mine.py"')), "axes": [RTT]},
        "requires thalweg lab --python",
    ),
    ({"axes": [{"key": "controller.main", "values": "../secret.py"}]}, "outside of the folder"),
]


def remains_as_it_was(folder: Path, said: str, why: str, before: list[Path]) -> None:
    assert why in said
    assert "a secret" not in said
    assert "defect" not in said
    assert sorted(folder.rglob("*")) == before  # no store, and no mine.py that has run


@pytest.mark.parametrize(("change", "why"), REFUSED)
def test_what_is_refused_has_one_message_and_leaves_nothing(
    connection: ClientConnection, folder: Path, change: dict[str, Any], why: str
) -> None:
    before = sorted(folder.rglob("*"))
    said = ask(connection, name="estimate", sweep=asked(**change))["refused"]["message"]
    remains_as_it_was(folder, said, why, before)


@pytest.mark.parametrize(
    ("change", "why"),
    # Each starts a process, which reads the plan as its estimate does: every seventh where time counts.
    [pytest.param(*case, marks=[] if at % 7 == 5 else [pytest.mark.soak]) for at, case in enumerate(REFUSED)],
)
def test_a_sweep_that_is_started_is_refused_as_its_estimate_is(
    lab: Lab, folder: Path, change: dict[str, Any], why: str
) -> None:
    before = sorted(folder.rglob("*"))
    start(lab, asked(**change))
    remains_as_it_was(folder, ended(lab)["refused"], why, before)


def test_a_folder_with_other_things_or_the_sweep_of_another_plan_stays_as_it_is(lab: Lab, folder: Path) -> None:
    start(lab, asked(name="other"))
    assert "is not empty and holds no sweep" in ended(lab)["refused"]
    start(lab, asked(name="twice"))
    assert ended(lab)["isComplete"]
    before = {file: file.read_bytes() for file in (folder / "twice").rglob("*") if file.is_file()}
    start(lab, asked(name="twice", trials=4))
    assert "holds a sweep of another plan" in ended(lab)["refused"]
    assert {file: file.read_bytes() for file in (folder / "twice").rglob("*") if file.is_file()} == before
    start(lab, asked(name="twice"))
    assert ended(lab)["ran"] == 0
    (folder / "twice" / "trials" / "more").symlink_to(folder.parent)
    start(lab, asked(name="twice"))
    assert "is a link" in ended(lab)["refused"]


def test_a_day_of_work_is_for_the_command_line(lab: Lab, folder: Path) -> None:
    # A million points of a million trials, of 1 ms of a core each: a day of 10 000 cores.
    ranges = {"path.rtt": ("10 ms", "1 s"), "path.rate": ("1 Mbps", "100 Mbps")}
    axes = [{"key": key, "from": low, "to": high, "steps": "1000"} for key, (low, high) in ranges.items()]
    wanted = asked(name="days", axes=axes, trials=1_000_000)
    with lab.socket() as connection:
        found = ask(connection, name="estimate", sweep=wanted)["result"]
    assert found["isLong"]
    assert found["wallS"] > 86_400
    assert found["command"] == "thalweg sweep days-plan.toml --out days --yes"
    start(lab, wanted)
    assert "accepted: --yes" in ended(lab)["refused"]
    assert not (folder / "days").exists()


@pytest.mark.parametrize("own", [SIMPLE, CHANGED], ids=["of the folder", "changed"])
def test_the_plan_and_the_command_do_the_same(lab: Lab, folder: Path, own: str) -> None:
    name = "changed" if own != SIMPLE else "kept"
    wanted = asked(setup=setup(own, sets={"path.buffer": '"2 bdp"'}), name=name)
    with lab.socket() as connection:
        found = ask(connection, name="estimate", sweep=wanted)["result"]
        assert (found["points"], found["trials"], found["present"], found["isLong"]) == (4, 12, 0, False)
        start(lab, wanted)
        assert ended(lab)["ran"] == 12
        assert ask(connection, name="estimate", sweep=wanted)["result"]["present"] == 12
    (folder / found["file"]).write_text(found["plan"])
    words = found["command"].split()
    assert words[0] == "thalweg"
    thalweg(*words[1:-1], f"{name}-again", cwd=folder)
    hashes = [
        SweepResult.load(folder / place).scan().sort("index", "seed").collect()["trace_hash"].to_list()
        for place in (name, f"{name}-again")
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 12


def test_a_scenario_of_the_folder_is_swept_with_its_trace_and_its_trials_repeat(lab: Lab, folder: Path) -> None:
    start(lab, asked(setup=setup(TRACED, origin="traced.toml"), axes=[CONTROLLER], name="traced"))
    assert ended(lab)["ran"] == 6
    replay = SweepResult.load(folder / "traced").scan().collect()["replay"][0]
    thalweg(*shlex.split(replay)[1:], cwd=folder)


def test_a_controller_in_python_is_swept_if_that_was_asked_for(folder: Path, static: str) -> None:
    axes = [{"key": "controller.main", "values": "cubic, ./mine.py"}]
    with running(folder, "--python") as trusting:
        start(trusting, asked(name="python", axes=axes))
        assert ended(trusting)["ran"] == 6
    (folder / "it-has-run").unlink()
    controllers = SweepResult.load(folder / "python").points["controller.main"].to_list()
    assert controllers == ["cubic", "./mine.py"]


def test_one_sweep_runs_at_a_time_and_a_stopped_one_keeps_what_is_finished(lab: Lab, folder: Path) -> None:
    wanted = asked(name="long", setup=setup(LONG), trials=5000)
    start(lab, wanted)
    status, said = call(lab, "/sweep/start", json.dumps(asked(name="second")))
    assert (status, said.partition(";")[0]) == (409, "the sweep long runs already")
    assert eventually(lambda: state(lab).get("done", 0) > 4, 120)
    assert call(lab, "/sweep/stop", "")[0] == 200
    found = ended(lab)
    assert not found["isComplete"]
    assert 4 < found["done"] < 20_000
    stored = SweepResult.load(folder / "long").scan().collect()
    assert len(stored) == found["done"]
    with lab.socket() as connection:
        assert ask(connection, name="estimate", sweep=wanted)["result"]["present"] == found["done"]
    assert not (folder / "second").exists()


def test_a_sweep_goes_on_when_its_page_vanishes(lab: Lab, folder: Path) -> None:
    with lab.socket() as connection:
        ask(connection, name="estimate", sweep=asked(name="left", trials=50))
        start(lab, asked(name="left", trials=50))
    found = ended(lab)
    assert (found["isComplete"], found["ran"]) == (True, 200)
    assert len(SweepResult.load(folder / "left").scan().collect()) == 200


def test_a_changed_scenario_is_swept_and_kept_with_its_traces(
    lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    start(lab, asked(name="with-traces", setup=setup(TRACED), trials=1))
    assert ended(lab)["isComplete"]
    assert "mine.txt" not in (folder / "with-traces" / "scenario.toml").read_text()
    stored = SweepResult.load(folder / "with-traces")
    row = stored.scan().collect().row(0, named=True)
    assert stored.scenario(row["index"]).run(row["seed"]).trace_hash == row["trace_hash"]


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.soak),
        pytest.param(signal.SIGINT, marks=pytest.mark.soak),
        signal.SIGKILL,
    ],
    ids=["TERM", "INT", "KILL"],
)
def test_a_sweep_ends_with_the_server_and_keeps_what_is_finished(
    folder: Path, static: str, how: signal.Signals
) -> None:
    name = f"ended-by-{how.name}"
    with running(folder) as own:
        before = children(own.process.pid)
        start(own, asked(name=name, setup=setup(LONG), trials=5000))
        assert eventually(lambda: state(own).get("done", 0) > 4, 120)
        done = state(own)["done"]
        assert children(own.process.pid) > before  # else there is nothing that could outlive the server
        own.process.send_signal(how)
        own.process.wait(60)
    # Nobody holds the folder any more: the sweep has ended, its points are written.
    place = folder / name
    assert eventually((place / "points.parquet").exists, 60)
    assert eventually(lambda: not held(place), 60)
    assert done <= len(SweepResult.load(place).scan().collect()) < 20_000


def held(place: Path) -> bool:
    """Whether a process writes to a store."""
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


@pytest.fixture
def page(browser: Browser, lab: Lab, problems: Problems) -> Iterator[Callable[..., Page]]:
    """Opens the tab of sweeps in a page, and closes the page in the end: a server has room for four."""
    views: list[Page] = []

    def open_(width: int = 1400, scheme: Scheme = "light") -> Page:
        view = lab.page(browser, problems, width)
        views.append(view)
        view.evaluate(OPEN, "c4/bad-wifi")
        view.emulate_media(color_scheme=scheme)
        view.get_by_role("tab", name="Path").focus()
        for _ in range(3):
            view.keyboard.press("ArrowRight")
        view.get_by_label("Name of the folder").wait_for()
        return view

    yield open_
    for view in views:
        view.context.close()


def fill(view: Page, label: str, value: str, index: int = 0) -> None:
    """Types into a field by keys alone."""
    field = view.get_by_label(label, exact=True).nth(index)
    field.focus()
    view.keyboard.press("ControlOrMeta+a")
    view.keyboard.type(value)


def test_a_sweep_is_started_by_keys_and_its_numbers_are_the_native_ones(
    page: Callable[..., Page], tmp_path: Path
) -> None:
    view = page()
    press = view.keyboard.press
    fill(view, "List", "cubic, c4")
    fill(view, "Key", "controller.main")
    view.get_by_role("button", name="Add a second axis").focus()
    press("Enter")
    for label, value in (("From", "20 ms"), ("To", "80 ms"), ("Steps", "3")):
        fill(view, label, value)
    fill(view, "Trials of each point", "7")
    fill(view, "Name of the folder", "by-keys")
    view.get_by_role("button", name="How long would it take?").focus()
    press("Enter")
    told = view.locator(".estimate p").first
    told.wait_for(timeout=60_000)
    assert told.inner_text().startswith("6 points, 42 trials, 0 already stored. 42 would run: ")
    assert "thalweg sweep by-keys-plan.toml --out by-keys" in view.locator(".estimate").inner_text()
    view.get_by_role("button", name="Start the sweep").focus()
    press("Enter")
    view.locator('[data-sweep="ended"]').wait_for(timeout=120_000)
    assert view.locator('[data-sweep="ended"]').inner_text().startswith("finished: 42 trials, 42 ran in ")
    view.get_by_role("button", name="Open the result").focus()
    press("Enter")
    view.locator(".medians").wait_for(timeout=60_000)

    axes = {
        "controller.main": ["cubic", "c4"],
        "path.rtt": {"from": "20 ms", "to": "80 ms", "steps": 3, "scale": "log"},
    }
    native = Sweep("c4/bad-wifi", axes, trials=7).run(tmp_path / "native")
    column = "flow.main.completion_s"
    medians = [text(value, "s", 3) for value in native.rows[column]]
    names = [
        f"controller.main {controller}, path.rtt {rtt}"
        for controller, rtt in zip(native.texts("controller.main"), native.texts("path.rtt"), strict=True)
    ]
    shown = [row.split("\t") for row in view.locator(".medians tbody tr").all_inner_texts()]
    assert shown == [list(pair) for pair in zip(names, medians, strict=True)]
    assert len(set(medians)) > 3
    for index, trial in enumerate(native.typical(column).iter_rows(named=True)):
        view.get_by_label("scenario of the result").select_option(str(index))
        listed = view.locator(".stored-trials li").all_inner_texts()
        assert listed == [f"seed {trial['seed']} {trial['trace_hash']}"]
    view.locator(".stored-trials button").first.focus()
    press("Enter")
    until(view, f"thalweg.shown.trial.hash === '{trial['trace_hash']}'")


def test_a_page_that_is_opened_later_shows_the_sweep_and_stops_it(page: Callable[..., Page], lab: Lab) -> None:
    start(lab, asked(name="seen", setup=setup(LONG), trials=5000))
    view = page()
    view.locator('[data-sweep="running"]', has_text="left").wait_for(timeout=60_000)
    assert view.get_by_role("progressbar").get_attribute("max") == "20000"
    view.get_by_role("button", name="Stop the sweep").click()
    view.locator('[data-sweep="ended"]').wait_for(timeout=60_000)
    assert "are finished and kept" in view.locator('[data-sweep="ended"]').inner_text()
    assert ended(lab)["name"] == "seen"


def test_the_page_says_why_a_sweep_is_refused(page: Callable[..., Page]) -> None:
    view = page()
    fill(view, "Name of the folder", "../out")
    view.get_by_role("button", name="Start the sweep").click()
    view.get_by_role("alert").wait_for(timeout=60_000)
    assert "accepted: at most 64 letters" in view.get_by_role("alert").inner_text()


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), pytest.param("dark", 1400, marks=pytest.mark.soak)])
def test_axe_finds_nothing_serious_in_a_sweep(page: Callable[..., Page], scheme: Scheme, width: int) -> None:
    view = page(width, scheme)
    view.get_by_role("button", name="Add a second axis").click()
    fill(view, "Name of the folder", f"axe-{scheme}-{width}")
    view.get_by_role("button", name="How long would it take?").click()
    view.locator(".estimate").wait_for(timeout=60_000)
    assert serious(view) == {}
    view.get_by_role("button", name="Start the sweep").click()
    view.locator('[data-sweep="ended"]').wait_for(timeout=120_000)
    assert serious(view) == {}
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width
    view.get_by_role("button", name="Open the result").click()
    view.locator(".medians").wait_for(timeout=60_000)
    assert serious(view) == {}
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width
