"""The suites of the tests of C4 after draft -04, and the metrics of that draft."""

from __future__ import annotations

import tomllib

import numpy as np
import polars as pl
import pytest

from thalweg import Scenario
from thalweg.base.errors import ScenarioError
from thalweg.engine.catalogue import Suite, find_scenario
from thalweg.results.published import published

TESTS = [
    "alone",
    "alone-200",
    "alone-1-5M",
    "alone-512k",
    "low-and-up",
    "drop-and-back",
    "blackhole",
    "short-long",
    "satellite",
    "vs-bbr",
    "vs-c4",
    "vs-cubic",
    "after-c4",
    "before-c4",
    "vs-c4-lg",
    "vs-c4-lg2",
    "vs-bbr-lg",
    "vs-bbr-lg2",
    "vs-cubic-lg",
    "vs-cubic-lg2",
    "bbloat",
    "bbloat-c4",
    "bbloat-bbr",
    "bbloat-cubic",
    "wifi-bad",
    "wifi-fade",
    "wifi-suspension",
    "wifi-bad-bbr",
    "wifi-bad-c4",
    "wifi-bad-cubic",
    "ecn",
    "ecn-c4",
    "ecn-cubic",
    "ecn-bbr",
    "media",
    "media10",
    "media-600fr",
    "media-short-long",
    "media-wb",
    "media-wf",
    "media-ws",
    "media-ecn",
]
BESIDES = {"alone-30ms", "wifi-bad-80ms", "media-backload"}
"""The buffers that other controllers had, and the call beside an upload."""


def names(suite: str) -> list[str]:
    return [entry.name for entry in Suite.find(suite).entries]


def test_the_suite_has_the_42_tests_and_what_the_authors_ran_besides() -> None:
    assert len(TESTS) == 42
    assert set(names("c4-05")) == set(TESTS) | BESIDES
    assert [name for name in names("c4-05") if name not in BESIDES] == sorted(TESTS, key=names("c4-05").index)


def test_what_is_printed_differs_from_what_was_run() -> None:
    printed = names("c4-05-as-printed")
    assert set(printed) < set(TESTS)
    for name in printed:
        run, text = (parts(f"{suite}/{name}") for suite in ("c4-05", "c4-05-as-printed"))
        assert run != text, name


def parts(name: str) -> list[object]:
    """The path and the flows of a shipped scenario, competitors by their algorithm."""
    document = tomllib.loads(find_scenario(name).read().decode())
    flows = [{**flow, "controller": flow["controller"].partition(":")[0]} for flow in document["flow"]]
    return [document["path"], flows]


@pytest.mark.parametrize("suite", ["c4-05", "c4-05-as-printed"])
def test_every_test_plays_c4_and_says_where_it_comes_from(suite: str) -> None:
    for entry in Suite.find(suite).entries:
        scenario = Scenario.from_entry(entry)
        assert scenario.flows[0]["name"] == "main", entry.name
        expected = (
            "bbr:variant=picoquic" if entry.name in {"alone-30ms", "wifi-bad-80ms"} else "c4:variant=draft-05"
        )
        assert scenario.flows[0]["controller"] == expected, entry.name
        assert f"test {entry.name}" in entry.read().decode(), entry.name


def test_only_the_printed_ecn_tests_mark_packets() -> None:
    for suite, marked in (("c4-05", False), ("c4-05-as-printed", True)):
        for name in ("ecn", "media-ecn"):
            outcomes = Scenario.load(f"{suite}/{name}").trials(1)
            packets = outcomes.links.filter(pl.col("link") == "down")["marked_packets"][0]
            assert (packets > 0) == marked, (suite, name, packets)


def test_the_load_of_a_flow_alone_is_what_it_sent_over_the_capacity() -> None:
    # 1 MB in packets of 1440 B at 512 kbps: 1 MB / (64 kB/s * 16.3 s) = 0.96, and what is lost is sent twice.
    outcomes = Scenario.load("c4-05/alone-512k", {"noise.start": "0 s"}).trials(2)
    flow = outcomes.flows
    seconds = flow["completion_s"] - flow["start_s"]
    least = 1e6 / (64_000 * seconds.to_numpy())
    most = flow["packets_sent"].to_numpy() * 1440 / (64_000 * seconds.to_numpy())
    load = flow["load"].to_numpy()
    assert (least < load).all()
    assert (load < most).all()


