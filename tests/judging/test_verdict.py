"""Pass criteria and their statistics, on outcomes made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.cli import main
from thalweg.cli.tables import HEADERS, verdict_rows
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.judging.statistics.quantiles import percentile
from thalweg.judging.statistics.rates import rate_upper_bound
from thalweg.judging.verdict import Verdict, column_of, judge, values_of
from thalweg.pages.figures import plot_trial

Make = Callable[..., Outcomes]
Capture = pytest.CaptureFixture[str]
NAN = math.nan


def test_a_scenario_passes_when_every_trial_is_at_or_under_the_target(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, 5.0]).verdict()
    assert verdict.answer == "holds"
    assert verdict.criteria[0].failures == 0


def test_one_trial_over_the_target_fails_the_scenario(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, 5.000001, 4.5]).verdict()
    assert verdict.answer == "fails"
    assert verdict.criteria[0].failures == 1
    assert verdict.worst_trial == 1


def test_a_metric_of_streams_without_the_name_of_one_is_that_of_the_worst(outcomes_of: Make) -> None:
    flows = outcomes_of([4.5, 4.5, 4.5]).flows
    streams = pl.DataFrame(
        {
            "flow": ["main", "main", "other"] * 3,
            "stream": ["audio", "video", "video"] * 3,
            "trial": [0, 0, 0, 1, 1, 1, 2, 2, 2],
            "frozen_s": [0.0, 0.2, 9.0, 0.7, 0.1, 9.0, 0.3, NAN, 9.0],
            "mos": [4.0, 3.0, 1.0, 2.0, 4.0, 1.0, NAN, 4.0, 1.0],
        }
    )

    def of(metric: str, **more: object) -> list[float]:
        return values_of({"flow": "main", "metric": metric, **more}, flows, streams)["value"].to_list()

    assert of("frozen", at_most=1) == [0.2, 0.7, math.inf]
    assert of("mos", at_least=1) == [3.0, 2.0, -math.inf]
    assert of("frozen", at_most=1, stream="audio") == [0.0, 0.7, 0.3]
    with pytest.raises(RequestError, match="no outcome of a stream of flow 'mian'"):
        values_of(
            {"flow": "mian", "metric": "frozen", "at_most": 1}, flows.with_columns(flow=pl.lit("mian")), streams
        )


def test_a_flow_that_did_not_finish_is_worse_than_any_that_did(outcomes_of: Make) -> None:
    verdict = outcomes_of([4.5, NAN, 4.9]).verdict()
    (statistics,) = verdict.criteria
    assert verdict.answer == "fails"
    assert math.isinf(statistics.worst)
    assert statistics.worst_trial == 1
    assert statistics.median == 4.9  # of 4.5, 4.9, infinite
    assert statistics.document()["worst"] is None


def test_a_target_below_the_floor_is_infeasible_unless_a_trial_holds_it(outcomes_of: Make) -> None:
    assert outcomes_of([4.5], at_most=3.9, floor=4.0).verdict().answer == "infeasible"
    assert outcomes_of([9.0, 4.5], at_most=3.9, floor=4.0).verdict().answer == "infeasible"
    # A flow that starts later than planned may have an easier path.
    assert outcomes_of([3.0], at_most=3.9, floor=4.0).verdict().answer == "holds"
    assert outcomes_of([3.0, 9.0], at_most=3.9, floor=4.0).verdict().answer == "fails"
    assert outcomes_of([9.0], at_most=4.0, floor=4.0).verdict().answer == "fails"


def test_a_criterion_for_information_does_not_decide(outcomes_of: Make) -> None:
    strict = {"flow": "main", "metric": "completion", "at_most": 4.1, "unit": "s", "informative": True}
    verdict = outcomes_of([4.5], more_criteria=[strict]).verdict()
    assert [criterion.answer for criterion in verdict.criteria] == ["holds", "fails"]
    assert verdict.answer == "holds"


def test_a_failure_outweighs_an_infeasible_criterion(outcomes_of: Make) -> None:
    impossible = {"flow": "main", "metric": "completion", "at_most": 1.0, "unit": "s", "floor": 4.0}
    assert outcomes_of([4.5], more_criteria=[impossible]).verdict().answer == "infeasible"
    assert outcomes_of([5.5], more_criteria=[impossible]).verdict().answer == "fails"


def test_a_scenario_without_criteria_has_no_verdict(outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.5])
    outcomes.scenario.criteria.clear()
    assert outcomes.verdict().answer is None
    assert outcomes.verdict().worst_trial == 0


def test_percentiles_interpolate_between_order_statistics() -> None:
    values = np.array([1.0, 2.0, 3.0, 10.0])
    # Position (4 - 1) * 0.95 = 2.85: 3 + 0.85 * 7.
    assert percentile(values, 0.95) == pytest.approx(8.95)
    assert percentile(values, 0.5) == np.percentile(values, 50)
    assert percentile(values, 1.0) == 10.0


def test_percentiles_between_unfinished_trials_are_infinite_not_undefined() -> None:
    assert math.isinf(percentile(np.array([1.0, np.inf, np.inf]), 0.9))
    assert percentile(np.array([1.0, 1.0, np.inf]), 0.5) == 1.0


@pytest.mark.parametrize(
    ("failures", "n", "bound"),
    [
        (0, 100, 1 - 0.05 ** (1 / 100)),  # (1 - p)^100 = 0.05
        (0, 1, 0.95),
        (99, 100, 0.95 ** (1 / 100)),  # P(X <= 99) = 1 - p^100 = 0.05
        (5, 5, 1.0),
    ],
)
def test_the_failure_rate_bound_solves_its_binomial_equation(failures: int, n: int, bound: float) -> None:
    assert rate_upper_bound(failures, n) == pytest.approx(bound, rel=1e-9)


def test_a_criterion_says_its_column_or_has_that_of_its_metric() -> None:
    columns = ["completion_s", "mean_rtt_s", "bytes_delivered", "mean_rate_bps"]
    assert column_of({"metric": "rtt", "unit": "s"}, columns) == "mean_rtt_s"
    assert column_of({"metric": "anything", "column": "bytes_delivered"}, columns) == "bytes_delivered"
    for metric in ("mean_rtx_s", "mean_rtt"):
        with pytest.raises(RequestError, match=f"no outcome measures '{metric}'; did you mean mean_rtt_s"):
            column_of({"metric": metric}, columns)


def mean_delay(stream: str) -> dict[str, object]:
    """A bound of 50 ms for the mean delay of a stream."""
    about = {"flow": "main", "stream": stream, "metric": "mean-delay", "column": "mean_delay_s"}
    return {**about, "at_most": 0.05}


def call_of_two_trials(delays: dict[str, float]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Flows and streams of a call whose streams have these mean delays in both trials."""
    flows = pl.DataFrame({"trial": [0, 1], "flow": "main", "completion_s": 5.0})
    streams = [
        pl.DataFrame({"trial": [0, 1], "flow": "main", "stream": stream, "mean_delay_s": delay})
        for stream, delay in delays.items()
    ]
    return flows, pl.concat(streams)


