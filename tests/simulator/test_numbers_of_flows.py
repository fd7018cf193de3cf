"""Numbers of flows and links: there unasked, of the end that sends, and none where there are none."""

from __future__ import annotations

import math

import polars as pl
import pytest

from thalweg import Scenario
from thalweg.pages.figures import plot_trial
from thalweg.results import measured

POLICED = """title = "A policer before a short queue"
time_limit = "20 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "20 kB"
policer = { rate = "12 Mbps", burst = "300 kB" }
[[flow]]
name = "main"
controller = "cubic"
download = "10 MB"
"""
CALL = """title = "Both ends send"
time_limit = "20 s"
[path]
rate = "12 Mbps"
rtt = "20 ms"
up = { rate = "4.2 Mbps", loss = "2 %" }
[[flow]]
name = "call"
controller = "cubic"
background = true
[[flow.media]]
name = "down"
per_second = 25
duration = "3 s"
frame = "10 kB"
group = 25
[[flow.media]]
name = "up"
from = "client"
per_second = 25
duration = "3 s"
frame = "10 kB"
group = 25
"""


_COLUMNS = ("mean_queue_delay_s", "p95_queue_delay_s", "p99_queue_delay_s")


def test_percentiles_of_queue_delay_need_no_criterion() -> None:
    for name in ("c4/simple-20mbps", "c4/cubic-short", "ccafct/alone"):
        flows = Scenario.load(name).trials(2).flows
        mean, p95, p99 = (flows[column].to_numpy() for column in _COLUMNS)
        assert (mean > 0).all()
        assert (mean < p99).all()
        assert (p95 <= p99).all()


def test_drops_of_a_policer_have_a_number_of_their_own() -> None:
    scenario = Scenario.from_toml(POLICED, "policed")
    trial = scenario.run(seed=1, trace=True)
    assert trial.trace is not None
    reasons = dict(trial.trace.drops.group_by("reason").len().iter_rows())
    flow, link = trial.flows.row(0, named=True), trial.links.row(0, named=True)
    assert flow["packets_policed"] == link["policed_packets"] == reasons["policer"] > 10
    assert flow["packets_dropped"] == link["dropped_packets"] == reasons["policer"] + reasons["queue"]
    down, up = measured.links(scenario.trials(3))
    assert 0 < down.values["policed"].value < down.values["dropped"].value
    assert "policed" in up.values
    plain = Scenario.from_toml(POLICED.replace("policer =", "# policer ="), "plain").trials(3)
    assert not any("policed" in link.values for link in measured.links(plain))


def test_a_flow_of_datagrams_has_the_rate_of_its_media() -> None:
    scenario = Scenario.load("rfc8869/up")
    outcomes = scenario.trials(2)
    (flow,) = measured.flows(outcomes)
    video, *others = outcomes.streams.filter(pl.col("trial") == 0).iter_rows(named=True)
    assert all(math.isnan(other["encoder_rate_bps"]) for other in others)
    rate = outcomes.flows["mean_rate_bps"][0]
    # Audio of 20 kbps beside it; some frames are lost, and the flow ends a little after its last frame.
    assert 0.95 * video["encoder_rate_bps"] < rate < video["encoder_rate_bps"] + 20_000
    assert outcomes.flows["shared_rate_bps"][0] == pytest.approx(rate, rel=0.02)
    assert flow.values["mean_rate_bps"].value == pytest.approx(rate, rel=0.02)
    assert flow.values["mean_rtt_s"].value > 0.1
    assert flow.values["mean_queue_delay_s"].value > 0


@pytest.mark.parametrize("carriage", ['carriage = "datagrams"', "group = 25", 'group = 25\nskip_after = "250 ms"'])
@pytest.mark.parametrize(("loss", "answer"), [("0 %", "holds"), ("100 %", "fails")])
def test_a_background_call_that_is_cut_off_is_judged_by_what_came_until_then(
    carriage: str, loss: str, answer: str
) -> None:
    bound = '[[pass]]\nflow = "call"\nstream = "video"\nmetric = "{}"\nat_most = "{}"\n'
    criteria = {"frozen": "1 s", "late": "5", "p95-delay": "250 ms", "max-delay": "1 s"}
    text = f"""title = "Cut off"
time_limit = "5 s"
[path]
rate = "12 Mbps"
rtt = "20 ms"
change = [{{ at = "2 s", loss = "{loss}" }}]
[[flow]]
name = "call"
controller = "cubic"
background = true
[[flow.media]]
name = "video"
per_second = 25
duration = "60 s"
frame = "1000 B"
{carriage}
"""
    for metric, most in criteria.items():
        outcomes = Scenario.from_toml(text + bound.format(metric, most), "cut").trials(1)
        assert outcomes.verdict().answer == answer, metric
        assert outcomes.unfinished() is None


def test_a_figure_of_a_call_that_both_ends_send_has_a_line_for_each() -> None:
    trial = Scenario.from_toml(CALL, "both").run(seed=1, trace=True)
    panel = plot_trial(trial, panels=["window"]).spec["vconcat"][0]
    lines = panel if "encoding" in panel else panel["layer"][0]
    assert lines["encoding"]["color"]["scale"]["domain"] == ["call (cubic), client", "call (cubic), server"]
    labels = pl.read_csv(lines["data"]["values"].encode())["label"].unique()
    assert set(labels) == {"call (cubic), client", "call (cubic), server"}


def test_a_saturated_recorded_link_is_used_in_full_whatever_its_trace() -> None:
    for trace in ("ms: 1 2 3 4 5 6 7 8 9 10", "ms: 10 10 10 10 10 10 10 10 10 10", "ms: 5 6 7 7 30"):
        text = POLICED.replace("policer =", "# policer =").replace('rate = "20 Mbps"', f'trace = "{trace}"')
        text = text.replace('"20 kB"', '"200 ms"').replace('"10 MB"', '"1 GB"')
        outcomes = Scenario.from_toml(text.replace("download", "background = true\ndownload"), "traced").trials(1)
        flow, link = outcomes.flows.row(0, named=True), outcomes.links.row(0, named=True)
        assert 0.93 < link["utilisation"] <= 1.0, trace
        assert flow["utilisation"] == pytest.approx(link["utilisation"], rel=0.01)
        period_s, opportunities = int(trace.split()[-1]) / 1e3, len(trace.split()) - 1
        offered = 8 * 1500 * opportunities / period_s
        carried = 8 * link["delivered_bytes"] / outcomes.trials["end_s"][0]
        assert carried / offered == pytest.approx(link["utilisation"], rel=0.03)
        assert math.isfinite(link["mean_queue_delay_s"])
