"""The study `fairness`: its metric on series made by hand, and the study from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.experiments.studies.fairness.checks import checks
from thalweg.experiments.studies.fairness.measure import measure, row
from thalweg.experiments.studies.fairness.metric import (
    convergence_time,
    jain,
    max_min,
    mean_jain,
    ratio,
    rebin,
    share_of_fair,
)
from thalweg.experiments.studies.fairness.parameters import Cell, Parameters
from thalweg.experiments.studies.fairness.study import STUDY


def test_jains_index_of_two_flows_is_the_published_formula() -> None:
    # (3 + 1)^2 / (2 (9 + 1)) = 16 / 20
    assert jain(np.array([[3.0], [1.0]])).tolist() == [0.8]
    # One of n has all: 1 / n.
    assert jain(np.array([[5.0], [0.0], [0.0], [0.0]])).tolist() == [0.25]


def test_turns_in_short_bins_are_fair_in_long_ones() -> None:
    # The flows take turns, a second each: 1/2 in bins of 1 s, 1 in bins of 2 s.
    turns = np.array([[1.0, 0.0] * 10, [0.0, 1.0] * 10])
    assert mean_jain(turns, 1.0, 1.0) == pytest.approx(0.5)
    assert mean_jain(turns, 1.0, 2.0) == pytest.approx(1.0)


def test_bins_that_do_not_fill_are_left_out_and_odd_ones_are_refused() -> None:
    assert rebin(np.ones(7), 1.0, 3.0).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="not a multiple"):
        rebin(np.ones(7), 0.4, 1.0)
    assert np.isnan(mean_jain(np.ones((2, 3)), 1.0, 5.0))


def test_max_min_gives_unused_shares_to_the_other_flows() -> None:
    # 10 for three: 1 is content, 9 are left for two who want more than 4.5.
    assert max_min([1.0, 20.0, 5.0], 10.0).tolist() == [1.0, 4.5, 4.5]
    assert max_min([1.0, 2.0], 10.0).tolist() == [1.0, 2.0]
    assert share_of_fair(np.array([15.0, 5.0]), 20.0).tolist() == [1.5, 0.5]


def test_the_ratio_is_infinite_under_starvation() -> None:
    assert ratio(np.array([6.0, 2.0])) == 3.0
    assert ratio(np.array([6.0, 0.0])) == float("inf")


def test_convergence_is_a_fair_index_that_lasts() -> None:
    first = np.array([10.0, 9.0, 5.0, 9.0, 6.0, 5.0, 5.0, 5.0, 5.0])
    rates = np.array([first, 10.0 - first])
    # Second 2 is fair but does not last; from second 4 on (0.6, 0.4: 1 / 1.04 = 0.96) it does.
    assert convergence_time(rates, 1.0, 1.0, hold_s=3.0) == 3.0
    assert np.isnan(convergence_time(rates, 1.0, 1.0, least=0.99, hold_s=5.0))


def test_every_condition_differs_from_the_base_in_one_thing() -> None:
    cells = list(Parameters(controllers=("c4", "cubic"), flows=(2, 10)).cells())
    pairs = [cell for cell in cells if not cell.is_intra]
    # 1 base, 4 buffers, 3 RTT ratios, 3 queues; 4 ordered pairs each; 10 flows of 2 controllers.
    assert (len(pairs), len(cells)) == (4 * 11, 4 * 11 + 2)
    assert len(set(cells)) == len(cells)
    base = Cell(("",))
    for cell in pairs:
        changed = (cell.buffer_bdp != base.buffer_bdp, cell.rtt_ratio != 1.0, cell.queue != base.queue)
        assert sum(changed) <= 1


def test_an_equal_pair_is_fair_and_its_row_is_complete() -> None:
    parameters = Parameters(("cubic",), (1.0,), (1.0,), ("fq-codel",), flows=(4,))
    done = STUDY.run(parameters, trials=1)
    pair, four = done.result.rows
    assert pair["jain_20s"] is not None
    assert float(pair["jain_20s"]) > 0.95
    assert 0.85 <= float(pair["first_of_fair"] or 0) <= 1.1
    assert 0.85 <= float(pair["utilisation"] or 0) <= 1.0
    assert four["flows"] == 4
    assert four["first_of_fair"] is None


def test_long_times_are_written_as_a_scenario_reads_them() -> None:
    long = Parameters(rtt="2 s", gap="1500 s", duration="2000 s")
    scenario = long.scenario(Cell(("reno", "reno"), rtt_ratio=4.0))
    assert [flow["start_s"] for flow in scenario.flows] == [0.0, 1500.0]
    # 1500 s, then up to one round trip of 2 s for the start, then 2000 s; 8 s where the RTT is four times as long.
    assert long.end_s(Cell(("reno", "reno"))) == 3502.0
    assert 'time_limit = "3508000000000 ns"' in scenario.toml


def test_a_gap_that_ends_within_a_bin_is_measured_from_the_next_one() -> None:
    parameters = Parameters(gap="0.25 s", duration="20 s")
    cell = Cell(("reno", "reno"))
    outcomes = parameters.scenario(cell).trials(1)
    # Bins of 100 ms: the one from 0.2 s to 0.3 s has the first flow alone for half of it.
    received = outcomes.series(0, "first").received[3:].sum() + outcomes.series(0, "second").received[3:].sum()
    capacity = outcomes.capacity(0, "bottleneck")[3:].sum()
    assert measure(parameters, cell, outcomes)["utilisation"][0] == pytest.approx(received / capacity)


def pair(ratio: float = 1.0, first: float = 1.0, least: float = 0.9, n: int = 20) -> dict[str, np.ndarray]:
    """Trials of a pair, which scatter by 10 %."""
    scatter = np.linspace(0.9, 1.1, n)
    return {
        "ratio": ratio * scatter,
        "first": first * scatter,
        "last": (2 - first) * scatter,
        "least": least * scatter,
    }


@pytest.mark.parametrize(("fair", "answer"), [(0.5, "holds"), (0.1, "fails"), (0.2, "fails")])
def test_the_check_of_fair_queueing_speaks_of_the_weakest_flow_of_all_pairs(fair: float, answer: str) -> None:
    cells = {
        Cell(("c4", "cubic")): pair(least=0.2),
        Cell(("c4", "reno")): pair(least=0.9),
        Cell(("c4", "cubic"), queue="fq-codel"): pair(least=fair),
    }
    (check,) = checks(cells)
    assert check.answer == answer
    assert "the weakest gets 20.0 % of fair with drop-tail" in check.measured


def test_a_ratio_near_its_bound_is_settled_by_enough_trials_and_by_no_fewer() -> None:
    # The check that held for two of three choices of three seeds.
    wide = np.geomspace(1.5, 6.0, 20)  # median 3.0
    (open_,) = checks({Cell(("cubic", "cubic")): pair() | {"ratio": wide}})
    assert open_.answer == "undecided"
    few = checks({Cell(("cubic", "cubic")): pair(ratio=1.2, n=19)})
    assert [check.answer for check in few] == ["undecided"]
    for apart, answer in ((1.2, "holds"), (4.0, "fails")):
        assert [check.answer for check in checks({Cell(("cubic", "cubic")): pair(ratio=apart)})] == [answer]


def test_bbr_has_to_take_more_than_its_share_from_every_loss_based_flow() -> None:
    cells = {
        Cell(("bbr1", "cubic"), buffer_bdp=0.5): pair(first=1.8),
        Cell(("bbr1", "reno"), buffer_bdp=0.5): pair(first=1.8),
    }
    assert [check.answer for check in checks(cells)] == ["holds"]
    cells[Cell(("bbr1", "reno"), buffer_bdp=0.5)] = pair(first=1.01)
    assert [check.answer for check in checks(cells)] == ["undecided"]
    cells[Cell(("bbr1", "reno"), buffer_bdp=0.5)] = pair(first=0.5)
    assert [check.answer for check in checks(cells)] == ["fails"]


def test_the_longer_round_trip_has_to_get_less() -> None:
    for first, answer in ((1.6, "holds"), (0.4, "fails")):
        assert [check.answer for check in checks({Cell(("reno", "reno"), rtt_ratio=8.0): pair(first=first)})] == [
            answer
        ]


def test_trials_start_at_all_phases_of_a_round_trip_and_are_measured_from_when_all_are_there() -> None:
    parameters = Parameters(rtt="100 ms", gap="1 s", duration="20 s")
    cell = Cell(("reno", "reno"), rtt_ratio=2.0)
    flows = parameters.scenario(cell).trials(12).flows
    for name, planned in (("first", 0.0), ("second", 1.0)):
        late = flows.filter(flows["flow"] == name)["start_s"].to_numpy() - planned
        assert late.min() >= 0
        assert 0.1 < np.ptp(late) < 0.2  # up to the longer round trip, 0.2 s
    assert parameters.begin_s(cell) == pytest.approx(1.2)


def test_a_mean_with_a_missing_trial_is_undefined() -> None:
    parameters = Parameters(duration="20 s")
    cell = Cell(("reno", "reno"))
    outcomes = parameters.scenario(cell).trials(2)
    measured = measure(parameters, cell, outcomes)
    assert row(parameters, cell, measured)["jain_1s"] is not None
    assert row(parameters, cell, measured)["jain_20s"] is not None  # 20 s fill one bin
    measured["jain_1"][1] = np.nan
    assert row(parameters, cell, measured)["jain_1s"] is None


def test_the_round_trip_of_the_second_flow_is_longer_by_the_ratio() -> None:
    scenario = Parameters(gap="0 s", duration="20 s").scenario(Cell(("reno", "reno"), rtt_ratio=4.0))
    flows = scenario.trials(1).flows
    least = dict(zip(flows["flow"], flows["min_rtt_s"], strict=True))
    assert 0.040 <= least["first"] < 0.045
    assert 0.160 <= least["second"] < 0.165


def test_the_command_prints_the_document_and_leaves_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "fair"
    arguments = "study fairness -c cubic -c c4 --buffer 1 --buffer 2 --rtt-ratio 1 --queue drop-tail --flows 3"
    status = main([*arguments.split(), "--duration", "20 s", "-n", "1", "--format", "json", "--out", str(folder)])
    document = json.loads(capsys.readouterr().out)
    assert status == 2  # one trial settles nothing
    assert document["name"] == "fairness"
    assert len(document["rows"]) == 2 * 4 + 2
    assert (folder / "report.html").stat().st_size > 100_000
    stored = json.loads((folder / "experiment.json").read_text())
    for beside in ("files", "hashes", "sha256"):
        assert stored.pop(beside)
    assert stored == document


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--buffer=0", "0.01 to 1000"),
        ("--rtt-ratio=0.5", "1 or more"),
        ("--flows=1", "2 to 999"),
        ("--duration=5 s", "20 s or more"),
        ("--duration=5", "expected a time"),
        ("--queue=fifo", "fq-codel"),
        ("--controller=c9", "c4"),
        ('--controller=c"9', "unknown controller"),
        ("--gap=soon", "expected a time"),
    ],
)
def test_nonsense_parameters_are_refused_with_one_message(
    option: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "fairness", option]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_a_study_without_a_queue_is_refused_as_nothing_to_run() -> None:
    with pytest.raises(RequestError, match="nothing to run: accepted: at least one controller, buffer, RTT ratio"):
        Parameters(queues=())


def test_two_controllers_whose_cells_would_be_one_file_are_refused() -> None:
    """Signs of a name are dots in the name of a file: the second cell took the place of the first."""
    parameters = replace(Parameters(), controllers=("./a_b.py", "./a.b.py"))
    with pytest.raises(RequestError, match=r"two cells of fairness would be stored as a\.b\.py-"):
        STUDY.scenarios(parameters, 2)
