"""What a library does wrong: one message that names the call, the scenario and the simulated time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import thalweg
from thalweg.engine import libraries
from toys import Toy, small, small_text

CALLS = {
    "SEGV": r"thalweg_stack_datagram_in of the client of flow main crashed with SIGSEGV, at 0\.\d+ s",
    "ABORT": r"thalweg_stack_datagram_in .* crashed with SIGABRT, at 0\.\d+ s.*toy: assertion failed: window > 0",
    "EXIT": r"thalweg_stack_datagram_in .* ended its process with status 3, at 0\.\d+ s",
    "PAST": r"thalweg_stack_next .* answered 0\.\d+ s, which is past, 1000 times in a row.*, at 0\.\d+ s",
    "STUCK_TIMER": r"thalweg_stack_next .* 1000 times in a row.*, at 0\.\d+ s",
    "ENDLESS": r"thalweg_stack_datagram_out .* sent more than 131072 datagrams at one instant, at 0\.\d+ s",
    "TOO_LONG": r"thalweg_stack_datagram_out .* sent 9000 bytes; accepted: 1 to 1440, at 0\.\d+ s",
    "SAYS_SO": r"thalweg_stack_datagram_in .* failed: the ledger does not add up, at 0\.\d+ s",
    "REFUSES": r"thalweg_stack_create .* creates no stack: it is not in the mood, at 0\.\d+ s",
    "BAD_STREAM": r"thalweg_stack_read .* reported stream 18446744073709551615, which nobody opened, at 0\.\d+ s",
    "MORE": r"thalweg_stack_read .* client .* reported 18446744073709551615 bytes of stream 0, of which the other "
    r"end has written 100000, at 0\.\d+ s",
    "ENDS_EARLY": r"thalweg_stack_read .* client .* reported the end of stream 0 after 1000 bytes, but the other "
    r"end has ended it after 100000, at 0\.\d+ s",
    "ENDS_TWICE": r"thalweg_stack_read .* client .* reported more of stream 0 after its end, at 0\.\d+ s",
    # Two round trips of 40 ms, and 100 kB in packets of 1468 bytes at 8 Mbps.
    "KNOWS": r'thalweg_stack_read .* client .* reaches "completion" at 8\d+\.\d+ us, below its floor of 18\d+\.',
    "SHOUTS": r"thalweg_stack_datagram_in .* failed: \\u001b\[2Jbad\\n::error::\\u202e, at 0\.\d+ s",
    "CRASH_AT_END": r"thalweg_stack_destroy .* crashed with SIGABRT after the end of the trial",
    "LEAK": r"thalweg_stack_datagram_in .* crashed with SIG\w+, at 0\.\d+ s",
}


@pytest.mark.parametrize("fault", CALLS)
def test_a_fault_ends_its_trial_with_the_call_the_scenario_and_the_simulated_time(toy: Toy, fault: str) -> None:
    with pytest.raises(thalweg.StackError, match=f"small, seed 7: .*libtoy.*{CALLS[fault]}") as raised:
        small(toy(FAULT=fault)).run(7)
    assert "\n" not in str(raised.value)


def test_a_call_that_never_returns_is_ended(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    looping = small(toy(FAULT="LOOP"))  # the inspector has its usual time
    monkeypatch.setattr(libraries, "PATIENCE_S", 2.0)
    begin = time.monotonic()
    expected = r"thalweg_stack_datagram_in of the client of flow main has not returned for 2 s, at 0\.\d+ s"
    with pytest.raises(thalweg.StackError, match=expected):
        looping.run(1)
    # Far from the 60 s for which simulated time may stand still.
    assert 2.0 < time.monotonic() - begin < 40.0


LOADING = {
    "NO_SYMBOL": "lacks the function thalweg_stack_open of thalweg_stack.h",
    "OTHER_ABI": "has version 99 of thalweg_stack.h; accepted: 1",
    "CRASH_ON_LOAD": "crashed with SIGSEGV in its constructor or thalweg_stack_describe",
}


@pytest.mark.parametrize("fault", LOADING)
def test_what_is_no_stack_is_refused_with_the_key(toy: Toy, fault: str) -> None:
    with pytest.raises(thalweg.ScenarioError, match=f"flow.0.stack: .*libtoy.*{LOADING[fault]}"):
        small(toy(FAULT=fault))


def test_a_library_that_does_not_finish_loading_is_refused(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "PATIENCE_S", 1.0)
    with pytest.raises(thalweg.ScenarioError, match=r"has not returned from its constructor .* for 1 s"):
        small(toy(FAULT="LOOP_ON_LOAD"))


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("no library")
    with pytest.raises(thalweg.ScenarioError, match=r'stack: .*" cannot be loaded: '):
        small(text)
    with pytest.raises(thalweg.ScenarioError, match=r'stack: .*" cannot be read: No such file'):
        small(tmp_path / "nowhere.so")


@pytest.mark.parametrize("fault", ["PRINT", "PRINT_UNFLUSHED"])
def test_a_library_that_prints_is_played_and_named_once(
    toy: Toy, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    library = toy(FAULT=fault)
    assert small(library).trials(3).n == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("note: ") == 1
    assert 'debug: got the 20th"; stacks have no output' in said.err


def test_nothing_of_a_trial_is_left_in_the_next(toy: Toy) -> None:
    # This one widens its window with each connection that its process has seen.
    forgetful = small(toy(FAULT="REMEMBERS"))
    hashes = list(forgetful.trials(4, jobs=1).trials["trace_hash"])
    assert hashes == list(small(toy()).trials(4, jobs=1).trials["trace_hash"])


def test_a_suite_keeps_what_is_finished_and_ends_with_status_2(toy: Toy, tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    suite.mkdir()
    # The 20th datagram, with which the fault comes, is one of a download of 20 kB and none of one of 5 kB.
    for name, size in (("a", "5 kB"), ("b", "100 kB")):
        (suite / f"{name}.toml").write_text(small_text(toy(FAULT="SEGV"), size))
    (suite / "suite.toml").write_text('title = "Mine"\norder = ["a", "b"]\n')
    out = tmp_path / "out"
    command = [str(Path(sys.executable).with_name("thalweg")), "suite", str(suite), "-n", "2", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "crashed with SIGSEGV, at 0." in done.stderr
    assert "1 of 2 scenarios are finished and kept in" in done.stderr
    assert "Traceback" not in done.stderr
