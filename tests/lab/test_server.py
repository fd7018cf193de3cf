"""The local server of the lab: who is refused, what is read, and the native trials over its WebSocket."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from lab.conftest import STOP
from thalweg import Scenario
from thalweg.base.errors import RequestError
from thalweg.lab.connection import HEAD_S, MOST_STRANGERS
from thalweg.lab.folder import Folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from lab.conftest import Problems

SIMPLE = Scenario.load("c4/simple-20mbps").toml
MINE = """
from pathlib import Path
import thalweg

Path("it-has-run").touch()

class Mine(thalweg.Controller):
    def on_ack(self, event, path):
        self.window = 20_000
"""
pytestmark = pytest.mark.timeout(300)


class Lab:
    """A running `thalweg lab`: the command as it is installed, since its processes load that file again."""

    def __init__(self, folder: Path, *options: str, errors: TextIO | None = None) -> None:
        words = [str(Path(sys.executable).with_name("thalweg")), "lab", str(folder), *options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().removeprefix("open ").strip()
        parts = urlsplit(self.address)
        assert parts.port is not None
        self.port, self.token = parts.port, parts.query.removeprefix("token=")
        self.wait()

    def wait(self) -> None:
        """Until it listens."""
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def page(
        self, browser: Browser, problems: Problems | None = None, width: int = 1400, settled: bool = False
    ) -> Page:
        """What it serves, once the first trial is shown; `problems` hears what goes wrong there."""
        view = browser.new_context(viewport={"width": width, "height": 900}).new_page()
        if problems is not None:
            problems.watch(view, f"http://127.0.0.1:{self.port}/")
        view.goto(self.address)
        view.wait_for_selector("[data-ready]", timeout=60_000)
        if not settled:
            view.evaluate(STOP)
        return view

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        client.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            client.putheader(name, value)
        client.endheaders()
        answer = client.getresponse()
        return answer.status, answer.read()

    def socket(self, token: str | None = None, **headers: str) -> ClientConnection:
        address = f"ws://127.0.0.1:{self.port}/engine?token={token or self.token}"
        origin: Any = headers.pop("Origin", f"http://127.0.0.1:{self.port}")
        return connect(address, origin=origin, additional_headers=headers, max_size=None)


def half_open(lab: Lab, begun: bytes = b"") -> socket.socket:
    """A connection without token that has sent the beginning of a request."""
    found = socket.create_connection(("127.0.0.1", lab.port), 10)
    found.sendall(begun)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "mine"
    path.mkdir()
    (path / "one.toml").write_text(SIMPLE)
    (path.parent / "secret.txt").write_text("a secret\n")
    (path.parent / "secret.py").write_text("raise SystemExit('it has run')\n")
    (path / "link.txt").symlink_to(path.parent / "secret.txt")
    (path / "link.toml").symlink_to(path.parent / "secret.txt")
    (path / "mine.py").write_text(MINE)
    return path


@pytest.fixture(scope="module")
def lab(folder: Path, static: str) -> Iterator[Lab]:
    with running(folder) as found:
        yield found


@contextmanager
def running(folder: Path, *options: str, errors: TextIO | None = None) -> Iterator[Lab]:
    found = Lab(folder, *options, errors=errors)
    try:
        yield found
    finally:
        found.process.terminate()
        found.process.wait(20)


@pytest.fixture(scope="module")
def connection(folder: Path, static: str) -> Iterator[ClientConnection]:
    """A page that stays open: its process answers one call after the other, also after a refusal."""
    with running(folder) as own, own.socket() as found:
        yield found


@pytest.fixture(scope="module")
def trusting(folder: Path, static: str) -> Iterator[ClientConnection]:
    """The same behind a server that was asked to run controllers in Python."""
    with running(folder, "--python") as own, own.socket() as found:
        yield found


def setup(text: str = SIMPLE, **more: Any) -> dict[str, Any]:
    return {"text": text, "origin": "one.toml", "sets": {}, "controllers": {}, **more}


def ask(connection: ClientConnection, told: list[dict[str, float]] | None = None, **call: Any) -> dict[str, Any]:
    """The answer to a call; `told` takes what is said of a run in real time meanwhile."""
    connection.send(json.dumps({"id": 1, **call}))
    while True:
        data = connection.recv(60)
        assert isinstance(data, bytes)
        (length,) = struct.unpack("<I", data[:4])
        header: dict[str, Any] = json.loads(data[4 : 4 + length])
        if "finished" not in header:
            return header
        if told is not None:
            told.append(header["live"])


def test_a_scenario_from_a_page_runs_no_library(connection: ClientConnection) -> None:
    text = SIMPLE.replace("[[flow]]", f'[[flow]]\nstack = "{sys.executable}"', 1)
    refused = ask(connection, name="check", setup=setup(text))["refused"]
    assert "is the file of a library, none of which the lab runs" in refused["message"]


def test_it_listens_on_loopback_alone(lab: Lab) -> None:
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    own = [line.split()[1] for line in table if line.split()[1].endswith(f":{lab.port:04X}") and " 0A " in line]
    assert own == [f"0100007F:{lab.port:04X}"]


@pytest.mark.parametrize("token", ["", "?token=", "?token=wrong", "?token=%00"])
def test_a_missing_or_wrong_token_is_refused(lab: Lab, token: str) -> None:
    for path in ("/", "/scenarios", "/nothing", "/engine"):
        assert lab.get(path + token)[0] == (200 if (path, token) == ("/", "") else 403)
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        lab.socket(token="wrong")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_is_refused(lab: Lab, host: str) -> None:
    assert lab.get(f"/?token={lab.token}", Host=host)[0] in (400, 403)
    assert lab.get(f"/?token={lab.token}", Host=f"localhost:{lab.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(lab: Lab, origin: str) -> None:
    assert lab.get(f"/scenarios?token={lab.token}", Origin=origin)[0] == 403
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        lab.socket(Origin=origin).recv(10)


def test_only_the_page_and_the_folder_are_served(lab: Lab) -> None:
    assert lab.get(f"/?token={lab.token}")[0] == 200
    for name in ("..%2findex.html", "../index.html", "%2e%2e/server.py", "/etc/passwd", "x.js"):
        assert lab.get(f"/assets/{name}?token={lab.token}")[0] in (403, 404)
    status, body = lab.get(f"/scenarios?token={lab.token}")
    assert status == 200
    assert json.loads(body) == {"one.toml": SIMPLE}


@pytest.mark.parametrize(
    "change",
    [
        {"sets": {"path.trace": "../secret.txt"}},
        {"sets": {"path.trace": '"../secret.txt"'}},
        {"sets": {"path.trace": '"\\u002e\\u002e/secret.txt"'}},
        {"sets": {"path.trace": '"""\\u002e./secret.txt"""'}},
        {"sets": {"path.trace": '"\\x2e\\x2e/secret.txt"'}},  # TOML 1.1
        {"sets": {"path.trace": "99999999999999999999 # /../../secret.txt"}},
        {"sets": {"path.trace": "us:/../../secret.txt"}},
        {"sets": {"path.trace": '"us:/../../secret.txt"'}},
        {"sets": {"path.jitter": '{ model = "trace", file = "ms:/../../secret.txt" }'}},
        {"sets": {"path": '{ rtt = "40 ms", trace = "../secret.txt" }'}},
        {"sets": {"path.jitter": '{ model = "trace", file = "../secret.txt", }'}},
        {"sets": {"path.jitter": '{ model = "trace", file = "link.txt" }'}},
        {"text": SIMPLE.replace('rate   = "20 Mbps"', "trace = '/etc/passwd'")},
        {"text": SIMPLE.replace('rate   = "20 Mbps"', "trace = 'link.txt'")},
        {"text": SIMPLE + "[[traffic]]\nname = 'x'\nprofile = '/etc/passwd'\nbin = '1 ms'\n"},
        {"text": SIMPLE + "[[traffic]]\nname = 'x'\nrate = '1 Mbps'\n", "sets": {"traffic.x.profile": "link.txt"}},
        {"origin": "/etc/one.toml", "sets": {"path.trace": "../etc/passwd"}},
        {"controllers": {"main": "../secret.py"}},
        {"controllers": {"main": "/etc/secret.py:Mine"}},
        {"text": SIMPLE.replace('"c4"', '"./../secret.py:Mine"')},
    ],
)
def test_a_scenario_reads_nothing_outside_of_the_folder(
    connection: ClientConnection, change: dict[str, Any]
) -> None:
    header = ask(connection, name="check", setup=setup(**change))
    message = header["refused"]["message"]
    assert "outside of the folder" in message
    assert "a secret" not in message


def test_what_is_no_toml_is_refused_at_its_line(connection: ClientConnection) -> None:
    refused = ask(connection, name="check", setup=setup(text=SIMPLE + "a = \n"))["refused"]
    assert refused["line"] == len(SIMPLE.splitlines()) + 1
    assert refused["file"] is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sets": {"path.trace": r'"a\u0000b"'}}, "has the character U+0000"),
        ({"sets": {"path.trace": "a\0b"}}, "not a name of a file"),
        ({"text": SIMPLE + "[a" + ".a" * 3000 + "]\n"}, "tables inside each other"),
    ],
)
def test_a_scenario_that_cannot_be_looked_through_is_refused(
    connection: ClientConnection, change: dict[str, Any], why: str
) -> None:
    assert why in ask(connection, name="check", setup=setup(**change))["refused"]["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"controllers": {"main": "./mine.py"}},
        {"sets": {"flow.main.controller": "./mine.py:Mine"}},
        {"text": SIMPLE.replace('"c4"', '"mine.py"')},
    ],
)
def test_a_controller_in_python_runs_only_if_that_was_asked_for(
    connection: ClientConnection, trusting: ClientConnection, folder: Path, change: dict[str, Any]
) -> None:
    trace = folder / "it-has-run"
    for name in ("check", "run"):
        header = ask(connection, name=name, setup=setup(**change), seed="1", traced=False)
        assert "requires thalweg lab --python" in header["refused"]["message"]
        assert "--python" in header["refused"]["message"]
    assert not trace.exists()
    header = ask(trusting, name="run", setup=setup(**change), seed="1", traced=False)
    assert len(header["outcomes"]["trials"]["trace_hash"]) == 1
    outside = ask(trusting, name="check", setup=setup(controllers={"main": "../secret.py"}))
    assert "outside of the folder" in outside["refused"]["message"]
    trace.unlink(missing_ok=True)  # a file runs once in a process


def test_what_is_no_name_of_a_file_is_read(connection: ClientConnection) -> None:
    for text in ("ms: 3 3 7 10", '"ms: 3 3 7 10"', "'ms: 3 3 7 10'"):
        named = setup(SIMPLE.replace('rate   = "20 Mbps"', ""), sets={"path.trace": text})
        assert "ms: 3 3 7 10" in ask(connection, name="check", setup=named)["result"]["toml"]
    sets = {"path.rtt": "30 ms", "flow.main.streams": "2"}
    assert "result" in ask(connection, name="check", setup=setup(sets=sets))


def test_a_name_with_links_does_not_leave_the_folder(folder: Path) -> None:
    with pytest.raises(RequestError, match="outside"):
        Folder.at(folder).inside("link.txt")


def test_a_trial_over_the_socket_is_the_native_one(connection: ClientConnection) -> None:
    header = ask(connection, name="run", setup=setup(controllers={"main": "bbr"}), seed="7", traced=True)
    native = Scenario.load("c4/simple-20mbps", controllers={"main": "bbr"}).run(seed=7)
    assert header["outcomes"]["trials"]["trace_hash"] == [native.trace_hash]
    refused = ask(connection, name="check", setup=setup(SIMPLE.replace('"20 Mbps"', '"20 Mbs"')))["refused"]
    assert refused["message"].startswith(f"one.toml:{refused['line']}: ")


@pytest.mark.parametrize(
    "message",
    [
        "no json",
        "[]",
        "{}",
        '{"id": 1, "name": "eval"}',
        '{"id": 1, "name": "run", "setup": {}}',
        json.dumps({"id": 1, "name": "run", "setup": setup(), "seed": 7}),
        json.dumps({"id": 1, "name": "trials", "setup": setup(), "seeds": ["1"] * 10_001}),
        "[" * 100_000,
        json.dumps({"id": 1, "name": "run", "setup": setup(), "seed": "7"}),
        json.dumps({"id": 1, "name": "check", "setup": setup(text="\ud800")}),
    ],
)
def test_nonsense_ends_the_connection_and_nothing_else(lab: Lab, message: str) -> None:
    with lab.socket() as connection:
        connection.send(message)
        with pytest.raises(ConnectionClosed):
            connection.recv(20)
    assert lab.get(f"/?token={lab.token}")[0] == 200


FRAMES = [
    b"\x81\x82\0\0\0\0\xff\xfe",  # a text that is not UTF-8
    b"\x82\x83\0\0\0\0abc",  # bytes
    b"\x81\x02{}",  # without a mask
    b"\x83\x81\0\0\0\0x",  # an opcode that is not assigned
    b"\xc1\x81\0\0\0\0x",  # a reserved bit
    b"\x81\xff\x40\0\0\0\0\0\0\0\0\0\0\0",  # 2^62 bytes
    b"\x80\x81\0\0\0\0x",  # the rest of nothing
    b"\x88\x81\0\0\0\0x",  # half a code
    b"GET / HTTP/1.1\r\n\r\n",
]


def test_a_frame_that_is_none_ends_the_connection_without_a_word_of_the_server(
    lab: Lab, folder: Path, tmp_path: Path
) -> None:
    assert lab.port  # or the test is skipped
    with (tmp_path / "errors").open("w") as errors, running(folder, errors=errors) as found:
        head = (
            f"GET /engine?token={found.token} HTTP/1.1\r\nHost: 127.0.0.1:{found.port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        )
        for frame in FRAMES:
            with socket.create_connection(("127.0.0.1", found.port), 20) as connection:
                connection.sendall(head.encode())
                assert connection.recv(4096).startswith(b"HTTP/1.1 101")
                connection.sendall(frame)
                while connection.recv(4096):  # until it is closed
                    pass
        assert found.get(f"/?token={found.token}")[0] == 200
        assert (tmp_path / "errors").read_text() == ""


def test_a_message_that_is_too_long_ends_the_connection(lab: Lab) -> None:
    with lab.socket() as connection:
        connection.send(json.dumps({"id": 1, "name": "check", "setup": setup("#" * (3 << 20))}))
        with pytest.raises(ConnectionClosed):
            connection.recv(20)


def children(process: int) -> int:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False
    )
    return len(listed.stdout.split())


def eventually(true: Callable[[], bool], seconds: float = 10) -> bool:
    for _ in range(int(10 * seconds)):
        if true():
            return True
        time.sleep(0.1)
    return False


def test_a_client_that_vanishes_leaves_no_process(lab: Lab) -> None:
    assert eventually(lambda: children(lab.process.pid) <= 1)  # multiprocessing keeps one that cleans up
    before = children(lab.process.pid)
    connection = lab.socket()
    long = Scenario.load("c4/simple-200mbps", overrides={"flow.main.download": "10 GB"}).toml
    connection.send(json.dumps({"id": 1, "name": "run", "setup": setup(long), "seed": "1", "traced": False}))
    assert eventually(lambda: children(lab.process.pid) > before)
    connection.socket.shutdown(socket.SHUT_RDWR)
    assert eventually(lambda: children(lab.process.pid) <= max(before, 1))


def test_a_stopped_call_ends_at_once_and_the_next_is_answered(lab: Lab) -> None:
    long = Scenario.load("c4/simple-200mbps", overrides={"flow.main.download": "10 GB"}).toml
    with lab.socket() as connection:
        ask(connection, name="about")
        connection.send(json.dumps({"id": 2, "name": "run", "setup": setup(long), "seed": "1", "traced": False}))
        time.sleep(0.5)
        connection.send(json.dumps({"id": 2, "stop": True}))
        header = ask(connection, name="run", setup=setup(), seed="1", traced=False)
        assert header["outcomes"]["trials"]["trace_hash"] == [
            Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
        ]


def test_a_call_is_stopped_while_its_process_starts(lab: Lab) -> None:
    with lab.socket() as connection:
        for number in range(2, 12):
            connection.send(json.dumps({"id": number, "name": "about"}))
            connection.send(json.dumps({"id": number, "stop": True}))
        header = ask(connection, name="run", setup=setup(), seed="1", traced=False)
        assert len(header["outcomes"]["trials"]["trace_hash"]) == 1


def test_a_page_that_closes_while_its_process_starts_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w") as errors, running(folder, errors=errors) as own:
        for _ in range(10):
            with own.socket() as connection:
                connection.send(json.dumps({"id": 1, "name": "about"}))
                connection.send(json.dumps({"id": 1, "name": "about"}))  # which ends the connection
        assert eventually(lambda: children(own.process.pid) <= 1)
    assert (tmp_path / "errors").read_text() in ("", "interrupted\n")  # of the SIGTERM that ends it


def test_more_pages_than_there_is_room_for_are_refused(lab: Lab) -> None:
    open_ = [lab.socket() for _ in range(8)]
    try:
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            lab.socket().recv(10)
    finally:
        for connection in open_:
            connection.close()


def test_the_page_behind_the_server_shows_the_native_trials(
    lab: Lab, browser: Browser, problems: Problems
) -> None:
    view = lab.page(browser, problems, settled=True)
    view.wait_for_selector("[data-settled]", timeout=60_000)
    native = Scenario.load("c4/simple-20mbps")  # what one.toml has, the first scenario of the folder
    assert view.locator("[data-hash]").inner_text() == native.run(seed=1).trace_hash
    many = view.evaluate("[...thalweg.shown.many.flows.completion_s]")
    assert many == native.trials(100).flows["completion_s"].to_list()
    view.select_option("header.top select", "one.toml")
    view.wait_for_selector("text=Simple 20 Mbps >> visible=true")
    view.wait_for_selector("[data-settled]")
    assert view.locator("[data-hash]").inner_text() == Scenario.load("c4/simple-20mbps").run(seed=1).trace_hash
    assert view.evaluate("thalweg.command()") == "thalweg run ./one.toml --seed 1"
    assert "Run it in the folder" in view.locator(".take-away").inner_text()
    link = view.evaluate("thalweg.link()")
    assert lab.token not in link
    stranger = browser.new_context().new_page()
    problems.watch(stranger, f"http://127.0.0.1:{lab.port}/")
    stranger.goto(link)
    stranger.wait_for_selector("[data-settled]", timeout=60_000)
    assert stranger.locator("[data-hash]").inner_text() == view.locator("[data-hash]").inner_text()


def test_the_document_of_the_sandbox_has_no_origin_however_it_is_opened(lab: Lab) -> None:
    client = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=30)
    client.request("GET", "/sandbox.html")
    policy = client.getresponse().headers["Content-Security-Policy"]
    assert policy == "frame-ancestors 'self'; sandbox allow-scripts"


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTTP/1.1\r\nHost: ", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
)
def test_half_open_connections_without_a_token_lock_nobody_out(lab: Lab, begun: bytes) -> None:
    with lab.socket() as before:  # a page that is open already stays
        strangers = [half_open(lab, begun) for _ in range(3 * MOST_STRANGERS)]
        try:
            assert lab.get(f"/scenarios?token={lab.token}")[0] == 200
            assert lab.get("/")[0] == 200
            with lab.socket() as page:
                assert "refused" not in ask(page, name="check", setup=setup())
            assert "refused" not in ask(before, name="check", setup=setup())
            assert _is_closed(strangers[0])  # it gave way
        finally:
            for stranger in strangers:
                stranger.close()


def _is_closed(connection: socket.socket) -> bool:
    connection.settimeout(10)
    with suppress(ConnectionResetError):
        while connection.recv(1 << 16):
            pass
    return True


@pytest.mark.soak  # ten seconds that nothing happens in
def test_a_connection_that_sends_no_head_is_closed(lab: Lab) -> None:
    with half_open(lab, b"GET / HTTP/1.1\r\n") as stranger:
        stranger.settimeout(HEAD_S + 20)
        with suppress(ConnectionResetError):
            assert stranger.recv(1) == b""