def test_two_streams_of_one_flow_are_two_subjects() -> None:
    flows, streams = call_of_two_trials({"audio": 0.03, "video": 0.06})
    audio, video = judge([mean_delay("audio"), mean_delay("video")], flows, streams).criteria
    assert (audio.subject, audio.answer) == ("main audio mean-delay", "holds")
    assert (video.subject, video.answer) == ("main video mean-delay", "fails")


def test_a_call_that_died_is_over_any_target_whatever_its_first_frames_say() -> None:
    # 150 of 250 frames came, 30 ms late on average, before the link died: not a call with a delay of 30 ms.
    flows, streams = call_of_two_trials({"audio": 0.03})
    flows = flows.with_columns(finished=pl.col("trial") == 0)
    (statistics,) = judge([mean_delay("audio")], flows, streams).criteria
    assert (statistics.answer, statistics.failures, statistics.worst_trial) == ("fails", 1, 1)
    assert math.isinf(statistics.worst)


def test_a_trial_without_a_row_of_the_stream_is_over_any_target() -> None:
    flows, streams = call_of_two_trials({"audio": 0.03})
    (statistics,) = judge([mean_delay("audio")], flows, streams.filter(pl.col("trial") == 0)).criteria
    assert (statistics.n, statistics.failures, statistics.worst_trial) == (2, 1, 1)


