"""The controllers below examples/controllers: faithful where ours does the same, and at work on a path."""

from pathlib import Path

import pytest

import thalweg
from thalweg.engine.catalogue import Suite

EXAMPLES = Path(__file__).parents[2] / "examples" / "controllers"


def all_flows(entry: str, controller: str) -> dict[str, str]:
    return {str(flow["name"]): controller for flow in thalweg.Scenario.load(entry).flows}


@pytest.mark.parametrize("entry", [entry.reference for entry in Suite.find("c4").entries])
@pytest.mark.parametrize(("example", "ours"), [("newreno.py", "reno"), ("cubic.py", "cubic")])
def test_what_python_writes_from_the_rfc_is_what_rust_does_event_by_event(
    entry: str, example: str, ours: str
) -> None:
    theirs = thalweg.Scenario.load(entry, controllers=all_flows(entry, str(EXAMPLES / example))).run(seed=1)
    own = thalweg.Scenario.load(entry, controllers=all_flows(entry, ours)).run(seed=1)
    assert theirs.trace_hash == own.trace_hash


@pytest.mark.parametrize("example", sorted(file.name for file in EXAMPLES.glob("*.py")))
def test_examples_finish_a_download_without_wasting_the_link(example: str) -> None:
    scenario = thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": str(EXAMPLES / example)})
    trial = scenario.run(seed=1, trace=True, audit=True)
    # 10 MB at 20 Mbps take 4 s of the link, 4.2 s with headers. AIMD, which has no slow start, has to climb from
    # 10 to 170 packets at one for each round trip of 80 ms: 13 s at half of the rate would be 16 MB.
    assert 4.0 < trial.flows["completion_s"][0] < 13.0


@pytest.mark.parametrize("example", ["aimd.py", "vegas.py", "copa.py"])
def test_an_example_is_under_a_hundred_lines(example: str) -> None:
    assert len((EXAMPLES / example).read_text().splitlines()) < 100


def test_vegas_and_copa_keep_the_queue_short_where_aimd_fills_it() -> None:
    keys = {"path.rate": "5 Mbps", "path.rtt": "40 ms", "path.buffer": "4 bdp"}

    def queueing_s(example: str) -> float:
        scenario = thalweg.Scenario.load("c4/simple-20mbps", keys, {"main": str(EXAMPLES / example)})
        return float(scenario.run(seed=1).flows["mean_queue_delay_s"][0])

    aimd = queueing_s("aimd.py")
    # Five bandwidth-delay products of 17 packets fill path and queue. AIMD swings between half of that and all:
    # between 1.5 and 4 times 40 ms wait, less at the start.
    assert 0.06 < aimd < 0.16
    assert queueing_s("vegas.py") < aimd / 4
    assert queueing_s("copa.py") < aimd / 4
