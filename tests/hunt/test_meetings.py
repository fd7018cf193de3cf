"""Moments of trials that are made to meet, and the planted defect that takes a coincidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.hunt import PLAN, until
from thalweg import Hunt, Scenario
from thalweg.engine.outcome import Series
from thalweg.experiments.hunt.meetings import Meetings
from thalweg.experiments.hunt.moments import Moment, moments_of
from thalweg.experiments.sweep.axis import Range, range_of

CLOCK = range_of({"from": "0 s", "to": "10 s"})


def clock(name: str) -> Range | None:
    return CLOCK if name.endswith(".at") else None


def series(**given: Any) -> Series:
    usual = {name: np.zeros(8) for name in ("sent", "received", "lost")} | {"rtt_s": np.full(8, np.nan)}
    return Series(0.05, **{**usual, **{name: np.array(values) for name, values in given.items()}})


def test_moments_are_the_largest_bins_of_losses_rises_and_gaps() -> None:
    nan = float("nan")
    found = moments_of(
        series(
            lost=[0.0, 3.0, 9.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            rtt_s=[0.04, nan, 0.05, 0.11, 0.06, 0.06, nan, 0.07],
            received=[1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
        )
    )
    assert [(one.kind, round(one.time_s, 3), round(one.size, 3)) for one in found] == [
        ("loss", 0.125, 9.0),  # with the 3 before it, one moment, at its largest bin
        ("loss", 0.225, 1.0),
        ("rise", 0.175, 0.06),  # from 0.05 to 0.11, and with the rise before it one moment
        ("rise", 0.375, 0.01),  # from 0.06 to 0.07, over a bin without a sample
        ("gap", 0.075, 0.1),  # two bins, after the last one in which something came
    ]


def test_series_of_a_trial_have_its_losses_and_its_rtt() -> None:
    scenario = Scenario.load("c4/simple-20mbps", {"sample": "100 ms", "path.loss": "1 %"}, {"main": "cubic"})
    trial = scenario.run(1)
    found, flow = trial.outcomes.series(0, "main"), trial.flows.row(0, named=True)
    assert found.lost.sum() == flow["packets_lost"] > 0
    assert np.nanmax(found.rtt_s) == pytest.approx(flow["max_rtt_s"])
    assert len(found.lost) == len(found.rtt_s) == len(found.sent)


@pytest.mark.parametrize("seed", range(20))
def test_an_element_is_as_long_before_the_other_moment_as_it_was_before_its_own(seed: int) -> None:
    draw = np.random.default_rng(seed)
    meetings = Meetings(clock, draw)
    lags: dict[float, float] = {}
    stays: set[float] = set()
    for rate in draw.uniform(1, 2, 30):  # each names its scenario
        parameters: dict[str, Any] = {"path.change": 2, "path.rate": float(rate)}
        parameters |= {f"path.change.{n}.at": float(share) for n, share in enumerate(draw.uniform(0, 1, 2))}
        times = sorted(10 * parameters[f"path.change.{n}.at"] for n in (0, 1))
        kinds = ["loss", "rise"] if draw.random() < 0.5 else ["rise", "loss"]
        moments = [Moment(kind, time_s + 0.01, draw.random()) for kind, time_s in zip(kinds, times, strict=True)]
        stays |= {moment.time_s for moment in moments}
        lags |= dict.fromkeys(times, 0.01)
        meetings.add(parameters, {"path.change": 4}, moments)
    made = [one for one in (meetings.make() for _ in range(100)) if one]
    assert len(made) > 50
    for one in made:
        assert 2 <= one["path.change"] <= 3, "an element of its own moves, or one of another scenario is added"
        at = [10 * one[f"path.change.{n}.at"] for n in range(one["path.change"])]
        assert any(abs(time_s + 0.01 - other) < 1e-4 for time_s in at for other in stays)
    assert {one["path.change"] for one in made} == {2, 3}


def test_a_space_without_times_is_searched_all_the_same() -> None:
    hunt = Hunt(
        scenario="c4/simple-20mbps",
        objective="queue-delay",
        axes={"path.buffer": {"from": "10 ms", "to": "500 ms"}},
        budget=48,
    )
    find = hunt.run()
    assert find.tried == 48
    assert find.is_worse


def test_what_meets_is_a_scenario_of_the_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values stay in their ranges, and lists in their lengths, whatever is put into them."""
    made: list[Any] = []
    make = Meetings.make

    def counted(meetings: Meetings) -> Any:
        made.append(make(meetings))
        return made[-1]

    monkeypatch.setattr(Meetings, "make", counted)
    at = {"from": "0 s", "to": "0.3 s"}
    find = Hunt(
        scenario={
            "title": "Short",
            "path": {"rate": "10 Mbps", "rtt": "20 ms"},
            "flow": [{"name": "main", "controller": "cubic", "download": "300 kB"}],
        },
        objective="loss",
        elements=[
            {"list": "path.change", "most": 2, "keys": {"at": at, "rtt": {"from": "10 ms", "to": "90 ms"}}},
            {
                "list": "path.change",
                "most": 2,
                "keys": {"at": at, "buffer": {"from": "4 packets", "to": "9 packets"}},
            },
            {"list": "flow", "keys": {"start": at, "controller": ["cubic"], "download": ["50 kB"]}},
        ],
        budget=120,
    ).run()
    assert sum(one is not None for one in made) > 5
    assert (find.refused, find.failures) == (0, [])
    assert len(find.found["path"].get("change", [])) <= 4


@pytest.mark.timeout(300)
@pytest.mark.soak
def test_a_defect_that_takes_a_coincidence_is_found_soon() -> None:
    """One of 900 independent draws meets it: 200 do with 1 - (899/900)^200 = 20 %, six of ten with 0.6 %."""
    plan = Hunt.load(PLAN).plan
    found = [until(replace(plan, search_seed=seed), most=200) for seed in range(1, 11)]
    assert sum(place is not None for place in found) >= 6, found
