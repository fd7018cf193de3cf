"""Controllers in Python: what they are told, what they decide, and where their names may stand."""

import json
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

import thalweg
from thalweg.cli import main
from thalweg.engine.controllers import Ack, Init, Lost, Report
from thalweg.engine.controllers import Path as PathState

MINE = """
import thalweg


class Mine(thalweg.Controller):
    def __init__(self, init, beta: float = 0.7):
        self.beta, self.window = beta, init.initial_window

    def on_ack(self, event, path):
        self.window += event.newly_acked * path.mtu / self.window

    def on_lost(self, event, path):
        self.window = max(self.window * self.beta, 2 * path.mtu)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


class Fixed(thalweg.Controller):
    """Ten packets, whatever happens; it hears of nothing but reports."""

    report_every = "1 rtt"
    reports: ClassVar[list[tuple[float, int, float | None, float]]] = []

    def on_report(self, report: Report, path: PathState) -> None:
        Fixed.reports.append((report.elapsed, report.delivered, report.mean_rtt, path.smoothed_rtt))


LOSSY = {"path.rate": "5 Mbps", "path.buffer": "0.2 bdp", "flow.main.download": "2 MB"}


def load(controller: Any, **keys: str) -> thalweg.Scenario:
    return thalweg.Scenario.load("c4/simple-20mbps", keys, {"main": controller})


def test_a_file_a_class_and_a_class_with_options_are_controllers(mine: Path) -> None:
    class Local(thalweg.Controller):
        def __init__(self, init: Init, beta: float = 0.7) -> None:
            self.beta, self.window = beta, float(init.initial_window)

        def on_ack(self, event: Ack, path: PathState) -> None:
            self.window += event.newly_acked * path.mtu / self.window

        def on_lost(self, event: Lost, path: PathState) -> None:
            self.window = max(self.window * self.beta, 2.0 * path.mtu)

    hashes = [
        load(given, **LOSSY).run(seed=3).trace_hash
        for given in (str(mine), f"{mine}:Mine", f"{mine}:beta=0.7", Local)
    ]
    assert len(set(hashes)) == 1
    other = [
        load(given, **LOSSY).run(seed=3).trace_hash
        for given in (f"{mine}:Mine:beta=0.9", partial(Local, beta=0.9))
    ]
    assert len(set(other)) == 1
    assert set(other) != set(hashes)


def test_trials_in_processes_are_those_of_one_process_series_included(mine: Path) -> None:
    scenario = load(str(mine), sample="100 ms")
    apart, here = scenario.trials(5, seed=3, jobs=2), scenario.trials(5, seed=3, jobs=1)
    for table in ("flows", "links"):
        assert getattr(apart, table).equals(getattr(here, table), null_equal=True)
    assert apart.trials["trace_hash"].to_list() == here.trials["trace_hash"].to_list()
    assert (apart.series(4, "main").received == here.series(4, "main").received).all()
    assert apart.trials["seed"].to_list() == [3, 4, 5, 6, 7]


def test_a_report_comes_every_round_trip_and_sums_up_what_was_acknowledged() -> None:
    Fixed.reports.clear()
    flow = load(Fixed).run(seed=1).flows.row(0, named=True)
    elapsed, delivered, rtts, smoothed = zip(*Fixed.reports, strict=True)
    # Ten packets fit into a round trip of 80 ms at 20 Mbps: there is no queue, and every round trip delivers ten.
    rounds = flow["completion_s"] / flow["mean_rtt_s"]
    assert rounds / 3 < len(elapsed) < rounds * 1.5
    assert all(span >= rtt for span, rtt in zip(elapsed[10:], smoothed[10:], strict=True))
    sent = flow["packets_sent"] * 1440
    assert 0.9 * flow["bytes_delivered"] < sum(delivered) < 1.1 * sent
    assert all(rtt is None or rtt < 0.2 for rtt in rtts)


def test_random_numbers_depend_on_the_seed_of_the_trial_alone(tmp_path: Path) -> None:
    file = tmp_path / "dice.py"
    file.write_text(
        textwrap.dedent("""
        import thalweg


        class Dice(thalweg.Controller):
            def on_ack(self, event, path):
                assert 0 <= path.random() < 1
                self.window = (5 + 20 * path.random()) * path.mtu
        """)
    )
    hashes = [load(str(file)).run(seed=seed).trace_hash for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_event_that_was_kept_stays_what_it_was() -> None:
    kept: list[tuple[Ack, int, float, PathState]] = []

    class Keeper(thalweg.Controller):
        def on_ack(self, event: Ack, path: PathState) -> None:
            kept.append((event, event.largest, path.now, path))

    load(Keeper).run(seed=1)
    assert len(kept) > 100
    assert all(event.largest == largest and path.now == now for event, largest, now, path in kept)


def test_what_a_controller_shows_of_itself_is_in_its_trace(mine: Path) -> None:
    file = mine.with_name("seen.py")
    file.write_text(
        MINE + '\n    def observe(self):\n        return {"state": "only", "beta": self.beta, "none": None}\n'
    )
    trace = load(f"{file}:beta=0.75").run(seed=1, trace=True).trace
    assert trace is not None
    assert set(trace.flows["state"]) == {"only"}
    assert set(trace.variables["variable"]) == {"beta"}
    assert set(trace.variables["value"]) == {0.75}


def test_a_decision_is_what_the_transport_obeys() -> None:
    class Slow(thalweg.Controller):
        pacing = 2e6

        def on_ack(self, event: Ack, path: PathState) -> None:
            self.window = 100 * path.mtu

    flow = load(Slow, **{"flow.main.download": "1 MB"}).run(seed=1).flows.row(0, named=True)
    # 1 MB at 2 Mbps, headers and all, is 4 s and a handshake; the path has 20 Mbps.
    assert 3.9 < flow["completion_s"] < 4.6


def test_a_result_keeps_the_source_and_replay_says_when_the_file_has_changed(
    mine: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["suite", "c4", "--only", "simple-20mbps", "-n", "2", "-c", f"main={mine}", "--out", str(out)]
    assert main(command) in (0, 1)
    kept = json.loads((out / "experiment.json").read_text())["scenarios"][0]["controllers"]
    assert [(source["name"], source["file"], source["source"]) for source in kept] == [
        (str(mine), str(mine), MINE)
    ]
    replay = ["replay", str(out), "simple-20mbps", "1"]
    assert main(replay) == 0
    assert "same as stored" in capfd.readouterr().out
    mine.write_text(MINE.replace("path.mtu / self", "0.9 * path.mtu / self"))
    assert main(replay) == 1
    assert f"{mine} has changed since" in capfd.readouterr().err


def test_a_class_of_this_process_alone_cannot_be_replayed(tmp_path: Path) -> None:
    class Local(thalweg.Controller):
        def on_ack(self, event: Ack, path: PathState) -> None:
            pass

    outcomes = load(Local).trials(3, jobs=2)
    assert outcomes.n == 3
    with pytest.raises(thalweg.RequestError, match="a replay needs a class in a file"):
        thalweg.Scenario.from_toml(outcomes.scenario.toml, "again")


def test_studies_take_files(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(
        ["study", "fairness", "--controller", f"{mine}:beta=0.8", "--rtt", "20 ms", "-n", "1", "--format", "json"]
    )
    document = json.loads(capfd.readouterr().out)
    assert str(mine) in json.dumps(document["rows"])


def test_a_study_keeps_the_cells_before_the_one_in_which_a_controller_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad, out = tmp_path / "bad.py", tmp_path / "out"
    bad.write_text(MINE.replace("self.window += ", "self.window += [][0] + "))
    arguments = ["study", "fairness", "-c", "cubic", "-c", str(bad), "--buffer", "1", "--queue", "drop-tail"]
    arguments += ["--flows", "2", "--rtt-ratio", "1", "--duration", "20 s", "-n", "1", "-o", str(out)]
    assert main(arguments) == 2
    said = capfd.readouterr()
    assert f"{bad}:10: IndexError: list index out of range" in said.err
    assert "\n1 rows were finished before cubic-" in said.err
    assert "Traceback" not in said.err
    rows = json.loads((out / "experiment.json").read_text())["rows"]
    assert [(row["first"], row["second"]) for row in rows] == [("cubic", "cubic")]
    assert (out / "report.html").stat().st_size > 10_000


def test_a_script_needs_no_guard_for_trials_on_all_cores(mine: Path, tmp_path: Path) -> None:
    import subprocess  # noqa: PLC0415

    script = tmp_path / "script.py"
    script.write_text(
        "import thalweg\n"
        f"s = thalweg.Scenario.load('c4/simple-20mbps', controllers={{'main': {str(mine)!r}}})\n"
        "print(s.trials(4, jobs=2).n)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "4\n", done.stderr


class Early(thalweg.Controller):
    """Notes when it was made, and when it heard of something first."""

    made: ClassVar[list[float]] = []
    heard: ClassVar[list[float]] = []

    def __init__(self, init: Init) -> None:
        self.window = init.initial_window
        self.is_new = True
        Early.made.append(init.now)

    def on_ack(self, event: Ack, path: PathState) -> None:
        if self.is_new:
            Early.heard.append(path.now)
        self.is_new = False


@pytest.mark.parametrize("stack", ["model", "quic"])
@pytest.mark.parametrize("start_s", [0.0, 7.3])
def test_a_controller_of_a_late_flow_is_made_at_its_start(stack: str, start_s: float) -> None:
    Early.made.clear()
    Early.heard.clear()
    text = f"""
title = "late"
[path]
rate = "10 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "cubic"
stack = "{stack}"
download = "100 kB"
start = "{start_s} s"
"""
    thalweg.Scenario.from_toml(text, "late.toml", controllers={"main": Early}).run(seed=1)
    # Both ends are made within the handshake: a round trip of 40 ms, and some noise at the start.
    assert len(Early.made) == 2
    assert all(start_s <= made <= start_s + 0.1 for made in Early.made), Early.made
    assert all(start_s + 0.04 <= heard <= start_s + 0.5 for heard in Early.heard), Early.heard