def test_loads_are_of_the_capacity_and_shares_of_what_flows_got() -> None:
    outcomes = Scenario.load("c4-05/vs-c4").trials(5)
    flows = outcomes.flows.sort("trial", "flow")
    for trial in range(5):
        of_trial = flows.filter(pl.col("trial") == trial)
        assert of_trial["share"].sum() == pytest.approx(1)
        loads = of_trial["load"].to_numpy()
        assert 0.9 < loads.sum() < 1.2
        # Losses apart, loads are to each other as shares are.
        share = of_trial["share"].to_numpy()
        assert loads[0] / loads[1] == pytest.approx(share[0] / share[1], rel=0.2)


def test_the_rtt_by_events_weighs_samples_by_what_is_sent() -> None:
    trial = Scenario.load("c4-05/wifi-bad").run(seed=1, trace=True)
    assert trial.trace is not None
    packets = trial.trace.packets.filter(pl.col("flow") == "main")
    sent = np.sort(packets.filter(pl.col("event") == "sent")["time_s"].to_numpy())
    rows = trial.trace.flows.filter((pl.col("flow") == "main") & (pl.col("event") == "received"))
    samples = rows.filter(pl.col("latest_rtt_s").is_not_null() & pl.col("latest_rtt_s").is_not_nan())
    times, rtts = samples["time_s"].to_numpy(), samples["latest_rtt_s"].to_numpy()
    counts = np.searchsorted(sent, np.append(times[1:], np.inf), "right") - np.searchsorted(sent, times, "right")
    weights = 1 + counts
    mean = (weights * rtts).sum() / weights.sum()
    deviation = np.sqrt((weights * rtts**2).sum() / weights.sum() - mean**2)
    ours, high = (float(trial.flows[name][0]) for name in ("event_rtt_s", "event_rtt_high_s"))
    assert ours == pytest.approx(mean, rel=0.03)
    assert high - ours == pytest.approx(deviation, rel=0.03)
    # Acknowledgements come in bursts: the reference runs have 134 ms by events and 176 ms by samples.
    assert ours < 0.9 * float(trial.flows["mean_rtt_s"][0])


def test_the_delay_of_a_call_is_that_of_its_worst_stream_that_skips_nothing() -> None:
    outcomes = Scenario.load("c4-05/media-wf").trials(5)
    counted = outcomes.streams.filter(pl.col("stream") != "video-high")
    worst = counted.group_by("trial").agg(pl.col("mean_delay_s").max(), pl.col("max_delay_s").max()).sort("trial")
    assert outcomes.flows["frame_delay_s"].to_list() == worst["mean_delay_s"].to_list()
    assert outcomes.flows["max_frame_delay_s"].to_list() == worst["max_delay_s"].to_list()
    numbers = published(outcomes)
    assert numbers.frame_delay_mean_s == pytest.approx(float(worst["mean_delay_s"].to_numpy().mean()))
    assert numbers.max_frame_delay_p90_s == pytest.approx(
        float(np.percentile(worst["max_delay_s"].to_numpy(), 90))
    )


def test_published_numbers_are_of_one_flow() -> None:
    outcomes = Scenario.load("c4-05/vs-c4").trials(3)
    main, other = published(outcomes), published(outcomes, "background")
    assert main.closed_mean_s < 10
    assert np.isnan(main.frame_delay_mean_s)
    # The trial ends without waiting for the background.
    assert np.isnan(other.closed_mean_s)
    assert 0 < other.load_mean <= other.load_p90
    with pytest.raises(KeyError):
        published(outcomes, "nobody")


@pytest.mark.parametrize("metric", ["frame-delay", "max-frame-delay"])
def test_a_download_has_no_delay_of_frames(metric: str) -> None:
    text = Suite.find("c4-05").entries[0].read().decode()
    text += f'\n[[pass]]\nflow = "main"\nmetric = "{metric}"\nat_most = "1 s"\n'
    with pytest.raises(
        ScenarioError,
        match=f'metric: "{metric}" requires a measured stream without skip_after; flow "main" has none',
    ):
        Scenario.from_toml(text, "a.toml")


def test_the_metrics_of_the_draft_can_be_criteria() -> None:
    text = Suite.find("c4-05").entries[0].read().decode()
    for metric, bound in (("event-rtt", "200 ms"), ("event-rtt-high", "300 ms"), ("load", "99 %")):
        text += f'\n[[pass]]\nflow = "main"\nmetric = "{metric}"\nat_most = "{bound}"\nin = "90 %"\n'
    verdict = Scenario.from_toml(text, "a.toml").trials(5).verdict()
    medians = {criterion.metric: criterion.median for criterion in verdict.criteria}
    assert 0.09 < medians["event-rtt"] < 0.11 < medians["event-rtt-high"] < 0.14
    assert 0.85 < medians["load"] < 1.1
