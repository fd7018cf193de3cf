"""A log tells known bugs that packets do not: what was decided, and not only what was sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import thalweg
from pages.explain.measure import Case, named, of_regression
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.file import limits_and_who
from thalweg.foreign.inference.idle import silences
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.logged import distance, idle_times
from thalweg.foreign.inference.replay import Script, fit
from thalweg.foreign.inference.who import who
from thalweg.foreign.reading.own import of_tables


@pytest.mark.parametrize(
    ("scenario", "bug"),
    [("unused-window", "quinn-497"), ("app-limited-pacing", "noq-800"), ("idle-probe-rtt", "quiche-1598")],
)
def test_a_bug_that_leaves_the_packets_as_they_are_is_named_from_a_log_only(scenario: str, bug: str) -> None:
    assert of_regression(scenario, bug, logged=True).named == (f"mutant:bug={bug}",)
    assert of_regression(scenario, bug, logged=False).bug is None


@pytest.mark.parametrize("kind", ["wired", "shared", "wifi", "aqm"])
@pytest.mark.parametrize("controller", ["bbr", "cubic"])
def test_no_log_of_a_healthy_sender_accuses_it(kind: str, controller: str) -> None:
    assert named(kind, 12, controller, logged=True).bug is None


def test_nobody_is_accused_for_the_steady_rate_of_an_application() -> None:
    """BBR with 4.8 Mbps to send on 10 Mbps: as a paced rate it would be lsquic-544's, at 0.010."""
    view = Case.of("application", 30_001).view("qlog")
    assert view.window
    assert not view.pacing_bps
    held, found = limits_and_who(view)
    assert held is not None
    assert held.shares["application"] > 0.9
    assert found.bug is None


def test_the_decisions_of_the_own_controller_are_near_and_those_of_another_are_far() -> None:
    view = Case.of("wired", 3, "cubic").truth()
    script = Script.of(view, idle_times(view, limits(view)))
    own, other = (distance(view, fit(view, script, name)) for name in ("cubic", "reno"))
    # 0.01 and 0.6: a twentieth of the logarithm of a ratio is 5 %.
    assert own < 0.05
    assert other > 0.2


@pytest.mark.parametrize("controller", ["bbr", "cubic", "reno"])
def test_a_window_that_flow_control_leaves_unused_does_not_grow_in_the_replay_either(controller: str) -> None:
    """RFC 9002 section 7.8: flow control limits underutilise a window as a lack of data does."""
    text = (
        'title = "x"\n[path]\nrate = "100 Mbps"\nrtt = "100 ms"\n[[flow]]\nname = "main"\n'
        f'controller = "{controller}"\ndownload = "8 MB"\nreceive_window = "400 kB"\n'
    )
    trace = Scenario.from_toml(text, "x").run(1, trace=True).trace
    assert trace is not None
    view = replace(next(iter(of_tables(trace.flows, trace.packets))), limits=())
    held = limits(view)
    assert held.shares["flow-control"] > 0.4
    script = Script.of(view, idle_times(view, held))
    # At most 0.05; 0.4 to 0.6 if the credit that runs out is not told to the controller.
    assert distance(view, fit(view, script, controller)) < 0.1
    assert who(view, held).bug is None


def test_an_acknowledgement_of_the_whole_window_ends_no_silence_of_the_application() -> None:
    # Two packets at a time, and each acknowledgement lets the next two go: it is full, and not idle.
    trace = Scenario.load(
        "regressions/minimum-window", {"time_limit": "30 s"}, {"main": "mutant:bug=quiche-2370"}
    ).run(4, trace=True)
    view = Case(None, trace.trace).truth()  # type: ignore[arg-type]
    assert silences(view).size > 1000
    assert idle_times(view, limits(view)).size < 10


def test_the_sentence_says_that_the_log_names_it(tmp_path: Path) -> None:
    played = Scenario.load("regressions/unused-window", controllers={"main": "mutant:bug=quinn-497"}).run(
        1, trace=True
    )
    assert played.trace is not None
    played.trace.save(tmp_path / "x.parquet")
    said = " ".join(thalweg.explain(tmp_path / "x.parquet").sentences())
    assert "cubic with the known bug quinn-497: with it, and not without, it decides what the file logs" in said
