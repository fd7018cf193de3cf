"""`thalweg gate`: an unchanged stack is identical, a changed one is found, and what is worse fails."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from calls import ENCODED_CALL
from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
PACED = '''
import thalweg


class Paced(thalweg.Controller):
    """AIMD that says its pacing rate."""

    def __init__(self, init, gain: float = 1.25):
        self.gain = gain
        self.window = init.initial_window
        self.threshold = float("inf")
        self.reduced = 0

    def on_ack(self, event, path):
        slow = self.window < self.threshold
        self.window += event.newly_acked if slow else event.newly_acked * path.mtu / self.window
        self.pacing = 8 * self.gain * self.window / path.smoothed_rtt

    def on_lost(self, event, path):
        if event.packet >= self.reduced:
            self.reduced = path.next_packet
            self.threshold = self.window = max(self.window * 0.7, 2 * path.mtu)
'''


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the gate of two scenarios of c4 in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*options: str, only: str = "simple-*") -> int:
        return main(["gate", "c4", "--only", only, *options])

    return run


def test_a_missing_baseline_is_one_message_that_says_what_to_run(
    gate: Callable[..., int], capsys: Capture
) -> None:
    assert gate("-n", "2") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "error: there is no baseline thalweg-baseline.json; to make one, run the same command with --accept\n"
    )


def test_unchanged_controllers_are_identical_with_all_their_trials_and_pass_even_strictly(
    gate: Callable[..., int], capsys: Capture
) -> None:
    for seeds in range(1, 11):
        file = ("--baseline", f"{seeds}.json")
        assert gate("--accept", "--seed-set", str(seeds), "-c", "main=cubic", *file) == 0
        capsys.readouterr()
        # Options at their default are the same controller.
        assert gate("--strict", "-c", "main=cubic:beta=0.7", *file) == 0
        assert "40 of 40 trials are identical to the baseline\n" in capsys.readouterr().out


def test_the_file_is_the_same_bytes_however_many_threads_and_whatever_order(
    gate: Callable[..., int], tmp_path: Path
) -> None:
    gate("--accept", "-n", "3", "--jobs", "1")
    alone = (tmp_path / "thalweg-baseline.json").read_bytes()
    gate("--accept", "-n", "3", "--jobs", "2", "--out", "kept")
    assert (tmp_path / "thalweg-baseline.json").read_bytes() == alone
    gate("--accept", "-n", "3", "--out", "kept")  # all of them from the store
    assert (tmp_path / "thalweg-baseline.json").read_bytes() == alone
    assert len(alone) < 4096
    assert max(map(len, alone.splitlines())) < 120


@pytest.mark.parametrize(
    "change",
    [
        "-c main=cubic:beta=0.714",  # 2 % of the gain of the window
        "-c main=cubic:beta=0.72",
        "-c main=cubic:start=classic",  # without HyStart++
        "-c main=cubic --set transport.max_ack_delay=20ms",  # twice 10 ms
        "-c main=cubic --set flow.main.stack=quic",
    ],
)
def test_a_change_of_the_stack_is_found_with_every_set_of_seeds(
    change: str, gate: Callable[..., int], capsys: Capture
) -> None:
    for seeds in ("1", "2", "3"):
        file = ("--baseline", f"{seeds}.json")
        assert gate("--accept", "-n", "5", "--seed-set", seeds, "-c", "main=cubic", *file) == 0
        capsys.readouterr()
        assert gate("--strict", *change.split(), *file) == 1
        assert "trials differ from the baseline" in capsys.readouterr().err


def test_a_pacing_rate_that_is_two_percent_off_is_found(
    gate: Callable[..., int], tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "paced.py").write_text(PACED, encoding="utf-8")
    assert gate("--accept", "-n", "5", "-c", "main=paced.py", only="simple-20mbps") == 0
    assert gate("--strict", "-c", "main=paced.py", only="simple-20mbps") == 0
    # The file is changed, and not only an option: it is what is tested, and no other scenario.
    (tmp_path / "paced.py").write_text(PACED.replace("1.25", "1.275"), encoding="utf-8")
    assert gate("--strict", "-c", "main=paced.py", only="simple-20mbps") == 1
    assert "5 of 5 trials differ from the baseline" in capsys.readouterr().err


def test_what_is_worse_fails_and_names_the_worst_trial_and_its_replay(
    gate: Callable[..., int], tmp_path: Path, capsys: Capture
) -> None:
    assert gate("--accept", "-c", "main=cubic", only="simple-20mbps") == 0
    capsys.readouterr()
    # A third of the window after each loss: the queue runs empty, and the download takes longer.
    assert gate("-c", "main=cubic:beta=0.3", only="simple-20mbps") == 1
    said = capsys.readouterr()
    assert said.err.count("worse: simple-20mbps: main ") == said.err.count("  replay: ") == 1
    worse = re.search(
        r"worse: simple-20mbps: main completion: (\S+) s, now (\S+) ms more \(\+\d+\.\d %\)", said.err
    )
    assert worse
    assert float(worse[2]) / 1000 > 0.01 * float(worse[1])
    assert "also worse: " in said.err
    assert "closed (+" in said.err
    assert "the controller is cubic:beta=0.3, in the baseline cubic\n" in said.err
    of_closed = said.err[worse.start() :]
    told = re.search(r"worst trial has seed (\d+), \S+ s to (\S+) s\n  replay: (thalweg run .*)", of_closed)
    assert told
    words = shlex.split(told[3])
    assert words[words.index("--seed") + 1] == told[1]
    assert main([*words[1:], "--format", "json"]) in (0, 1)
    assert (tmp_path / "worst.html").exists()
    assert (tmp_path / "worst.sqlog").exists()
    (again,) = json.loads(capsys.readouterr().out)["scenarios"]
    (completion,) = {one["median"] for one in again["criteria"] if one["metric"] == "completion"}
    assert float(f"{completion:.4g}") == float(told[2])


def test_a_call_that_buys_fewer_freezes_with_rate_fails_and_one_that_freezes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "calls"
    folder.mkdir()
    (folder / "call.toml").write_text(ENCODED_CALL, encoding="utf-8")
    words = ["gate", "calls", "-n", "20"]
    assert main([*words, "--accept"]) == 0
    kept = json.loads(Path("thalweg-baseline.json").read_text(encoding="utf-8"))["scenarios"]["call"]["metrics"]
    assert set(kept) == {"frame-delay", "max-frame-delay", "frozen", "loss", "queue-delay", "rate"}
    assert main(words) == 0
    capsys.readouterr()

    def answers(controller: str) -> dict[str, str]:
        assert main([*words, "-c", f"main={controller}", "--format", "json"]) == 1
        [scenario] = json.loads(capsys.readouterr().out)["scenarios"]
        return {one["metric"]: one["answer"] for one in scenario["metrics"]}

    # Media of a third of the rate, which empties the queue; and of 4/3 of it, whose frames are lost.
    slow, fast = answers("cbr:rate=500kbps"), answers("cbr:rate=2Mbps")
    assert (slow["rate"], slow["frozen"]) == ("worse", "better")
    assert fast["frozen"] == "worse", fast


def test_what_is_better_passes_and_says_so_unless_strict(gate: Callable[..., int], capsys: Capture) -> None:
    assert gate("--accept", "-c", "main=cubic:beta=0.3", only="simple-20mbps") == 0
    assert gate("-c", "main=cubic", "--thresholds", _thresholds("rate"), only="simple-20mbps") == 0
    assert "1 metric is better than the baseline: keep that with --accept" in capsys.readouterr().err
    assert gate("-c", "main=cubic", "--thresholds", _thresholds("rate"), "--strict", only="simple-20mbps") == 1


def _thresholds(only: str) -> str:
    """A file that judges one metric."""
    from thalweg.judging.thresholds import DEFAULTS  # noqa: PLC0415

    lines = [f'{name} = "off"' for name in DEFAULTS if name != only]
    Path("thresholds.toml").write_text("\n".join(["[gate]", *lines]), encoding="utf-8")
    return "thresholds.toml"


def test_a_change_within_its_threshold_passes(gate: Callable[..., int], tmp_path: Path) -> None:
    assert gate("--accept", "-c", "main=cubic", only="simple-20mbps") == 0
    wide = dict.fromkeys(("completion", "closed", "rate", "loss", "queue-delay"), "900 %")
    lines = [f'{name} = "{share}"' for name, share in wide.items()]
    (tmp_path / "wide.toml").write_text("\n".join(["[gate]", *lines]), encoding="utf-8")
    assert gate("-c", "main=cubic:beta=0.3", only="simple-20mbps") == 1
    assert gate("-c", "main=cubic:beta=0.3", "--thresholds", "wide.toml", only="simple-20mbps") == 0


def test_too_few_trials_to_tell_are_no_pass(gate: Callable[..., int], capsys: Capture) -> None:
    assert gate("--accept", "-n", "3", "-c", "main=cubic") == 0
    assert gate("-c", "main=cubic") == 0
    assert gate("-c", "main=reno") == 2
    assert "undecided" in capsys.readouterr().err


def test_part_of_a_baseline_is_accepted_and_the_rest_stays(gate: Callable[..., int], tmp_path: Path) -> None:
    file = tmp_path / "thalweg-baseline.json"
    assert gate("--accept", "-n", "4") == 0
    before = json.loads(file.read_text())
    assert gate("--accept", "-c", "main=reno", only="simple-20mbps") == 0
    after = json.loads(file.read_text())
    same = [name for name in before["scenarios"] if before["scenarios"][name] == after["scenarios"][name]]
    assert same == ["simple-200mbps"]
    assert after["scenarios"]["simple-20mbps"]["controller"] == "reno"
    assert after["trials"] == 4


def test_documents_are_well_formed_and_files_come_beside_the_table(
    gate: Callable[..., int], tmp_path: Path, capsys: Capture
) -> None:
    assert gate("--accept", "-c", "main=cubic") == 0
    capsys.readouterr()
    summary = tmp_path / "summary.txt"
    summary.write_text("# Before\n", encoding="utf-8")
    files = ("--junit", "report.xml", "--markdown", "summary.txt")
    assert gate("-c", "main=cubic:beta=0.3", *files) == 1
    table = capsys.readouterr().out
    assert "simple-20mbps" in table
    root = ElementTree.fromstring((tmp_path / "report.xml").read_text(encoding="utf-8"))
    failures = [case for case in root if case.find("failure") is not None]
    assert int(str(root.get("failures"))) == len(failures) > 0
    assert int(str(root.get("tests"))) == len(root) == 2
    assert all(str(case[0].text).startswith("thalweg run c4/simple-") for case in failures)
    lines = summary.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Before"
    assert lines[1] == "### Gate c4: failed"
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 2 + 10
    assert {row.count("|") for row in rows} == {9}
    gate("-c", "main=cubic", *files)
    assert "### Gate c4: passed" in summary.read_text(encoding="utf-8")

    capsys.readouterr()
    assert gate("-c", "main=cubic:beta=0.3", "--format", "json", "--quiet") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["played"], document["identical"], document["compared"]) == (40, 0, 10)
    assert document["worse"] > len(failures) == 2
    assert gate("-c", "main=cubic:beta=0.3", "--format", "github", "--quiet") == 1
    assert capsys.readouterr().out.count("::error title=gate c4/") == len(failures)
    assert gate("-c", "main=cubic", "--format", "markdown") == 0
    assert capsys.readouterr().out.startswith("### Gate c4: passed\n")
