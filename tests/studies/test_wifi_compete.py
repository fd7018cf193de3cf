"""The study wifi-compete: its numbers on hand-made columns, its rules, and a small run of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from thalweg.base.files.document import HEAD
from thalweg.cli import main
from thalweg.cli.status import INTERRUPTED
from thalweg.engine.scenario import Scenario
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.ratios import MEDIAN, ratio_of_medians, ratio_to_published
from thalweg_c4_history.checks import before, checks, not_after, not_before, within_noise
from thalweg_c4_history.figures import shares
from thalweg_c4_history.findings import findings
from thalweg_c4_history.measure import median_trial, row, worst_trial
from thalweg_c4_history.parameters import scenario
from thalweg_c4_history.published import (
    ACCEPTANCE,
    ACCEPTANCE_S,
    COMPETITORS,
    REMEASURED_TRIALS,
    VARIANTS,
    Distribution,
)

NONE = np.array([])


def cells(times: dict[tuple[str, str], float] = ACCEPTANCE_S) -> dict[tuple[str, str], np.ndarray[Any, Any]]:
    """Trials that scatter by 1 % around these medians."""
    return {cell: median * np.linspace(0.99, 1.01, 41) for cell, median in times.items()}


def test_a_row_of_a_pair_counts_from_the_start_of_the_background_and_its_slowdown_does_not() -> None:
    closed = np.array([7.0, 9.0, 11.0])
    measured = row(("v1", "cubic"), closed, np.array([0.2, 0.4, 0.6]), np.array([6e6, 7e6, 8e6]), 4.0, 10.0)
    assert measured["n"] == 3
    assert (measured["min_s"], measured["median_s"], measured["mean_s"], measured["worst_s"]) == (7, 9, 9, 11)
    assert measured["sd_s"] == pytest.approx(2.0)  # sqrt((4 + 0 + 4) / 2)
    assert measured["p90_s"] == pytest.approx(10.6)  # four fifths of the way from 9 to 11
    assert measured["median_ratio"] == pytest.approx(0.9)  # 9 / 10
    assert measured["slowdown"] == pytest.approx(2.0)  # (9 - 1) / 4
    assert measured["share"] == pytest.approx(0.4)
    assert measured["background_mb"] == pytest.approx(7.0)


def test_a_flow_alone_has_no_share_and_is_not_slowed_down() -> None:
    measured = row(("v1", "alone"), np.array([4.0, 6.0]), np.array([np.nan, np.nan]), NONE, 5.0, None)
    assert measured["slowdown"] == pytest.approx(1.0)
    assert (measured["share"], measured["background_mb"], measured["median_ratio"]) == (None, None, None)


def test_a_trial_that_does_not_finish_is_the_worst_and_spares_the_median() -> None:
    closed = np.array([5.0, np.nan, 7.0, 6.0, 8.0])
    measured = row(("v1", "alone"), closed, NONE, NONE, None, None)
    assert measured["median_s"] == 7.0
    assert measured["worst_s"] == float("inf")
    assert measured["sd_s"] is None
    assert (median_trial(closed), worst_trial(closed)) == (2, 1)


def test_distant_medians_are_distinguished_and_medians_of_one_sample_are_not() -> None:
    sample = np.random.default_rng(1).normal(10, 1, 200)
    apart = ratio_of_medians(sample, sample * 1.3)
    assert apart.low < apart.value < apart.high < 1
    assert before(apart) == "holds"
    assert before(ratio_of_medians(sample * 1.3, sample)) == "fails"
    assert before(ratio_of_medians(sample, sample)) == "undecided"


@pytest.mark.parametrize(
    ("bounds", "held", "lost"),
    [
        ((0.7, 0.8), {before, not_after}, {not_before, within_noise}),
        ((0.95, 1.05), {not_after, not_before, within_noise}, set()),
        ((0.8, 1.2), set(), set()),
        ((1.15, 1.3), {not_before}, {before, not_after, within_noise}),
    ],
)
def test_an_ordering_is_judged_by_the_whole_interval(
    bounds: tuple[float, float], held: set[Any], lost: set[Any]
) -> None:
    ratio = Interval(sum(bounds) / 2, *bounds, 20)
    rules = (before, not_after, not_before, within_noise)
    assert {rule for rule in rules if rule(ratio) == "holds"} == held
    assert {rule for rule in rules if rule(ratio) == "fails"} == lost


def test_nothing_holds_for_lack_of_trials() -> None:
    few = {cell: times[:3] for cell, times in cells().items()}
    assert {check.answer for check in checks(few)} == {"undecided"}


def trials_like(published: Distribution, n: int = 1000) -> np.ndarray[Any, Any]:
    """Trials with this median, mean and 90th percentile: straight lines between four quantiles.

    The largest is a fifth above the 90th percentile; the least follows from the mean, the sum of half of the
    mean of least and median, 0.4 of that of median and percentile, and a tenth of that of percentile and
    largest.
    """
    median, mean, _, p90 = published
    least = 4 * (mean - 0.2 * (median + p90) - 0.05 * 2.2 * p90) - median
    return np.interp((np.arange(n) + 0.5) / n, [0, 0.5, 0.9, 1], [least, median, p90, 1.2 * p90])


def test_trials_with_the_published_distributions_lose_no_check() -> None:
    told = checks({cell: trials_like(published) for cell, published in ACCEPTANCE.items()})
    assert not [check for check in told if check.answer == "fails"]
    # A mean of 199 trials has at most a relative error of 0.44 / sqrt(199) = 3 %: 6 % in 95 of 100 cases.
    assert [check.name for check in told if check.name.startswith("mean") and not check.holds] == []
    assert len(told) == 11 + 3 * len(ACCEPTANCE)


@pytest.mark.parametrize("what", ["median", "mean", "90th percentile"])
def test_a_distribution_off_by_a_third_fails_in_both_directions(what: str) -> None:
    for factor, answer in ((0.7, "fails"), (1.0, "holds"), (1.4, "fails")):
        made = {cell: trials_like(published) for cell, published in ACCEPTANCE.items()}
        made["v2", "cubic"] = factor * made["v2", "cubic"]
        (check,) = (check for check in checks(made) if check.name.startswith(f"{what} of v2 against cubic"))
        assert check.answer == answer, check


def test_the_error_of_what_is_published_counts_too() -> None:
    # Of a million of ours nothing is uncertain but the 199 of the re-measurement.
    ours = trials_like(ACCEPTANCE["v1", "bbr"], 1_000_000)
    ratio = ratio_to_published(MEDIAN, ours, ACCEPTANCE["v1", "bbr"].median_s, REMEASURED_TRIALS)
    drawn = np.median(np.random.default_rng(1).choice(ours, (4000, REMEASURED_TRIALS)), axis=1) / np.median(ours)
    assert (ratio.low, ratio.high) == pytest.approx(1 / np.quantile(drawn, [0.975, 0.025]), rel=0.01)
    assert ratio.n == REMEASURED_TRIALS


def test_a_new_version_that_is_slower_than_the_old_one_fails_the_ordering() -> None:
    times = {**ACCEPTANCE_S, ("v3", "bbr"): 12.0}
    names = {check.name for check in checks(cells(times)) if check.answer == "fails"}
    assert "against bbr, v3 is faster than v1" in names


def test_the_end_times_of_the_paper_confirm_its_statements() -> None:
    # Alone 5.3 s; the figures of the paper end at 22.2 s and 6.8 s: (22.2 - 1) / 5.3 = 4.0.
    seen = {("v1", "c4"): 22.2, ("v2", "c4"): 6.8, ("v1", "alone"): 5.3, ("v1", "cubic"): 10.0}
    seen |= {("v1", "bbr"): 10.5, ("no-exit", "bbr"): 14.0, ("v2", "bbr"): 7.05}
    share = {("v2", "bbr"): np.linspace(0.7, 0.8, 20)}
    assert all(finding.holds for finding in findings(cells(seen), share, shared=True))
    ours = findings(cells(), {("v2", "bbr"): np.linspace(0.35, 0.45, 20)}, shared=False)
    lost = {finding.name for finding in ours if not finding.holds}
    assert {"v1 against itself lasts almost four times as long as alone", "v2 repairs C4 against C4"} <= lost


@pytest.mark.parametrize(("share", "n"), [(0.524, 20), (0.75, 19)])
def test_slightly_more_than_half_is_no_dominance_and_fewer_than_twenty_trials_decide_nothing(
    share: float, n: int
) -> None:
    shares_ = {("v2", "bbr"): share + np.linspace(-0.08, 0.08, n)}
    (finding,) = (
        finding for finding in findings(cells(), shares_, shared=False) if finding.name == "v2 dominates BBR"
    )
    assert finding.answer == ("fails" if n == 20 else "undecided")


def test_shares_of_the_link_are_what_was_delivered_in_each_quarter_of_a_second() -> None:
    flows = pl.DataFrame(
        {"time_s": [0.0, 0.2, 0.4, 0.6], "flow": "main", "delivered_bytes": [0, 1000, 1000, 4000]}
    )
    # A link of 160 kbps carries 5000 bytes in 0.25 s: 1000, 0 and 3000 of 5000.
    assert shares(flows, 160e3)["value"].to_list() == pytest.approx([0.2, 0.0, 0.6])


def test_every_cell_is_a_scenario_with_the_path_of_the_paper() -> None:
    for variant in VARIANTS:
        for competitor in COMPETITORS:
            flows = scenario(variant, competitor).flows
            assert [flow["start_s"] for flow in flows] == ([0.0] if competitor == "alone" else [1.0, 0.0])
            assert flows[0]["controller"] == VARIANTS[variant]
    assert scenario("v1", "c4").flows[1]["controller"] == "c4:variant=v1"
    assert "jitter_seed" not in scenario("v1", "c4").toml


def test_trials_that_share_their_jitter_differ_by_less_than_a_packet_of_it_alone() -> None:
    own = scenario("current", "alone").trials(6).flows["closed_s"].to_numpy()
    sequences = [
        scenario("current", "alone", jitter_seed=seed).trials(6).flows["closed_s"].to_numpy()
        for seed in range(1, 7)
    ]
    within = float(np.median([times.std() for times in sequences]))
    assert 0 < within < own.std() / 4
    assert np.std([np.median(times) for times in sequences]) > 4 * within


@pytest.mark.soak
@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
def test_the_command_prints_the_document_of_a_study_and_stores_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    status = main(["study", "wifi-compete", "--trials", "2", "--format", "json", "--out", str(folder)])
    document = json.loads(capsys.readouterr().out)
    assert {*HEAD, "preset", "rows", "checks"} <= document.keys()
    assert (document["name"], document["preset"]) == ("wifi-compete", "random-jitter")
    assert len(document["rows"]) == len(VARIANTS) * len(COMPETITORS)
    assert all({"name", "source", "answer", "measured"} == check.keys() for check in document["checks"])
    assert {check["answer"] for check in document["checks"]} == {"undecided"}
    assert status == 2
    stored = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    for beside in ("files", "hashes", "sha256"):
        assert stored.pop(beside)
    assert stored == document
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("data-figure=") == len(VARIANTS) * 3 * 2  # three pairs, the median and the worst trial
    assert 'src="http' not in page
    assert (folder / "scenarios" / "v2-bbr.toml").is_file()


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "precious.txt").write_text("mine", encoding="utf-8")
    assert main(["study", "wifi-compete", "--trials", "2", "--out", str(tmp_path)]) == 2
    assert "holds no study" in capsys.readouterr().err


def test_a_study_that_is_interrupted_before_its_first_row_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Scenario, "trials", stop)
    assert (
        main(["study", "wifi-compete", "--trials", "2", "--out", str(tmp_path / "new" / "study")]) == INTERRUPTED
    )
    assert list(tmp_path.iterdir()) == []