def test_a_stream_that_no_outcome_has_is_one_message() -> None:
    flows, streams = call_of_two_trials({"audio": 0.03})
    with pytest.raises(RequestError, match="no outcome of stream 'audi' of flow 'main'; did you mean audio"):
        judge([mean_delay("audi")], flows, streams)
    with pytest.raises(RequestError, match=r"no outcome of stream 'audio' of flow 'main'$"):
        judge([mean_delay("audio")], flows)


def test_a_call_on_a_link_that_dies_fails_its_scenario() -> None:
    dead = {"path.change": '[{ at = "3 s", rate = "1 kbps" }]', "time_limit": "12 s"}
    outcomes = Scenario.load("c4/media-10mbps", overrides=dead).trials(2)
    assert not outcomes.flows.filter(pl.col("flow") == "main")["finished"].any()
    audio = outcomes.streams.filter(pl.col("stream") == "audio")
    assert (audio["frames"] > 100).all()  # enough for a mean delay far below the target
    verdict = outcomes.verdict()
    assert verdict.answer == "fails"
    assert all(criterion.failures == 2 for criterion in verdict.criteria)


def test_a_hundred_trials_that_are_one_give_no_bound_from_repetition(outcomes_of: Make) -> None:
    # Values that differ in the fifth digit, as those of a path without randomness with a start noise of 1 ms do.
    repeated = outcomes_of([4.45701 + 1e-6 * i for i in range(100)]).verdict().criteria[0]
    assert (repeated.n, repeated.effective_n) == (100, 1)
    assert repeated.failure_rate_upper95 == pytest.approx(0.95)  # of one trial: 1 - 0.05
    different = outcomes_of([4.4 + 0.005 * i for i in range(100)]).verdict().criteria[0]
    assert (different.effective_n, different.failures) == (100, 0)
    assert different.failure_rate_upper95 == pytest.approx(1 - 0.05 ** (1 / 100))
    # Of two values, one fails, half of the time: one failure of two trials.
    two = outcomes_of([4.4, 5.4] * 50).verdict().criteria[0]
    assert (two.effective_n, two.failures) == (2, 50)
    assert two.failure_rate_upper95 == pytest.approx(0.95**0.5)  # P(X <= 1) = 1 - p^2 = 0.05


def test_how_late_a_flow_starts_by_chance_is_no_part_of_its_completion() -> None:
    # One flow on a path that never changes: a start up to 100 ms late moves the trial, and nothing in it.
    plain, late = (
        Scenario.load("c4/simple-20mbps", {"noise.start": start, "noise.wakeup": "0 s"}).trials(8)
        for start in ("0 s", "100 ms")
    )
    moved = late.flows["start_s"].to_numpy()
    assert 0.05 < np.ptp(moved) < 0.1
    assert late.flows["closed_s"].to_numpy() - moved == pytest.approx(plain.flows["closed_s"].to_numpy())
    for before, after in zip(plain.verdict().criteria, late.verdict().criteria, strict=True):
        assert after.effective_n == before.effective_n == 1
        assert (after.min, after.worst) == pytest.approx((before.min, before.worst))


