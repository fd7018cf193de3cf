"""The analysis of probes on series with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from thalweg.probe.clocks import one_way, slope_under
from thalweg.probe.distribution import (
    Censored,
    censored_cumulative,
    cumulative,
    histogram,
    percentiles,
    undo_in_order,
)
from thalweg.probe.in_order import filter_in_order, find_in_order_line, hold
from thalweg.probe.jitter_trace import Direction, jitter_trace
from thalweg.probe.losses import count_losses, count_reordered
from thalweg.probe.series import Floats, Series
from thalweg.probe.timers import TIMERS, run_timer

OCTOPING, RFC9002, PICOQUIC, TLP, LINUX, RFC6298 = TIMERS


def series_of(up: Floats, down: Floats, interval: float = 0.02, offset: float = 0.0, drift: float = 0.0) -> Series:
    """A series with these one-way delays, nan for a lost one, and a server whose clock is off."""
    sent = np.arange(len(up)) * interval
    arrived = sent + up
    received = arrived + down
    lost = np.isnan(received)
    server = np.where(lost, np.nan, arrived * (1 + drift) + offset)
    seen = np.cumsum(~np.isnan(up))
    return Series("hand-made", sent, server, server, received, (~lost).astype(np.int64), np.where(lost, 0, seen))


def test_losses_are_split_by_direction_from_the_counts_of_the_server() -> None:
    # Ten requests; the third and the fourth never arrive, the reply to the seventh is lost. Of the ten the server
    # sees eight when it answers the last: two lost on the way up, and three without an answer less two on the
    # way down.
    up, down = np.full(10, 0.001), np.full(10, 0.001)
    up[2:4] = np.nan
    down[6] = np.nan
    losses = count_losses(series_of(up, down))
    assert (losses.sent, losses.answered, losses.lost) == (10, 7, 3)
    assert (losses.lost_up, losses.lost_down) == (2, 1)
    assert losses.longest_loss == 2
    assert losses.loss == pytest.approx(0.3)
    assert (losses.copies, losses.reordered_up, losses.reordered_down) == (0, 0, 0)


def test_reordering_counts_packets_that_arrive_after_a_later_one() -> None:
    # Arrivals at 50, 25, 45 and 65 ms: two later ones overtake the first; RFC 4737 counts the late one.
    up = np.array([0.05, 0.005, 0.005, 0.005])
    losses = count_losses(series_of(up, np.full(4, 0.001)))
    assert (losses.reordered_up, losses.reordered_down) == (1, 0)
    assert count_reordered(np.array([])) == 0
    assert count_reordered(np.array([4.0, 3.0, 2.0, 1.0])) == 3


def test_one_way_delays_are_found_although_the_clocks_disagree() -> None:
    random = np.random.default_rng(1)
    n = 3000
    up, down = (0.004 + random.exponential(0.002, n) * (random.random(n) < 0.9) for _ in range(2))
    ways = one_way(series_of(up, down, offset=-1234.5, drift=40e-6))
    # A tenth of all delays are the least, so the lines are exact but for 40 ppm of the delays themselves.
    assert ways.drift == pytest.approx(40e-6, rel=0.01)
    assert ways.offset_s == pytest.approx(-1234.5, abs=1e-5)
    assert np.abs(ways.up - up).max() < 2e-5
    assert np.abs(ways.down - down).max() < 2e-5
    # The assumption of equal least delays may be wrong by half of the least round trip.
    assert ways.uncertain_s == pytest.approx(0.004, abs=1e-5)


def test_a_change_of_both_ways_is_no_drift() -> None:
    rising = 0.001 + np.arange(500) * 1e-5
    assert one_way(series_of(rising, rising)).drift == 0.0


def test_the_line_under_a_cloud_is_the_edge_of_its_hull_over_the_mean_time() -> None:
    # Hull: (0, 0) - (4, 1) - (10, 7). Mean time 5.2 lies over the second edge, with a slope of 6 / 6.
    time, delay = np.array([0.0, 4, 5, 7, 10]), np.array([0.0, 1, 9, 8, 7])
    assert slope_under(time, delay) == pytest.approx(1.0)
    assert slope_under(np.array([1.0, 1.0]), np.array([2.0, 3.0])) == 0.0


def test_the_filter_drops_replies_released_with_the_last_kept_one() -> None:
    # Probes of 20 ms, one of 90 ms: it and the four after it arrive at 90 ms plus a few microseconds.
    sent = np.arange(8) * 0.02
    rtt = np.array([0.09, 0.0701, 0.0502, 0.0303, 0.0104, 0.002, 0.002, 0.002])
    assert filter_in_order(sent + rtt).tolist() == [True, False, False, False, False, True, True, True]


def test_the_line_of_in_order_delivery_runs_an_interval_below_the_diagonal() -> None:
    # Every tenth probe has 107 ms, and those after it 87, 67, 47, 27, 7 ms, then four of 2 ms.
    rtt = np.tile([0.107, 0.087, 0.067, 0.047, 0.027, 0.007, 0.002, 0.002, 0.002, 0.002], 20)
    line = find_in_order_line(rtt, 0.02)
    assert line.found
    assert line.below_s == pytest.approx(0.02)
    # Five pairs of each group begin above 20 ms, and all of them lie on the line.
    assert (line.on_line, line.candidates) == (100, 100)


def test_independent_round_trips_have_no_such_line() -> None:
    random = np.random.default_rng(3)
    line = find_in_order_line(0.1 * random.random(4000), 0.02)
    assert not line.found
    # 80 % of uniform round trips up to 100 ms are above 20 ms.
    assert 3000 < line.candidates < 3400
    assert not find_in_order_line(np.full(100, 0.002), 0.02).found
    assert not find_in_order_line(np.full(100, 0.05), 0.02).found


def test_bins_include_their_lower_edge_and_values_beyond_are_counted() -> None:
    bins = histogram(np.array([0.0, 0.0024, 0.0025, 0.149, 0.15, 0.3]))
    assert bins.counts[:2].tolist() == [2, 1]
    assert bins.counts[-1] == 1
    assert (len(bins.counts), bins.beyond) == (60, 2)


def test_percentiles_are_values_that_were_measured() -> None:
    values = np.array([5.0, 1, 2, 4, 3])
    assert percentiles(values, (0.0, 0.5, 0.9, 1.0)) == [1, 3, 5, 5]
    assert math.isnan(percentiles(np.array([]), (0.5,))[0])
    ordered, shares = cumulative(values)
    assert ordered.tolist() == [1, 2, 3, 4, 5]
    assert shares.tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_a_held_packet_gives_a_bound_and_a_free_one_its_delay() -> None:
    sent = np.array([0.0, 0.02, 0.04, 0.06])
    delay = np.array([0.05, 0.03, 0.025, 0.003])  # arrivals at 50, 50, 65, 63 ms
    assert hold(sent, delay)[1:].tolist() == pytest.approx([0.03, 0.01, 0.005])
    undone = undo_in_order(sent, delay, gap_s=0.001)
    # The second arrives with the first: at most 31 ms. The last overtakes by 2 ms: it was not held.
    assert undone.exact.tolist() == [True, False, True, True]
    assert undone.value.tolist() == pytest.approx([0.05, 0.031, 0.025, 0.003])


def test_the_censored_distribution_is_that_of_kaplan_and_meier() -> None:
    # Exact 1, 3, 5; one at most 2, one at most 4. Downwards: F just below 5 is 1 - 1/5 = 4/5; below 3, of
    # three at or below 3 one is exact: 4/5 * 2/3 = 8/15; the least exact value takes the rest with it.
    values, shares = censored_cumulative(
        Censored(np.array([1.0, 3, 5, 2, 4]), np.array([True, True, True, False, False]))
    )
    assert values.tolist() == [1, 3, 5]
    assert shares.tolist() == pytest.approx([8 / 15, 4 / 5, 1.0])


def test_in_order_delivery_is_undone() -> None:
    # Exponential delays of 30 ms every 20 ms in order; the estimate is the exponential distribution again.
    random = np.random.default_rng(5)
    sent = np.arange(20_000) * 0.02
    arrival = np.maximum.accumulate(sent + random.exponential(0.03, len(sent)))
    experienced = arrival - sent
    values, shares = censored_cumulative(undo_in_order(sent, experienced, gap_s=0.0))
    distance = np.abs(shares - (1 - np.exp(-values / 0.03))).max()
    # Kolmogorov: 1.63 / sqrt(10 000 exact values) = 0.016 is exceeded once in a hundred times.
    assert distance < 0.016
    # What was experienced is another distribution, and so is what the filter keeps.
    for biased in (experienced, experienced[filter_in_order(arrival)]):
        ordered, raw = cumulative(biased)
        assert np.abs(raw - (1 - np.exp(-ordered / 0.03))).max() > 0.05


def test_the_timer_of_rfc_9002_follows_the_estimator() -> None:
    # 40 ms: srtt 40, var 20, timer 120. 48 ms: srtt 41, var (60 + 7) / 4 = 16.75, timer 108. The third reply
    # takes 108.5 ms: fired. srtt (7 * 41 + 108.5) / 8 = 49.4375, var (50.25 + 59.0625) / 4 = 27.328, timer 158.75.
    run = run_timer(OCTOPING, np.array([0.04, 0.048, 0.1085, 0.05]))
    assert math.isnan(run.length_s[0])
    assert (run.length_s[1:] * 1e3).tolist() == pytest.approx([120.0, 108.0, 158.75])
    assert run.fired.tolist() == [False, False, True, False]
    assert run.count == 1


def test_each_stack_has_its_own_timer() -> None:
    # srtt 40, var 20 ms after one sample; ten equal samples more bring the variation to 20 * 0.75^10 = 1.126.
    once = np.array([0.04, 0.04])
    lengths = [float(run_timer(timer, once).length_s[1]) * 1e3 for timer in TIMERS]
    assert lengths == pytest.approx([120.0, 145.0, 110.0, 80.0, 240.0, 1000.0])
    steady = np.full(12, 0.04)
    lengths = [float(run_timer(timer, steady).length_s[11]) * 1e3 for timer in (OCTOPING, RFC9002, PICOQUIC)]
    assert lengths == pytest.approx([40 + 4 * 1.1263, 40 + 4 * 1.1263 + 25, 40 + 3 * 1.1263 + 10], abs=1e-3)


def test_tcp_compares_a_sample_with_the_average_before_it() -> None:
    # RFC 6298 (2.3): var = 3/4 * 20 + 1/4 * |40 - 48| = 17 ms; RFC 9002: |41 - 48| makes 16.75 ms. Linux adds
    # 200 ms instead of 4 * 17.
    samples = np.array([0.04, 0.048, 0.04])
    assert run_timer(LINUX, samples).length_s[2] == pytest.approx(0.041 + 0.2)
    assert run_timer(RFC6298, np.array([0.4, 0.48, 0.4])).length_s[2] == pytest.approx(0.41 + 4 * 0.17)
    assert run_timer(TLP, samples).length_s[2] == pytest.approx(0.082)


def test_a_lost_probe_is_no_spurious_firing_and_no_sample() -> None:
    with_loss = run_timer(OCTOPING, np.array([0.04, np.nan, 0.048, 0.05]))
    without = run_timer(OCTOPING, np.array([0.04, 0.048, 0.05]))
    assert with_loss.length_s[[0, 2, 3]].tolist()[1:] == without.length_s[1:].tolist()
    assert not with_loss.fired[1]


def test_a_jitter_trace_has_the_delays_above_the_least_and_closes_its_period() -> None:
    up, down = np.array([0.003, 0.001, np.nan, 0.009]), np.array([0.001, 0.004, 0.001, 0.002])
    series = series_of(up, down, offset=7.0)
    # Least up 1 ms. The third is lost. The period is four intervals, and ends as it began.
    assert jitter_trace(series, Direction.UP).splitlines() == ["0 2000", "20000 0", "60000 8000", "80000 2000"]
    # Sent back at 3, 21 and 69 ms by the client's clock; least down 1 ms, assumed equal to the least up.
    assert jitter_trace(series, Direction.DOWN).splitlines() == ["3000 0", "21000 3000", "69000 1000", "80000 0"]
    # Round trips of 4, 5 and 11 ms, half of what is above 4 ms.
    assert jitter_trace(series, Direction.HALF).splitlines() == ["0 0", "20000 500", "60000 3500", "80000 0"]
