"""Constants of our own controllers as options."""

import pytest

import thalweg
from thalweg import _native

PATH = """
title = "a path that changes"
flow = [{ name = "main", controller = "cubic", download = "60 MB" }]
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "1.5 bdp"
change = [{ at = "5 s", rate = "5 Mbps", rtt = "80 ms" }, { at = "12 s", rate = "60 Mbps", rtt = "50 ms" }]
"""
OTHER = {
    "cubic:c": "1",
    "cubic:beta": "0.85",
    "reno:increase": "2",
    "reno:decrease": "0.7",
    "bbr:startup_gain": "2",
    "bbr:down_gain": "0.75",
    "bbr:up_gain": "1.5",
    "bbr:cwnd_gain": "1.5",
    "bbr:loss_thresh": "0.1",
    "bbr:beta": "0.9",
    "bbr:headroom": "0.5",
    "bbr:min_rtt_window": "1 s",
    "bbr:probe_rtt_interval": "1 s",
    "c4:push": "1.5",
    "c4:max_reduction": "0.1",
    "c4:delay_bound": "2 ms",
    "c4:sensitivity": "0.2",
}
"""Another value of each constant, which a path that changes shows."""


def trace_hash(controller: str) -> str:
    return thalweg.Scenario.from_toml(PATH, "changes", controllers={"main": controller}).run(seed=1).trace_hash


@pytest.mark.parametrize("option", OTHER)
def test_a_constant_has_the_value_of_its_document_unless_it_is_set(option: str) -> None:
    name, _, key = option.partition(":")
    (entry,) = [controller for controller in _native.controllers() if controller["name"] == name]
    (default,) = [option["default"] for option in entry["options"] if option["name"] == key]
    assert trace_hash(name) == trace_hash(f"{option}={default}") != trace_hash(f"{option}={OTHER[option]}")


@pytest.mark.parametrize("option", [*OTHER, "prague:gain", "dctcp:gain"])
def test_a_number_beyond_its_range_is_refused_with_the_range(option: str) -> None:
    for value in ("-1", "1e9", "nan", "fast"):
        with pytest.raises(thalweg.RequestError, match=r"cannot be .*; accepted: a (number from|duration)"):
            thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": f"{option}={value}"})