def test_the_table_and_the_figure_of_a_trial_show_the_completion_of_its_verdict(capsys: Capture) -> None:
    offset = {"noise.start": "3 s"}
    outcomes = Scenario.load("c4/simple-20mbps", offset).trials(1)
    completion = outcomes.verdict().criteria[1]
    assert completion.metric == "completion"
    assert outcomes.flows["completion_s"].item() - completion.worst > 0.1
    shown = text(completion.worst, "s")
    assert main(["run", "c4/simple-20mbps", "--set", "noise.start=3 s"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.split()[:2] == ["main", "c4"]]
    assert [row[2:4] for row in rows] == [shown.split()]
    figure = plot_trial(Scenario.load("c4/simple-20mbps", offset).run(trace=True))
    assert f"main: c4, completes in {shown}" in str(figure.to_dict()["title"])


def test_a_start_that_a_scenario_asks_for_counts_in_its_times() -> None:
    overrides = {"flow.main.start": "2 s", "noise.start": "100 ms"}
    outcomes = Scenario.load("c4/simple-20mbps", overrides).trials(3)
    closed = outcomes.flows["closed_s"].to_numpy() - outcomes.flows["start_s"].to_numpy()
    assert outcomes.verdict().criteria[0].median == pytest.approx(2 + float(np.median(closed)))


def test_the_percentile_and_the_worst_come_with_their_bounds(outcomes_of: Make) -> None:
    document = outcomes_of([4.0 + 0.01 * i for i in range(100)]).verdict().criteria[0].document()
    low, high = document["p95_interval95"]
    # 4.9405 lies between the order statistics of the ranks 90 to 99 of 100 (P(Bin(100, 0.05) <= 1) = 3.7 %).
    assert 4.88 < low < 4.91 < document["p95"] < 4.97 < high <= 4.99
    # The worst of 100 more is below the fifth from above with (1/2)^5 and a little less: 2.8 %.
    assert document["worst_at_least95"] == pytest.approx(4.95)
    few = outcomes_of([4.0, 4.1, 4.2]).verdict().criteria[0].document()
    assert few["median_interval95"] == [None, None]
    assert few["p95_interval95"][1] is None


def test_a_table_prints_the_digits_that_the_interval_supports(outcomes_of: Make) -> None:
    outcomes = outcomes_of([4.0 + 0.01 * i for i in range(100)])
    row = dict(zip(HEADERS, verdict_rows("x", outcomes.verdict())[0], strict=True))
    assert row["median"] == "4.5 s"  # 4.495, known to 0.1 s
    assert row["worst"] == "4.99 s"  # one trial, which can be replayed
    assert row["n"] == "100"
    cells = dict(zip(HEADERS, verdict_rows("x", outcomes_of([4.12345] * 20).verdict())[0], strict=True))
    assert (cells["median"], cells["n"]) == ("4.123 s", "20 (1 outcome)")


SCALES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "did not finish": math.inf}


def seconds_of(cell: str) -> float:
    number, _, unit = cell.partition(" ")
    return math.inf if cell == "did not finish" else float(number) * SCALES[unit]


def printed(verdict: Verdict) -> list[float]:
    """Minimum, median, 95th percentile and worst value as a table has them."""
    (row,) = verdict_rows("a", verdict)
    return [seconds_of(row[HEADERS.index(name)]) for name in ("min", "median", "p95", "worst")]


def test_a_printed_percentile_is_never_above_the_worst_value_nor_below_the_median(outcomes_of: Make) -> None:
    # The 95th percentile of these is 2.93; its interval has no end and begins at 1.59, which supports one digit:
    # 3 s, above the worst.
    values = [*np.linspace(1.0, 1.6, 14).tolist(), 2.93, 2.94]
    (_, median, p95, worst) = printed(outcomes_of(values).verdict())
    assert median <= p95 <= worst == 2.94
    assert p95 == 2.9
    # The median, known to three digits, would be 5.67, and the percentile, known to four, 5.669.
    close = [5.6, 5.62, 5.63, 5.665, 5.666, 5.6685, 5.6688, 5.66895, 5.66896, 5.66897]
    assert sorted(found := printed(outcomes_of(close, at_most=9).verdict())) == found


def test_rounding_keeps_the_order_of_any_values(outcomes_of: Make) -> None:
    rng = np.random.default_rng(9)
    for n in (1, 2, 5, 16, 20, 100):
        for spread in (1e-5, 1e-3, 0.03, 1.0):
            for _ in range(20):
                values = np.exp(rng.normal(0, spread, n)) * 10 ** rng.uniform(-3, 2)
                values[rng.random(n) < 0.05] = NAN
                found = printed(outcomes_of(values.tolist(), at_most=1e4).verdict())
                assert found == sorted(found), values.tolist()
