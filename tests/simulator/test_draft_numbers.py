"""Numbers that draft-huitema-ccwg-c4-test prints beside its targets, and what the suites promise to show."""

from __future__ import annotations

import re
import tomllib

import polars as pl
import pytest

from thalweg.engine.catalogue import list_scenarios
from thalweg.engine.scenario import Scenario

SUITES = ("c4/", "c4-as-printed/")
PRINTED_BUFFER = {"simple-20mbps", "simple-200mbps", "satellite"}
"""The three scenarios for which the draft says "1 BDP"."""


def of_suites() -> list[str]:
    return [name for name in list_scenarios() if name.startswith(SUITES)]


def test_the_simple_20_mbps_test_has_the_phases_that_the_draft_describes() -> None:
    trial = Scenario.load("c4/simple-20mbps", controllers={"main": "c4:variant=draft-04"}).run(seed=1, trace=True)
    assert trial.trace is not None
    flows = trial.trace.flows
    first_recovery = float(flows.filter(pl.col("state") == "Recovery")["time_s"][0])
    # "a initial phase complete in less than 800ms": seven doublings of 15 kB at 80 ms and the handshake are 0.6 s.
    assert 0.5 < first_recovery < 0.8
    # "After that, the RTT remains very close to the path RTT, except for periodic small bumps": 80 ms.
    later = flows.filter(pl.col("time_s") > first_recovery + 1.0)["latest_rtt_s"]
    assert 0.080 < float(later.median()) < 0.081  # type: ignore[arg-type]
    assert 0.080 < float(later.mean()) < 0.083  # type: ignore[arg-type]
    assert 0.082 < float(later.quantile(0.95) or 0.0) < 0.090  # the bumps
    # "completes in 4.85 seconds": the C4 of draft -04 is faster, here as in its own simulator (4.46 s), whose
    # floor is 4.18 s.
    closed = float(trial.flows["closed_s"][0])
    assert 4.2 < closed < 4.6


@pytest.mark.parametrize("name", of_suites())
def test_every_target_of_the_suites_is_shown_to_the_last_byte_too(name: str) -> None:
    criteria = Scenario.load(name).criteria
    first = criteria[0]
    if first.get("stream"):
        return
    of_first = [
        (criterion["metric"], criterion["at_most"]) for criterion in criteria if criterion["flow"] == first["flow"]
    ]
    assert ("closed", first["at_most"]) in of_first
    assert ("completion", first["at_most"]) in of_first


@pytest.mark.parametrize("name", of_suites())
def test_audio_is_shown_both_ways_wherever_the_measurement_starts_late(name: str) -> None:
    criteria = Scenario.load(name).criteria
    shown = {criterion["metric"] for criterion in criteria if criterion.get("stream") == "audio"}
    if not any(criterion.get("stream") for criterion in criteria):
        return
    assert {"mean-delay-from-start", "max-delay-from-start"} <= shown
    if name != "c4/media-varying-rtt":  # the audio of its reference runs ends before the measurement starts
        assert {"mean-delay", "max-delay"} <= shown
    for criterion in criteria:
        # the draft counts from the start of measurement, the reference all frames
        if criterion.get("stream") == "audio" and not criterion["informative"]:
            of_reference = criterion["source"] == "reference runs"
            assert criterion["metric"].endswith("from-start") == of_reference, name


@pytest.mark.parametrize("name", of_suites())
def test_a_buffer_that_the_draft_does_not_print_has_a_note(name: str) -> None:
    note = " ".join((Scenario.load(name).note or "").split())
    if name.partition("/")[2] not in PRINTED_BUFFER:
        assert re.search(r"[Bb]uffer", note), note


def test_the_suite_as_printed_has_the_formula_the_sizes_and_the_changes_of_the_text() -> None:
    names = [name for name in list_scenarios() if name.startswith("c4-as-printed/")]
    printed = {name.partition("/")[2]: tomllib.loads(Scenario.load(name).toml) for name in names}
    wifi = {}
    for name, document in printed.items():
        parts = [document["path"], *document["path"].get("change", [])]
        wifi[name] = [part["jitter"] for part in parts if part.get("jitter", {}).get("model") == "wifi"]
        assert all(jitter["formula"] == "draft" and jitter["mean"] != "999 us" for jitter in wifi[name]), name
    with_jitter = {name for name, found in wifi.items() if found}
    assert {
        "bad-wifi",
        "c4-bad-wifi",
        "cubic-bad-wifi",
        "bbr-bad-wifi",
        "wifi-fade",
        "media-wifi-fade",
    } == with_jitter
    assert len(printed["media-wifi-fade"]["path"]["change"]) == 1
    assert printed["media-20s"]["flow"][0]["call"] == "20 s"
