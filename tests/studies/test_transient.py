"""The metric of the study transient on series made by hand, whose answers are derived beside them."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.experiments.studies.transient.as_coded import area_as_coded
from thalweg.experiments.studies.transient.checks import LARGE, SMALL, checks, findings, tail
from thalweg.experiments.studies.transient.fit import (
    CRITICAL,
    CRITICAL_FROM,
    NONE,
    OVER,
    UNDAMPED,
    UNDAMPED_BELOW,
    UNDER,
    fit_response,
    step_response,
)
from thalweg.experiments.studies.transient.metric import react, rebin, steady
from thalweg.experiments.studies.transient.parameters import PRESETS, Cell, Parameters
from thalweg.experiments.studies.transient.study import STUDY

RTT = 0.05


def flat(level: float, bins: int) -> np.ndarray:
    return np.full(bins, level)


def run(*parts: np.ndarray) -> np.ndarray:
    """One run, as a table of one row."""
    return np.concatenate(parts)[None, :]


def test_a_flow_at_the_available_bandwidth_from_the_first_bin_has_no_area_and_the_least_reaction_time() -> None:
    rates = run(flat(12, 40))
    reactions = react(rates, rates, RTT)
    assert reactions.converged[0]
    assert reactions.reaction_s[0] == pytest.approx(9 * RTT)  # the middle of a window from round trip 4 to 14
    assert (reactions.area[0], reactions.level[0]) == (0, 1)


def test_an_empty_start_is_undershoot_alone() -> None:
    # 10 empty bins, then all of the 12. A window that holds one empty bin of ten has a mean of 0.9: the
    # windows' means 0.9, 1, 1 deviate by 0.047 > 0.0118, so that steady begins at bin 10 and the mark is at 19.
    reactions = react(run(flat(0, 10), flat(12, 30)), run(flat(12, 40)), RTT)
    assert reactions.mark[0] == 19
    assert reactions.undershoot[0] == pytest.approx(10 / 19)
    assert reactions.overshoot[0] == 0
    assert reactions.lost[0] == pytest.approx(10 * RTT)


def test_what_is_sent_above_the_available_bandwidth_is_overshoot_although_the_link_delivers_no_more() -> None:
    sent = run(flat(18, 6), flat(12, 34))
    full = run(flat(12, 40))
    assert react(full, full, RTT).area[0] == 0
    reactions = react(full, full, RTT, sent)
    assert reactions.mark[0] == 15  # the sender is steady from bin 6
    assert reactions.overshoot[0] == pytest.approx(6 * 0.5 / 15)
    assert reactions.undershoot[0] == 0


def test_the_steady_state_gap_is_not_a_cost_of_the_step() -> None:
    # Endless teeth of one unit about 12, and no reaction at all: from 6 to 12 the area is that of the teeth.
    teeth = run(12 + np.tile([1.0, -1.0], 40))
    still = react(teeth, run(flat(12, 80)), RTT, before=6.0)
    assert still.mark[0] == 9
    # Above and below in turn: a gap of 1 in each bin, over the change of 6.
    assert still.area[0] == pytest.approx(1 / 6)
    assert still.settled[0] == pytest.approx(1 / 6)
    assert still.net[0] == pytest.approx(0)
    # With ten bins at 6 before the teeth: (10 * 6 + 9 * 1) / 19 over 6; the ten are what the step has cost.
    late = react(run(flat(6, 10), teeth[0]), run(flat(12, 90)), RTT, before=6.0)
    assert late.mark[0] == 19
    assert late.area[0] == pytest.approx(69 / 19 / 6)
    assert late.settled[0] == pytest.approx(1 / 6)
    assert late.net[0] == pytest.approx(50 / 19 / 6)  # ten bins with five more than the teeth


def test_a_run_that_does_not_converge_has_no_settled_gap() -> None:
    swing = run(12 + 6 * np.sin(2 * np.pi * np.arange(120) / 12))
    assert np.isnan(react(swing, run(flat(12, 120)), RTT).settled[0])


def test_over_and_undershoot_do_not_cancel() -> None:
    rates = run(flat(6, 5), flat(18, 5), flat(12, 30))
    reactions = react(rates, run(flat(12, 40)), RTT)
    assert reactions.mark[0] == 19
    assert reactions.undershoot[0] == pytest.approx(5 * 0.5 / 19)
    assert reactions.overshoot[0] == pytest.approx(5 * 0.5 / 19)
    assert reactions.area[0] == pytest.approx(5 / 19)


def test_the_area_is_normalized_by_the_change_of_the_bandwidth() -> None:
    # From 12 to 24: a flow that needs 10 bins at 12 misses all of the change in them.
    reactions = react(run(flat(12, 10), flat(24, 30)), run(flat(24, 40)), RTT, before=12.0)
    assert reactions.undershoot[0] == pytest.approx(10 / 19)


def test_a_flow_that_oscillates_does_not_converge_and_is_reported() -> None:
    # A period of 12 bins is not that of the windows, 4 or 8 bins apart: their means differ by more than 1 %.
    swing = run(12 + 6 * np.sin(2 * np.pi * np.arange(120) / 12))
    reactions = react(swing, run(flat(12, 120)), RTT)
    assert not reactions.converged[0]
    assert reactions.reaction_s[0] == np.inf
    assert reactions.mark[0] == 120
    # Mean of |6 sin| over whole periods of 12 bins: (2/12) * 6 * (0.5 + 0.866 + 1 + 0.866 + 0.5) / 12.
    assert reactions.area[0] == pytest.approx(2 / 12 * 6 * (2 + np.sqrt(3)) / 12)


def test_a_flow_that_stays_at_half_has_converged_to_a_level_of_one_half() -> None:
    reactions = react(run(flat(6, 40)), run(flat(12, 40)), RTT)
    assert reactions.converged[0]
    assert (reactions.level[0], reactions.undershoot[0]) == (0.5, 0.5)


def test_a_flow_that_has_not_noticed_a_step_has_not_converged_however_steady_it_is() -> None:
    # From 12 to 24, noticed 50 round trips later: steady at 12 from the start, closer to 24 from bin 50.
    late = run(flat(12, 50), flat(24, 30))
    reactions = react(late, run(flat(24, 80)), RTT, before=12.0)
    assert reactions.mark[0] == 59
    assert reactions.undershoot[0] == pytest.approx(50 / 59)
    never = react(run(flat(12, 80)), run(flat(24, 80)), RTT, before=12.0)
    assert not never.converged[0]
    assert never.level[0] == 0.5
    # Downwards: the link delivers no more than 6 at once, but the sender goes on with 12.
    down = react(run(flat(6, 80)), run(flat(6, 80)), RTT, run(flat(12, 80)), before=12.0)
    assert not down.converged[0]


def test_a_step_of_the_round_trip_alone_asks_for_no_move_and_is_measured_by_the_whole_bandwidth() -> None:
    dip = run(flat(6, 10), flat(12, 30))
    reactions = react(dip, run(flat(12, 40)), RTT, before=12.0)
    assert reactions.converged[0]
    assert reactions.mark[0] == 19  # steady from bin 10
    assert reactions.undershoot[0] == pytest.approx(10 * 0.5 / 19)


def test_too_short_a_series_does_not_converge() -> None:
    assert react(run(flat(12, 18)), run(flat(12, 18)), RTT).converged[0]
    assert not react(run(flat(12, 17)), run(flat(12, 17)), RTT).converged[0]


def test_the_metric_does_not_depend_on_the_unit_of_rates() -> None:
    noise = np.random.default_rng(3).normal(12, 0.2, (20, 200))
    noise[:, :15] = np.linspace(0, 12, 15)
    small, large = (react(noise * unit, np.full_like(noise, 12) * unit, RTT) for unit in (1.0, 1e8))
    assert small.converged.any()
    assert np.array_equal(small.mark, large.mark)
    assert np.allclose(small.area, large.area)


def test_a_ramp_is_steady_where_its_last_steps_are_below_the_threshold() -> None:
    # Ten in 20 steps, then flat. From bin 18 the windows' means are 0.985, 1, 1: deviation 0.0071 <= 0.0118; their
    # variances 0.001025, 0, 0: deviation 0.00048 <= 0.00098. From bin 17 the first is 0.97: 0.0141.
    found = steady(run(np.linspace(0, 10, 21), flat(10, 30)), np.array([10.0]))
    assert found[0].argmax() == 18
    assert found[0, 18:].all()


def test_bins_shorter_than_a_round_trip_give_the_same_windows() -> None:
    rates = run(flat(0, 10), flat(12, 30))
    fine = np.repeat(rates, 4, axis=1)
    coarse, finer = react(rates, run(flat(12, 40)), RTT), react(fine, np.full_like(fine, 12), RTT / 4, rtt_bins=4)
    # A quarter of an empty round trip in a window is 0.025 of its mean, 0.0118 as deviation of three: just allowed
    # by the mean, and its variance 0.0244 deviates by 0.0115: not.
    assert finer.reaction_s[0] == coarse.reaction_s[0]
    assert finer.area[0] == pytest.approx(coarse.area[0])


def test_arrays_of_different_shapes_are_refused() -> None:
    with pytest.raises(RequestError, match="one shape for all"):
        react(run(flat(1, 20)), run(flat(1, 21)), RTT)


def test_amounts_are_kept_when_bins_become_wider() -> None:
    amounts = np.random.default_rng(1).uniform(0, 9, (3, 120))
    assert rebin(amounts, 0.01, 0.03).sum() == pytest.approx(amounts.sum())
    assert rebin(amounts, 0.01, 0.025).shape == (3, 48)


# As coded: 12 Mbps and 50 ms are bins of 50 ms with 75 000 bytes each.

FULL = 75_000.0


def test_as_coded_an_area_is_twelve_times_the_mean_gap_before_the_mark() -> None:
    # 10 empty bins. Windows have 11 bins (both ends): with one empty bin, means 10.9, 12, 12 Mbps vary by
    # 0.264 > 0.02, so that the first stable bin is 10. Middle of the middle window: (4 + 15) // 2 = 9 later.
    coded = area_as_coded(run(flat(0, 10), flat(FULL, 990)), 0.05, 12, 0.025)
    assert coded.converged[0]
    assert coded.area[0] == pytest.approx(12 * 10 / 19)


def test_as_coded_a_run_that_never_converges_is_scored_by_its_first_forty_bins() -> None:
    restless = np.tile([FULL, FULL, FULL, FULL, 0.0, FULL, 2 * FULL], 150)[None, :]
    coded = area_as_coded(restless, 0.05, 12, 0.025)
    assert not coded.converged[0]
    # Of each seven bins two are off by 12 Mbps; the first 40 are five sevens (10) and F F F F 0 (1).
    assert coded.area[0] == pytest.approx(12 * 11 / 40)


def test_as_coded_the_threshold_does_not_grow_with_the_bandwidth() -> None:
    # A drift of 0.25 % of the bandwidth in each round trip: windows 4 round trips apart have means 1 % apart, the
    # variance of which is 2/3 of 0.12^2 = 0.0096 at 12 Mbps, and 2/3 of 0.48^2 = 0.154 at 48.
    drift = 1 + 0.0025 * np.arange(1000)[None, :]
    slow, fast = (area_as_coded(drift * FULL * factor, 0.05, 12 * factor, 0.025) for factor in (1, 4))
    assert slow.converged[0]
    assert not fast.converged[0]


def test_as_coded_bins_grow_with_the_bandwidth_and_the_series_is_cut() -> None:
    # 48 Mbps: bins of four round trips, 0.2 s, cut at 50 s. One empty bin first: windows of 3 bins, then a mark at
    # the middle of the middle one: steady from bin 1, mark at 1 + (1 + 4) // 2 = 3; the area 12 * 1 / 3.
    coded = area_as_coded(run(flat(0, 1), flat(4 * 300_000.0, 400)), 0.2, 48, 0.025)
    assert coded.area[0] == pytest.approx(12 / 3)


def test_as_coded_a_series_shorter_than_forty_bins_has_no_area() -> None:
    assert np.isnan(area_as_coded(np.tile([0.0, 2 * FULL, FULL], 9)[None, :], 0.05, 12, 0.025).area[0])


# The second-order response.


@pytest.mark.parametrize(
    ("ratio", "expected"), [(0.05, UNDAMPED), (0.4, UNDER), (1.0, CRITICAL), (2.5, OVER), (6.0, OVER)]
)
def test_the_damping_of_a_second_order_response_is_found_again(ratio: float, expected: str) -> None:
    time = (np.arange(400) + 0.5) * RTT
    fit = fit_response(step_response(3.3 * time, np.array(ratio))[None, :], np.array([400]), RTT)
    assert fit.damping[0] == pytest.approx(ratio, rel=0.05, abs=0.005)
    assert fit.frequency[0] == pytest.approx(3.3, rel=0.05)
    assert fit.quality[0] > 0.999
    assert fit.classes == [expected]


def test_a_dead_time_is_found_and_is_no_damping() -> None:
    time = (np.arange(200) + 0.5 - 6) * RTT
    response = np.where(time > 0, step_response(5 * np.maximum(time, 0), np.array(0.5)), 0.0)
    fit = fit_response(response[None, :], np.array([200]), RTT)
    assert fit.dead_s[0] == pytest.approx(6 * RTT)
    assert fit.damping[0] == pytest.approx(0.5, rel=0.05)


def test_only_the_bins_that_belong_to_a_reaction_are_fitted() -> None:
    time = (np.arange(300) + 0.5) * RTT
    response = step_response(4 * time, np.array(1.0))
    response[100:] = 7
    fit = fit_response(response[None, :], np.array([100]), RTT)
    assert fit.damping[0] == pytest.approx(1, rel=0.05)
    assert fit.quality[0] > 0.999


def test_noise_has_no_damping_class() -> None:
    noise = np.random.default_rng(2).normal(1, 1, (1, 300))
    assert fit_response(noise, np.array([300]), RTT).classes == [NONE]
    assert fit_response(np.full((1, 30), np.nan), np.array([30]), RTT).classes == [NONE]


def test_the_bounds_of_the_damping_classes_match_their_definitions() -> None:
    # The first overshoot is exp(-pi z / sqrt(1 - z^2)); a whole swing later it is that squared over itself.
    assert np.exp(-np.pi * CRITICAL_FROM / np.sqrt(1 - CRITICAL_FROM**2)) == pytest.approx(0.02)
    assert np.exp(-2 * np.pi * UNDAMPED_BELOW / np.sqrt(1 - UNDAMPED_BELOW**2)) == pytest.approx(0.5)
    peak = step_response(np.linspace(0, 20, 20001), np.array(CRITICAL_FROM)).max()
    assert peak == pytest.approx(1.02, abs=1e-4)


def test_a_tail_without_end_is_infinite() -> None:
    assert tail(np.array([1.0] * 18 + [np.inf] * 2)) == np.inf
    assert tail(np.array([2.0] * 20)) == 1


# Checks by intervals.

SIX = ("reno", "cubic", "bbr1", "bbr")


def areas(medians: dict[tuple[str, str], float], n: int = 100, unfinished: float = 0.0) -> dict[Cell, np.ndarray]:
    rng = np.random.default_rng(3)
    drawn = {
        Cell(buffer, name): medians.get((buffer, name), 1.0) * rng.lognormal(0, 0.1, n)
        for buffer in (SMALL, LARGE)
        for name in SIX
    }
    return {cell: np.where(rng.uniform(size=n) < unfinished, np.inf, area) for cell, area in drawn.items()}


def test_better_is_a_ratio_below_one_with_all_of_its_interval() -> None:
    told = {check.name: check.answer for check in checks(areas({(SMALL, "reno"): 0.7, (SMALL, "cubic"): 1.4}))}
    assert told["small buffer: reno reacts better than bbr1"] == "holds"
    assert told["small buffer: cubic reacts better than bbr1"] == "fails"
    assert told["larger buffer: bbr1 reacts better than reno"] == "undecided"  # alike


def test_if_half_of_the_runs_do_not_converge_checks_are_undecided() -> None:
    # The rule that asked for a finite median held for a quarter of such pairs.
    answers = {check.answer for check in checks(areas({}, n=40, unfinished=0.5))}
    assert answers == {"undecided"}


def test_a_tail_is_longer_only_by_the_interval_of_the_ratio_of_tails() -> None:
    made = areas({})
    name = "small buffer: bbr1 has a long tail"
    assert {check.name: check.answer for check in checks(made)}[name] != "holds"
    made[Cell(SMALL, "bbr1")] = np.where(np.arange(100) % 10 == 0, 5.0, made[Cell(SMALL, "bbr1")])
    assert {check.name: check.answer for check in checks(made)}[name] == "holds"


# Roles.


def test_a_variant_plays_the_role_of_its_algorithm_and_the_first_of_a_role_decides() -> None:
    played = {
        Cell(buffer, name): area
        for buffer in (SMALL, LARGE)
        for name, area in (
            ("reno", areas({})[Cell(SMALL, "reno")]),
            ("cubic:start=classic", areas({(SMALL, "cubic"): 0.5})[Cell(buffer, "cubic")]),
            ("bbr1", areas({})[Cell(SMALL, "bbr1")]),
            ("cubic", areas({(SMALL, "cubic"): 1.5})[Cell(buffer, "cubic")]),
            ("c4", areas({})[Cell(SMALL, "reno")]),
        )
    }
    told = {check.name: check.answer for check in checks(played)}
    assert len(told) == 7
    assert told["cubic:start=classic reacts worse with the larger buffer"] == "holds"
    others = {finding.name: finding for finding in findings(played, {})}
    assert others["cubic reacts worse with the larger buffer"].answer == "fails"
    assert others["cubic reacts worse with the larger buffer"].reason == "cubic for the poster's CUBIC"
    assert not any("c4" in name for name in [*told, *others])


def test_a_statement_is_judged_where_all_its_roles_are_there() -> None:
    alone = {cell: area for cell, area in areas({}).items() if cell.controller == "reno"}
    assert [check.name for check in checks(alone)] == ["reno reacts worse with the larger buffer"]
    small = {cell: area for cell, area in areas({}).items() if cell.buffer == SMALL}
    assert [check.name.split(":")[0] for check in checks(small)] == ["small buffer"] * 3
    assert checks({cell: area for cell, area in areas({}).items() if cell.controller == "prague"}) == []


def test_other_controllers_keep_the_checks_and_another_path_has_none() -> None:
    paper = PRESETS["paper"]
    assert STUDY.choose({"controllers": ["reno", "bbr"], "duration": "20 s"}).is_published
    for other in ({"rtt": "40 ms"}, {"rate": "24 Mbps"}, {"buffers": ["50 packets"]}, {"delay_noise": "0 ms"}):
        assert not STUDY.choose(other).is_published
    assert not any(parameters.is_published for name, parameters in PRESETS.items() if name != "paper")
    assert paper == Parameters()
    assert paper.controllers[:3] == (
        "reno",
        "cubic:start=classic",
        "bbr1",
    )  # the slow start of CCP has no HyStart++
