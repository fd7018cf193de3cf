"""The way of each packet through each link, as a table."""

from __future__ import annotations

import math

import polars as pl
import pytest

from thalweg import RequestError, Scenario


def test_packets_agree_with_the_outcome_of_the_trial() -> None:
    scenario = Scenario.load("c4/simple-20mbps", controllers={"main": "cubic"})
    packets, trial = scenario.packets(seed=3), scenario.run(seed=3)
    end = trial.outcomes.trials["end_s"][0]
    for link in trial.links.iter_rows(named=True):
        own = packets.filter(pl.col("link") == link["link"])
        dropped = own.filter(
            pl.col("fate").is_in(["queue", "aqm", "policer", "shrunk"]) & (pl.col("left_s") <= end)
        )
        assert dropped.height == link["dropped_packets"]
        arrived = own.filter((pl.col("fate") == "delivered") & (pl.col("arrived_s") < end))
        assert arrived.height in (link["delivered_packets"] - 1, link["delivered_packets"])
    assert trial.links["dropped_packets"].sum() > 0
    late = scenario.packets(seed=3, from_s=2.0, most=50)
    assert 0 < late.height <= 50
    assert late["entered_s"].is_sorted()


@pytest.mark.parametrize("wrong", [{"from_s": -1.0}, {"from_s": math.nan}, {"from_s": math.inf}, {"most": -1}])
def test_a_part_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RequestError, match="accepted: a time and a number from 0 on"):
        Scenario.load("c4/simple-20mbps").packets(**wrong)  # type: ignore[arg-type]
