"""`thalweg compare`: several results or studies, differences in percent, and a limit for scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from thalweg.cli import main
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.comparison.side import Samples
from thalweg.experiments.comparison.study import compare_trials
from thalweg.judging.comparison.sample import Sample
from thalweg.judging.comparison.worse import find_worse
from thalweg.results.provenance import Provenance
from thalweg.results.suite_result import Store, SuiteResult

Capture = pytest.CaptureFixture[str]
Make = Callable[..., Outcomes]


@pytest.fixture
def stored(tmp_path: Path, outcomes_of: Make) -> Callable[..., str]:
    """Stores trials with these completions."""

    def store(name: str, completions: Sequence[float], seed: int = 1, **criteria: Any) -> str:
        result = SuiteResult("hand", "Made by hand", None, seed)
        outcomes = outcomes_of(completions, seed=seed, **{"at_most": 100.0, **criteria})
        with Store(tmp_path / name, result, [outcomes.scenario], len(completions)) as store:
            result.outcomes.append(outcomes)
            store.add(outcomes)
            store.finish()
        return str(tmp_path / name)

    return store


BASE = [10.0 + 0.01 * trial for trial in range(20)]


def slower(share: float) -> list[float]:
    return [time * (1 + share) for time in BASE]


@pytest.mark.parametrize(
    ("share", "limit", "status"),
    [(0.10, "5 %", 1), (0.10, "5", 1), (0.10, "20 %", 0), (-0.10, "5 %", 0), (0.04, "5 %", 0), (0.0, "0 %", 0)],
)
def test_a_result_that_is_worse_by_more_than_the_limit_is_status_one(
    share: float, limit: str, status: int, stored: Any, capsys: Capture
) -> None:
    a, b = stored("a", BASE), stored("b", slower(share))
    assert main(["compare", a, b, "--fail-above", limit]) == status
    said = capsys.readouterr()
    assert ("worse: B: hand-made: main completion 10.095 s, 1.01 s more (+10.0 %)" in said.err) == (status == 1)
    assert f"{100 * share:+.1f} %" in said.out


def test_too_few_trials_to_tell_are_no_pass(stored: Any, capsys: Capture) -> None:
    a, b = stored("a", BASE[:3]), stored("b", slower(0.5)[:3])
    assert main(["compare", a, b]) == 0
    assert main(["compare", a, b, "--fail-above", "5 %"]) == 2
    assert "undecided" in capsys.readouterr().err


@pytest.mark.parametrize(("b_inf", "status"), [(12, 0), (20, 0)])
def test_a_base_that_did_not_finish_is_not_for_lack_of_trials(b_inf: int, status: int, stored: Any) -> None:
    never = float("inf")
    a, b = stored("a", [never] * 20), stored("b", [never] * b_inf + BASE[b_inf:])
    assert main(["compare", a, b, "--fail-above", "5 %"]) == status


def test_the_limit_is_a_share_of_the_first_result(stored: Any) -> None:
    # 10.5 s is 5 % more than 10 s, and 10 s is 4.8 % less than 10.5 s: a limit of 4.9 % tells them apart.
    a, b = stored("a", [10.0 + 1e-4 * n for n in range(20)]), stored("b", [10.5 + 1e-4 * n for n in range(20)])
    assert main(["compare", a, b, "--fail-above", "4.9 %"]) == 1
    assert main(["compare", a, b, "--fail-above", "5.1 %"]) == 0


def main_completion(**keys: Any) -> dict[str, Any]:
    return {"flow": "main", "metric": "completion", "source": None, "unit": "s", "floor": None, **keys}


def late(times: Sequence[float], n: int) -> list[float]:
    """The last n trials take 12 s: no more than chance would have it, or more, and the medians are the same."""
    return [*times[: len(times) - n], *[12.0] * n]


HUNDRED = [10.0 + 0.001 * trial for trial in range(100)]
FEW, MANY = 1, 20
AT_95 = {"more_criteria": [main_completion(at_most=11.0, **{"in": 0.95})]}


@pytest.mark.soak
@pytest.mark.parametrize(
    ("of_a", "of_b", "more", "status"),
    [
        # 1 of 100 after 0 of 100: a half of all pairs of such results. 20 after 0: 1 in 2^20.
        ({"at_most": 11.0}, {"at_most": 11.0}, FEW, 0),
        ({"at_most": 11.0}, {"at_most": 11.0}, MANY, 1),
        # It failed before, in each trial: the median alone counts, which has not moved.
        ({"at_most": 9.0}, {"at_most": 9.0}, MANY, 0),
        # One in twenty may fail: one in five is too many, one in a hundred is not.
        (AT_95, AT_95, FEW, 0),
        (AT_95, AT_95, MANY, 1),
        # For information.
        (
            {"more_criteria": [main_completion(at_most=11.0, informative=True)]},
            {"more_criteria": [main_completion(at_most=11.0, informative=True)]},
            MANY,
            0,
        ),
        # Another target is another criterion: this one never passed.
        ({"at_most": 13.0}, {"at_most": 11.0}, MANY, 0),
    ],
)
@pytest.mark.parametrize("seed_of_b", [1, 1000])
def test_a_criterion_that_fails_more_often_is_status_one_and_one_that_fails_by_chance_is_not(
    seed_of_b: int,
    of_a: dict[str, Any],
    of_b: dict[str, Any],
    more: int,
    status: int,
    stored: Any,
    capsys: Capture,
) -> None:
    a, b = stored("a", HUNDRED, **of_a), stored("b", late(HUNDRED, more), seed=seed_of_b, **of_b)
    assert main(["compare", a, b, "--fail-above", "50 %"]) == status
    said = capsys.readouterr().err
    counts = f"{more} of 100 trials miss it, 0 of 100 in A, where it holds"
    assert ("fails: B: hand-made: main completion <= 11 s" in said and counts in said) == (status == 1)
    # What fails less often is not a loss.
    assert main(["compare", b, a, "--fail-above", "50 %"]) == 0
    assert main(["compare", a, b]) == 0
    capsys.readouterr()
    assert main(["compare", a, b, "--format", "json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(one["a"]["answer"], one["b"]["answer"]) for one in document["failures"]] == [
        ("holds", "fails")
    ] * status
    assert all(one["answer"] == "worse" for one in document["failures"])


def test_a_second_criterion_on_one_number_has_a_case_of_its_own(stored: Any, capsys: Capture) -> None:
    more = {"at_most": 20.0, "more_criteria": [main_completion(at_most=11.0)]}
    a, b = stored("a", HUNDRED, **more), stored("b", late(HUNDRED, MANY), **more)
    assert main(["compare", a, b, "--fail-above", "50 %", "--format", "junit"]) == 1
    assert 'failures="1"' in (said := capsys.readouterr().out)
    assert 'name="main completion &lt;= 11 s"' in said


def test_a_verdict_that_changes_by_chance_is_said_and_not_failed(stored: Any, capsys: Capture) -> None:
    a, b = stored("a", HUNDRED, at_most=11.0), stored("b", late(HUNDRED, 1), at_most=11.0)
    assert main(["compare", a, b, "--fail-above", "5 %"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said == (
        "B: hand-made: main completion <= 11 s: 1 of 100 trials miss it, 0 of 100 in A, where it holds: no more "
        "than chance allows (p = 0.5)"
    )
    assert main(["compare", a, b, "--format", "json"]) == 0
    (changed,) = json.loads(capsys.readouterr().out)["changed"]
    assert (changed["p_more"], changed["answer"]) == (pytest.approx(0.5), "undecided")


def test_a_criterion_that_failed_and_fails_more_often_now_is_worse(stored: Any, capsys: Capture) -> None:
    a, b = stored("a", late(HUNDRED, 5), at_most=11.0), stored("b", late(HUNDRED, 30), at_most=11.0)
    assert main(["compare", a, b, "--fail-above", "50 %"]) == 1
    assert "30 of 100 trials miss it, 5 of 100 in A\n" in capsys.readouterr().err
    assert main(["compare", b, a, "--fail-above", "50 %"]) == 0


def test_a_row_has_one_estimate_of_the_difference(stored: Any, capsys: Capture) -> None:
    # The medians, 369 and 414 ms, are 45 ms apart; most trials of b are 200 ms above most of a.
    a = stored("a", [0.1] * 4 + [0.369] * 3 + [0.5] * 3)
    b = stored("b", [0.3] * 4 + [0.414] * 3 + [0.7] * 3, seed=100)
    assert main(["compare", a, b, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["change"] == pytest.approx(row["value"] / row["a"])
    assert main(["compare", a, b, "--format", "markdown"]) == 0
    head, _, line, *_ = capsys.readouterr().out.splitlines()
    cells = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    assert "B median" not in cells
    assert cells["change"] == f"{100 * row['change']:+.1f} %"
    assert cells["B - A [95 %]"].startswith("200 ms")


@pytest.mark.parametrize(("n", "said"), [(3, "needs 4 trials"), (4, "alike to 1.0 %")])
def test_too_few_trials_say_how_many_they_lack(n: int, said: str, stored: Any, capsys: Capture) -> None:
    # Without common seeds, 4 trials on each side have 70 orders: all above, or all below, in 2.9 % of cases.
    a, b = (
        stored(name, [4.0 + 0.0001 * trial for trial in range(n)], seed=seed)
        for name, seed in (("a", 1), ("b", 99))
    )
    assert main(["compare", a, b, "--format", "markdown"]) == 0
    assert f"| {said} |" in capsys.readouterr().out


def test_an_answer_alike_says_which_difference_it_would_have_told(stored: Any, capsys: Capture) -> None:
    rng = np.random.default_rng(4)
    base = rng.normal(10.0, 0.5, 100)
    others = base + rng.normal(0, 0.02, 100)
    a, b = stored("a", base.tolist()), stored("b", others.tolist())
    assert main(["compare", a, b, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    low, high = row["interval95"]
    half = max(high - row["value"], row["value"] - low)
    assert (row["answer"], row["paired"]) == ("alike", True)
    assert row["least_seen"] == pytest.approx(row["margin"] + half)
    assert main(["compare", a, b]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"alike to {100 * row['least_seen'] / min(row['a'], row['b']):.1f} %" in words
    # Of trials that vary so, a difference of so much is told, and one of the margin is not.
    for number, (size, told) in enumerate([(row["least_seen"], "worse"), (row["margin"], "undecided")]):
        shift = 1.001 * size - row["value"]
        c = stored(f"c{number}", (others + shift).tolist())
        assert main(["compare", a, c, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["rows"][0]["answer"] == told


def test_a_target_that_physics_no_longer_allows_is_no_longer_kept(stored: Any, capsys: Capture) -> None:
    a, b = stored("a", BASE, at_most=11.0), stored("b", slower(0.2), at_most=11.0, floor=11.5)
    assert main(["compare", a, b, "--fail-above", "50 %"]) == 1
    assert capsys.readouterr().err.startswith("infeasible: B: hand-made: main completion <= 11 s: 20 of 20")


def test_several_results_are_set_against_the_first(stored: Any, capsys: Capture) -> None:
    folders = [stored("a", BASE), stored("b", slower(0.1)), stored("c", slower(-0.2))]
    assert main(["compare", *folders, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    changes = [comparison["rows"][0]["change"] for comparison in document["comparisons"]]
    assert changes == pytest.approx([0.1, -0.2])
    assert [comparison["b"] for comparison in document["comparisons"]] == folders[1:]
    assert main(["compare", *folders, "--fail-above", "5 %", "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("worse: B: ")
    assert main(["compare", *folders]) == 0
    out = capsys.readouterr().out
    assert re.search(r"C is +A median(.|\n)*better", out)
    assert "+10.0 %" in out
    assert "-20.0 %" in out
    never = stored("d", [float("inf")] * 20)
    assert main(["compare", folders[0], folders[2], never, "--fail-above", "5 %", "--quiet"]) == 1
    assert "worse: C: hand-made: main completion 10.095 s, most trials of C do not" in capsys.readouterr().err


def test_markdown_has_the_same_numbers(stored: Any, capsys: Capture) -> None:
    assert main(["compare", stored("a", BASE), stored("b", slower(0.1)), "--format", "markdown"]) == 0
    head, marks, row, *_ = capsys.readouterr().out.splitlines()
    assert head.count("|") == marks.count("|") == row.count("|")
    assert "| change |" in head
    assert "| +10.0 % |" in row


def test_scenarios_without_criteria_are_compared_by_what_flows_have(
    scenario_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    scenario_file.write_text(text[: text.index("[[pass]]")], encoding="utf-8")
    folders = []
    for rate in ("20 Mbps", "10 Mbps"):
        folders.append(str(tmp_path / rate.replace(" ", "")))
        suite = ["suite", str(scenario_file.parent), "-n", "8", "--set", f"path.rate={rate}", "--no-report"]
        assert main([*suite, "--out", folders[-1], "-q"]) == 0
    assert main(["compare", *folders, "--format", "json"]) == 0
    said = capsys.readouterr().out
    rows = {row["metric"]: row for row in json.loads(said)["rows"]}
    assert set(rows) == {"completion", "rate", "loss", "rtt", "queue-delay"}
    assert rows["completion"]["answer"] == "worse"
    assert rows["rate"]["answer"] == "worse"
    # Half of the rate is worse, although it is smaller.
    assert main(["compare", *folders, "--fail-above", "5 %", "-q"]) == 1
    assert re.search(r"main rate [\d.]+ Mbps, [\d.]+ Mbps less \(-", capsys.readouterr().err)


def study(folder: Path, rows: list[dict[str, Any]], name: str = "harm") -> str:
    folder.mkdir()
    head = Provenance().head("study", name, "A study", None, seed=1, trials=1)
    document = {**head, "rows": rows, "files": []}
    (folder / "experiment.json").write_text(json.dumps(document), encoding="utf-8")
    return str(folder)


def test_studies_are_compared_row_by_row(tmp_path: Path, capsys: Capture) -> None:
    a = study(tmp_path / "a", [{"who": "c4", "harm": 0.2, "n": 20}, {"who": "bbr", "harm": 0.4, "n": None}])
    b = study(tmp_path / "b", [{"who": "bbr", "harm": 0.5, "n": None}, {"who": "c4", "harm": 0.2, "n": 20}])
    assert main(["compare", a, b, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["numbers"]
    assert [(row["row"], row["column"], row["change"]) for row in rows] == [
        ("c4", "harm", 0.0),
        ("c4", "n", 0.0),
        ("bbr", "harm", pytest.approx(0.25)),
    ]
    assert main(["compare", a, b]) == 0
    assert "1 of 3 numbers of tables differ by more than 1.0 %, which proves nothing." in capsys.readouterr().out
    for limit in ("30 %", "20 %"):  # no trials, no answer
        assert main(["compare", a, b, "--fail-above", limit]) == 2
        assert "no trials are stored" in capsys.readouterr().err
    assert main(["compare", a, b, "--format", "junit"]) == 2
    assert main(["compare", a, b, "--format", "markdown"]) == 0
    assert "| bbr | harm | 0.4 | 0.5 | +25.0 % |" in capsys.readouterr().out


def test_a_row_that_the_other_study_lacks_is_no_pass(tmp_path: Path, capsys: Capture) -> None:
    a = study(tmp_path / "a", [{"who": "c4", "harm": 0.2}, {"who": "bbr", "harm": 0.4}])
    b = study(tmp_path / "b", [{"who": "c4", "harm": 0.2}])
    assert main(["compare", a, b, "--fail-above", "5 %"]) == 2
    assert "B lacks what A has: bbr" in capsys.readouterr().err


def with_trials(folder: Path, values: dict[str, Sequence[float]], seed: int = 1) -> str:
    made = study(folder, [{"who": "c4", "harm": 0.2}])
    parts = [
        pl.DataFrame({"cell": "c4", "measure": name, "seed": range(seed, seed + len(of)), "value": list(of)})
        for name, of in values.items()
    ]
    pl.concat(parts).write_parquet(folder / "trials.parquet")
    return made


def test_studies_are_judged_by_their_trials(tmp_path: Path, capsys: Capture) -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.2, (3, 40))
    a = with_trials(tmp_path / "a", {"share": 1 + noise[0], "ratio": 3 + noise[0]})
    same = with_trials(tmp_path / "b", {"share": 1 + noise[1], "ratio": 3 + noise[1]}, seed=1000)
    less = with_trials(tmp_path / "c", {"share": 0.7 + noise[2], "ratio": 3 + noise[2]}, seed=1000)
    assert main(["compare", a, same, "--fail-above", "5 %"]) == 0
    capsys.readouterr()
    assert main(["compare", a, less, "--fail-above", "5 %"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"differs: B: c4: share [\d.]+, 0\.2\d+ less \(-[\d.]+ %\)", line)
    assert main(["compare", a, less, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    assert [(one["metric"], one["answer"]) for one in told] == [("share", "differs"), ("ratio", "undecided")]
    assert main(["compare", a, less, "--format", "junit"]) == 0
    assert 'failures="1"' in (said := capsys.readouterr().out)
    assert "differs from A: 0.9" in said
    assert main(["compare", a, "--plan", "5 %", "--format", "json"]) == 0
    assert all(one["needs_trials"] > 6 for one in json.loads(capsys.readouterr().out)["rows"])
    none = [study(tmp_path / name, [{"who": "c4", "share": 0.5}]) for name in ("e", "f")]
    assert main(["compare", *none, "--plan", "5 %"]) == 2
    assert "none are stored" in capsys.readouterr().err
    few = with_trials(tmp_path / "d", {"share": [0.1, 0.2, 0.3]}, seed=1000)
    assert main(["compare", few, few, "--fail-above", "5 %"]) == 2
    assert "undecided" in capsys.readouterr().err


def test_a_measure_that_no_trial_of_the_other_study_defines_is_no_pass(tmp_path: Path, capsys: Capture) -> None:
    steady = np.linspace(1, 1.01, 40).tolist()
    a = with_trials(tmp_path / "a", {"share": steady, "settled": steady, "seldom": [*steady[1:], np.nan]})
    never = {"settled": [np.nan] * 40, "seldom": [np.nan] * 40}
    b = with_trials(tmp_path / "b", {"share": steady, **never})
    c = with_trials(tmp_path / "c", {"share": steady})
    often = with_trials(tmp_path / "d", {"share": steady, "settled": [*steady[20:], *[np.nan] * 20]})
    for other in (b, c, often):
        assert main(["compare", a, other, "--fail-above", "5 %"]) == 2
        assert capsys.readouterr().err == "error: B lacks what A has: c4 settled\n"
    assert main(["compare", b, a, "--fail-above", "5 %"]) == 0
    # One of 40 after none is no more than chance allows.
    seldom = with_trials(tmp_path / "e", {"share": steady, "settled": [*steady[1:], np.nan]})
    assert main(["compare", a, seldom, "--fail-above", "5 %"]) == 0
    # Where nothing is left to compare there is no answer, and nothing to plan.
    nothing = with_trials(tmp_path / "f", {"share": [np.nan] * 40})
    assert main(["compare", nothing, nothing, "--fail-above", "5 %"]) == 2
    assert "Nothing that both have was compared." in capsys.readouterr().out
    assert main(["compare", nothing, "--plan", "5 %"]) == 2


def test_equal_studies_on_other_seeds_seldom_differ() -> None:
    rng = np.random.default_rng(6)

    def sample(seed: int) -> Samples:
        drawn = (
            pl.DataFrame({"seed": range(seed, seed + 20), "value": rng.lognormal(0, 0.3, 20)}) for _ in range(12)
        )
        return {("c4", str(k)): Sample(str(k), values) for k, values in enumerate(drawn)}

    alarms = 0
    for pair in range(200):
        a, b = sample(1), sample(1000 * (pair + 1))
        alarms += bool(find_worse([compare_trials(a, b, 0.0, of_a=True)], [[]])[0].rows)
    # 5 % of 200 and three standard deviations: 10 + 3 sqrt(200 * 0.05 * 0.95) = 19.
    assert alarms <= 19


def test_a_table_of_trials_that_is_none_is_refused(tmp_path: Path, capsys: Capture) -> None:
    a = study(tmp_path / "a", [{"who": "c4", "harm": 0.2}])
    (tmp_path / "a" / "trials.parquet").write_bytes(b"nothing")
    assert main(["compare", a, a]) == 2
    assert "this is not a table of trials" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["much", "-5 %", "", "5 % or so", "1e9", "nan"])
def test_a_limit_is_a_percentage(limit: str, stored: Any, capsys: Capture) -> None:
    a = stored("a", BASE)
    assert main(["compare", a, a, f"--fail-above={limit}"]) == 2
    assert 'accepted: a percentage, such as "5 %"' in capsys.readouterr().err


def test_folders_of_two_kinds_and_a_single_one_are_refused(tmp_path: Path, stored: Any, capsys: Capture) -> None:
    a, harm = stored("a", BASE), study(tmp_path / "s", [{"who": "c4", "harm": 0.2}])
    laws = study(tmp_path / "t", [{"who": "c4", "harm": 0.2}], "laws")
    for folders, says in (
        ([a, harm], "cannot be compared with"),
        ([a], "2 to 26"),
        ([harm, laws], "one study"),
    ):
        assert main(["compare", *folders]) == 2
        assert says in capsys.readouterr().err


def test_a_plan_says_how_many_trials_a_difference_needs(stored: Any, capsys: Capture) -> None:
    rng = np.random.default_rng(6)
    a = stored("a", rng.normal(10, 0.3, 50).tolist())
    b = stored("b", rng.normal(10, 0.3, 50).tolist(), seed=1000)
    for folders in ([a], [a, b]):
        assert main(["compare", *folders, "--plan", "3 %", "--format", "json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["difference"] == 0.03
        (row,) = document["rows"]
        # P(N(0.2, 0.3 sqrt 2) > 0) = 0.68: (1.96 + 1.28)^2 / (6 0.18^2) = 54, as far as 50 trials know it.
        assert 40 < row["needs_trials"] < 80
    assert main(["compare", a, "--plan", "3 %"]) == 0
    assert "trials of each result tell a difference of 3.0 % in the comparison in 90 % of cases" in " ".join(
        capsys.readouterr().out.split()
    )
    for words, said in (
        (["--plan", "1 %"], "a difference of 1 % does not count: accepted: more than 1 %"),
        (["--plan", "2", b, b], "--plan with 3 folders; accepted: A, or A and B"),
        (["--plan", "two"], "--plan 'two': accepted: a percentage, such as \"5 %\""),
        (["--plan", "2", "--fail-above", "2"], "--plan cannot be combined with --fail-above"),
        (["--plan", "2", "--plot", "a.svg"], "--plan cannot be combined with --plot"),
        (["--plan", "2", "--format", "junit"], "--plan cannot be combined with --format junit"),
    ):
        assert main(["compare", a, *words]) == 2
        assert said in capsys.readouterr().err
