"""Other flows at the bottleneck, and jitter: what a path and its twin say of them."""

from __future__ import annotations

import pytest

from pages.explain.measure import Case
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.twin import RIVALS, Twin
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.path import path


@pytest.mark.parametrize(("seed", "controller"), [(1102, "bbr"), (1103, "reno"), (1104, "cubic"), (1105, "c4")])
def test_the_capacity_is_that_of_the_link_and_not_the_share_of_the_flow(seed: int, controller: str) -> None:
    case = Case.of("shared", seed, controller)
    found = path(case.packets())
    assert found.capacity_bps == pytest.approx(case.made.rate_bps, rel=0.005)
    rival = case.trace.flows.filter(case.trace.flows["flow"] == "rival")
    assert found.others_bps is not None
    assert found.others_from_s is not None
    begun = rival["time_s"][0] + case.made.rtt_s
    assert found.others_from_s == pytest.approx(begun, abs=1.6)


@pytest.mark.parametrize(
    "kind", ["bulk", "loss", "satellite", "aqm", "application", "receiver", "outage", "chunks", "policer"]
)
def test_a_flow_that_is_alone_has_no_others(kind: str) -> None:
    for seed, controller in ((1101, "cubic"), (1102, "c4"), (1103, "bbr")):
        found = path(Case.of(kind, seed, controller).packets())
        assert found.others_bps is None
        assert not found.is_exceeded


@pytest.mark.parametrize("kind", ["jitter", "wifi"])
def test_jitter_is_what_comes_closer_together_than_the_capacity_says(kind: str) -> None:
    for seed, controller in ((1101, "cubic"), (1102, "c4")):
        found = path(Case.of(kind, seed, controller).packets())
        assert found.is_exceeded
        assert found.others_bps is None


def test_the_twin_of_a_shared_path_has_a_rival_and_says_that_it_is_assumed() -> None:
    view = Case.of("shared", 1102, "bbr").packets()
    twin = Twin.of(view, limits(view), path(view))
    text = twin.commented("bbr", [])
    flows = Scenario.from_toml(text, "x").flows
    assert [flow["name"] for flow in flows] == ["main", "rival"]
    assert "one download of cubic is assumed" in " ".join(text.replace("# ", "").split())
    assert {draw.rival for draw in twin.draws(39)} == set(RIVALS)
