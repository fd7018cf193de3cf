"""Controllers that are wrong: one message with file and line, status 2, and nothing that hangs."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import thalweg
from thalweg.cli import main
from thalweg.engine.controllers import Ack, Init
from thalweg.engine.scenario import Scenario

HEAD = """import thalweg


class Bad(thalweg.Controller):
"""


def write(tmp_path: Path, body: str, head: str = HEAD) -> Path:
    file = tmp_path / "bad.py"
    file.write_text(head + textwrap.indent(textwrap.dedent(body), "    " if head else ""))
    return file


def refusal(file: Path | str, capfd: pytest.CaptureFixture[str], trials: int = 1) -> str:
    """What a run says that ends with status 2, without a traceback."""
    status = main(["run", "c4/simple-20mbps", "-c", f"main={file}", "-n", str(trials), "-j", "2", "--seed", "7"])
    said = capfd.readouterr().err
    assert status == 2, said
    assert "Traceback" not in said
    assert said.count("error: ") == 1
    return said


IN_TRIALS = {
    "an exception": (
        "def on_ack(self, event, path):\n    self.n = 1 / 0",
        ":6: ZeroDivisionError: division by zero",
    ),
    "no number": (
        "def on_ack(self, event, path):\n    self.window = float('nan')",
        ":5: ValueError: window is nan; acc",
    ),
    "infinity": (
        "def on_ack(self, event, path):\n    self.window = 1e308 * 10",
        ":5: ValueError: window is inf; acc",
    ),
    "less than nothing": (
        "def on_ack(self, event, path):\n    self.pacing = -1",
        ":5: ValueError: pacing is -1; acc",
    ),
    "a text": (
        "def on_ack(self, event, path):\n    self.window = '10 kB'",
        ":5: ValueError: window is '10 kB'; acc",
    ),
    "recursion": ("def on_ack(self, event, path):\n    self.on_ack(event, path)", ":6: RecursionError: "),
    "the end": ("def on_ack(self, event, path):\n    raise SystemExit", ":6: SystemExit"),
    "an exception without words": (
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError('no')\n    __repr__ = __str__\n\n"
        "def on_ack(self, event, path):\n    raise self.Odd",
        ":11: Odd: (it cannot be shown: its __str__ raises an exception too) (in on_ack of",
    ),
    "an exception whose words are not text": (
        "class Odd(Exception):\n    def __str__(self):\n        return 1\n\n"
        "def on_ack(self, event, path):\n    raise self.Odd",
        ":10: Odd: (it cannot be shown",
    ),
    "deep within": (
        "def on_ack(self, event, path):\n    self.more({})\n\ndef more(self, d):\n    d['a']",
        ":9: KeyError: 'a'",
    ),
}


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("what", IN_TRIALS)
def test_what_a_handler_raises_comes_with_file_line_flow_seed_and_time(
    what: str, trials: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body, expected = IN_TRIALS[what]
    said = refusal(write(tmp_path, body), capfd, trials)
    assert f"{tmp_path}/bad.py{expected}" in said.replace("\n", ""), said
    assert "flow main of the trial with seed" in said
    # The first ACK of application data comes a round trip or two of 80 ms after the start.
    assert "at 0." in said


def test_a_constructor_that_raises_or_sets_no_window_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    on_ack = "\ndef on_ack(self, event, path):\n    pass\n"
    said = refusal(write(tmp_path, "def __init__(self, init):\n    raise ValueError('no')" + on_ack), capfd)
    assert "bad.py:6: ValueError: no (in __init__ of" in said
    said = refusal(write(tmp_path, "def __init__(self, init):\n    pass\n" + on_ack), capfd)
    assert "bad.py:5: " in said
    assert "window is not set" in said
    said = refusal(write(tmp_path, "ecn = 'ect2'\n" + on_ack), capfd)
    assert "ecn is 'ect2'; accepted: \"ect0\"" in said


BEFORE_TRIALS = {
    "a coroutine": (
        "async def on_ack(self, event, path):\n    self.window = 1",
        "bad.py:5: Bad.on_ack is a coroutine (async def): nothing in it would run; accepted: def on_ack",
    ),
    "a generator": (
        "def on_ack(self, event, path):\n    pass\n\ndef on_lost(self, event, path):\n    yield",
        "bad.py:8: Bad.on_lost is a generator (yield)",
    ),
    "an asynchronous generator": (
        "async def on_ack(self, event, path):\n    yield",
        "bad.py:5: Bad.on_ack is an asynchronous generator",
    ),
    "what it shows as a coroutine": (
        "def on_ack(self, event, path):\n    pass\n\nasync def observe(self):\n    return {}",
        "bad.py:8: Bad.observe is a coroutine",
    ),
    "a constructor that is a generator": (
        "def __init__(self, init):\n    yield\n\ndef on_ack(self, event, path):\n    pass",
        "bad.py:5: Bad.__init__ is a generator",
    ),
    "no on_ack": ("def on_lost(self, event, path):\n    pass", "bad.py:4: Bad has no on_ack; accepted: "),
    "a typing error": (
        "def on_ack(self, event, path):\n    pass\n\ndef on_loss(self, event, path):\n    pass",
        "bad.py:8: nothing calls Bad.on_loss; did you mean on_lost or on_spurious_loss?",
    ),
    "an argument less": ("def on_ack(self, event):\n    pass", "accepted: on_ack(self, event, path)"),
    "a report at no time": (
        "def on_report(self, report, path):\n    pass",
        'on_report requires report_every, such as "1 rtt"',
    ),
    "a report at a wrong time": (
        "report_every = '1 rt'\n\ndef on_report(self, report, path):\n    pass",
        'report_every = "1 rt"; accepted: "1 rtt" or a time',
    ),
    "an option of another type": (
        "def __init__(self, init, beta: list = ()):\n    pass\n\ndef on_ack(self, event, path):\n    pass",
        "option beta has the type list; accepted: float",
    ),
}


@pytest.mark.parametrize("what", BEFORE_TRIALS)
def test_a_class_that_cannot_steer_a_flow_is_refused_before_anything_runs(
    what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body, expected = BEFORE_TRIALS[what]
    assert expected in refusal(write(tmp_path, body), capfd)


def test_options_are_checked_by_name_and_type(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(
        tmp_path,
        """
        def __init__(self, init, beta: float = 0.7, fast: bool = False, *, must: int):
            self.window = init.initial_window

        def on_ack(self, event, path):
            pass
        """,
    )
    assert 'has no option "bta"; did you mean beta?; accepted: beta, fast, must' in refusal(f"{file}:bta=1", capfd)
    assert 'option "beta" of' in (said := refusal(f"{file}:beta=high,must=1", capfd))
    assert 'cannot be "high"; accepted: a number' in said
    assert 'cannot be "nan"; accepted: a number' in refusal(f"{file}:beta=nan,must=1", capfd)
    assert "is given twice" in refusal(f"{file}:beta=0.5,beta=0.8,must=1", capfd)
    assert 'option "beta" of "cubic" is given twice' in refusal("cubic:beta=0.5,beta=0.8", capfd)
    assert 'needs the option "must"; accepted: a whole number' in refusal(f"{file}:Bad:fast", capfd)
    assert (
        main(["run", "c4/simple-20mbps", "-c", f"main={file}:fast,must=1", "--set", "flow.main.download=10kB"])
        == 0
    )


def test_a_file_that_holds_no_or_two_controllers_or_cannot_be_loaded_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    on_ack = "    def on_ack(self, event, path):\n        pass\n\n\n"
    two = write(tmp_path, "", HEAD + on_ack + "class Worse(thalweg.Controller):\n" + on_ack)
    assert "accepted: " in (said := refusal(two, capfd))
    assert f"{two}:Bad, {two}:Worse" in said.replace("\n", "")
    assert "Wors is not in this file; did you mean Worse?" in refusal(f"{two}:Wors", capfd)
    assert "thalweg is not a class of thalweg.Controller" in refusal(f"{two}:thalweg", capfd)
    assert "there is no controller; accepted: class Mine" in refusal(
        write(tmp_path, "", "import thalweg\n"), capfd
    )
    assert "bad.py:2: SyntaxError: " in refusal(write(tmp_path, "", "import thalweg\nclass\n"), capfd)
    assert "bad.py:1: ModuleNotFoundError: No module" in refusal(write(tmp_path, "", "import nowhere\n"), capfd)
    assert "bad.py:1: SystemExit: 3" in refusal(write(tmp_path, "", "raise SystemExit(3)\n"), capfd)
    assert "No such file" in refusal(tmp_path / "none.py", capfd)
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    assert "this is not text in UTF-8" in refusal(tmp_path / "binary.py", capfd)


def test_a_suite_keeps_the_scenarios_that_were_finished(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    text = (
        'title = "t"\n[path]\nrate = "10 Mbps"\nrtt = "40 ms"\n[[flow]]\nname = "main"\ncontroller = "c4"\n'
        'download = "BYTES"\n'
    )
    (folder / "a.toml").write_text(text.replace("BYTES", "100 kB"))
    (folder / "b.toml").write_text(text.replace("BYTES", "10 MB"))
    file = write(tmp_path, "def on_ack(self, event, path):\n    assert path.now < 2")
    out = tmp_path / "out"
    assert main(["suite", str(folder), "-c", f"main={file}", "-n", "3", "-j", "2", "--out", str(out)]) == 2
    said = capfd.readouterr().err
    assert "AssertionError" in said
    assert "1 of 2 scenarios are finished and kept in" in said
    kept = thalweg.SuiteResult.load(out)
    assert [outcomes.scenario.name for outcomes in kept.outcomes] == ["a"]


LOOPS = {
    "plain": "    while True:\n        pass\n",
    "stubborn": "    while True:\n        try:\n            pass\n        except BaseException:\n            1\n",
}


@pytest.mark.parametrize("trials", [1, 4])
@pytest.mark.parametrize("loop", LOOPS)
def test_ctrl_c_ends_a_handler_that_does_not_return(loop: str, trials: int, tmp_path: Path) -> None:
    flag = tmp_path / "running"
    file = write(tmp_path, f"def on_ack(self, event, path):\n    open({str(flag)!r}, 'w').close()\n{LOOPS[loop]}")
    arguments = ["run", "c4/simple-20mbps", "-c", f"main={file}", "-n", str(trials), "-j", "2"]
    program = f"import sys; from thalweg.cli import main; sys.exit(main({arguments!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    try:
        until = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said


class Slow(thalweg.Controller):
    """Ten packets, and a fraction of a millisecond for each ACK."""

    def __init__(self, init: Init) -> None:
        self.window = float(init.initial_window)

    def on_ack(self, event: Ack, path: object) -> None:
        sum(range(30_000))


def test_a_run_that_ends_leaves_the_controllers_of_other_runs_alone() -> None:
    def fail(_: int) -> None:
        raise ValueError("enough")

    scenario = Scenario.load("c4/simple-20mbps", {"flow.main.download": "1 MB"}, {"main": Slow})
    with ThreadPoolExecutor(1) as other:
        whole = other.submit(scenario.trials, 10, jobs=1)
        with pytest.raises(ValueError, match="enough"):
            scenario.trials(10, jobs=1, on_progress=fail)
        assert not whole.done()  # or it was not there to be interrupted
        assert whole.result().n == 10


def test_ctrl_c_while_the_file_of_a_controller_runs_is_no_refusal(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("raise KeyboardInterrupt")  # as Ctrl-C does in a file that takes long
    with pytest.raises(KeyboardInterrupt):
        Scenario.load("c4/simple-20mbps", controllers={"main": str(file)})
