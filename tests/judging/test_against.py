"""Verdicts by comparison: where a controller stands among rivals."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calls import ENCODED_CALL
from thalweg import _native
from thalweg.base.errors import ResultError
from thalweg.cli import main
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.suite import load_all
from thalweg.results.against.place import RANKS
from thalweg.results.against.rivals import with_rivals
from thalweg.results.against.standing import Standing, stand
from thalweg.results.suite_result import SuiteResult
from thalweg.trials.gathering import gather
from thalweg.trials.machine import ThisMachine
from unsealing import unseal

Make = Callable[..., Outcomes]
Capture = pytest.CaptureFixture[str]
NAN = float("nan")
SCENARIO = """
title = "A short download"
[path]
rate = "20 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "200 kB"
"""
SLOW = """
import thalweg

class TwoPackets(thalweg.Controller):
    def on_ack(self, event, path):
        self.window = 2 * path.mtu
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "short.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "long.toml").write_text(SCENARIO.replace("200 kB", "1 MB"), encoding="utf-8")
    (folder / "suite.toml").write_text('[compare]\nagainst = ["reno", "bbr"]\n', encoding="utf-8")
    return folder


def standing_of(make: Make, ours: Sequence[float], *theirs: Sequence[float]) -> Standing:
    return standing_of_all(make, [(ours, *theirs)])


def standing_of_all(make: Make, scenarios: Sequence[Sequence[Sequence[float]]]) -> Standing:
    """Completion times by hand: of each scenario those of the main controller, then those of each rival."""
    result = SuiteResult(None, "by hand", None, seed=1)
    for number, (ours, *theirs) in enumerate(scenarios):
        name = f"scenario {number}"
        result.add(make(list(ours), name=name))
        for index, times in enumerate(theirs, start=1):
            outcomes = make(list(times), name=f"{name}@{index}")
            about = {"of": name, "flow": "main", "controller": f"rival {index}", "metrics": ["completion"]}
            result.add(replace(outcomes, scenario=replace(outcomes.scenario, rival=about)))
    standing = stand(result)
    assert standing is not None
    return standing


def times(mean: float, seed: int, n: int = 40, spread: float = 0.02) -> list[float]:
    draws = np.random.default_rng(seed).normal(mean, spread * mean, n)
    return [float(value) for value in draws]


@pytest.mark.parametrize(
    ("means", "answer"),
    [
        ((1.0, 1.2, 1.4), "best"),
        ((1.3, 1.2, 1.4), "between"),
        ((1.5, 1.2, 1.4), "worst"),
        ((1.0, 1.0, 1.4), "between"),  # not told from the first, better than the second
        ((1.5, 1.2), "worst"),
        ((1.0, 1.2), "best"),
    ],
)
def test_the_place_follows_from_what_is_told_of_each_rival(
    means: Sequence[float], answer: str, outcomes_of: Make
) -> None:
    standing = standing_of(outcomes_of, *(times(mean, seed) for seed, mean in enumerate(means)))
    assert [place.rank for place in standing.places] == [answer]
    assert standing.scenarios == {"scenario 0": answer}
    assert bool(standing.worst) == (answer == "worst")


def test_differences_within_the_margin_are_alike_and_wide_intervals_tell_nothing(outcomes_of: Make) -> None:
    # 0.2 % apart in every trial with a common seed; the margin is 1 %.
    path = times(1.0, 1)
    near = standing_of(outcomes_of, path, [1.002 * value for value in path])
    assert near.places[0].rank == "alike"
    wide = standing_of(outcomes_of, times(1.0, 1, spread=0.5), times(1.0, 2, spread=0.5))
    assert wide.places[0].rank == "undecided"


def test_a_difference_has_the_sign_of_main_minus_rival_and_the_gap_is_to_the_best_median(
    outcomes_of: Make,
) -> None:
    path = times(1.0, 1)
    standing = standing_of(outcomes_of, [value + 0.3 for value in path], path, [value + 0.1 for value in path])
    (place,) = standing.places
    document = place.document()
    assert document["best_rival"] == "rival 1"
    assert [rival["value"] for rival in document["rivals"]] == pytest.approx([0.3, 0.2])
    assert [rival["paired"] for rival in document["rivals"]] == [True, True]
    assert document["gap"] == pytest.approx(0.3 / float(np.median(path)))


def test_a_trial_that_does_not_finish_is_worse_than_all_that_do(outcomes_of: Make) -> None:
    standing = standing_of(outcomes_of, [NAN] * 40, times(9.0, 1))
    assert standing.places[0].rank == "worst"
    assert standing.places[0].document()["gap"] is None


def test_few_trials_tell_nothing_and_say_so(outcomes_of: Make) -> None:
    standing = standing_of(outcomes_of, times(2.0, 1, n=3), times(1.0, 2, n=3), times(1.0, 3, n=3))
    assert standing.places[0].rank == "undecided"
    assert standing.undecided == 2


@pytest.mark.soak
def test_chance_alone_makes_nobody_best_or_worst_in_more_than_a_twentieth_of_suites(outcomes_of: Make) -> None:
    """10 scenarios of equal controllers, 100 times; of one rival each, where chance is most likely to tell."""
    said = 0
    for suite in range(100):
        seeds = [1000 * suite + 2 * scenario for scenario in range(10)]
        standing = standing_of_all(outcomes_of, [(times(1.0, one, 20), times(1.0, one + 1, 20)) for one in seeds])
        said += any(place.rank in ("best", "worst") for place in standing.places)
    # At most 5 %, 2.5 % for what is better and for what is worse, less the margin: P(Bin(100, 0.05) > 11) = 0.4 %.
    assert said <= 11


@pytest.mark.soak
def test_a_controller_against_itself_is_alike_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second name spells out an option at its default: 200 seeds, from each part of the tests of C4."""
    monkeypatch.setattr(_native, "normal_controller", lambda text: text)  # or it is refused as the same
    suite = Suite.find("c4-05")
    chosen = {
        "alone-512k",
        "low-and-up",
        "blackhole",
        "vs-c4",
        "wifi-bad",
        "wifi-bad-cubic",
        "media10",
        "media-wb",
    }
    entries = [entry for entry in suite.entries if entry.name in chosen]
    played = with_rivals(suite, entries, load_all(entries, [], []), ["c4:variant=draft-05,rtt_floor=on"], [], [])
    result = SuiteResult(suite.name, suite.title, None, seed=1)
    gather(ThisMachine(2), played, range(1, 201), lambda _, outcomes: result.add(outcomes))
    standing = stand(result)
    assert standing is not None
    assert set(standing.scenarios) == chosen
    assert {place.rank for place in standing.places} == {"alike"}
    assert len(standing.places) == 2 * len(chosen)
    assert (standing.worst, standing.undecided) == ([], 0)


def test_the_exit_status_is_1_where_the_main_controller_is_worse_than_all(
    suite: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    command = ["suite", str(suite), "-n", "20", "--no-report", "--out", str(tmp_path / "out")]
    assert main([*command, "-c", f"main={tmp_path / 'slow.py'}"]) == 1
    said = capsys.readouterr()
    assert "best in 0 of 2 scenarios, no majority, and worse than all in 2" in " ".join(said.out.split())
    assert "worst: short: main closed:" in said.err
    # And the other way round: faster than the only rival, if with a longer RTT.
    (suite / "suite.toml").write_text('[compare]\nmetrics = ["closed"]\n', encoding="utf-8")
    assert main([*command, "--against", str(tmp_path / "slow.py")]) == 0
    assert "best in 2 of 2 scenarios, a majority" in " ".join(capsys.readouterr().out.split())


def test_too_few_trials_are_status_2(suite: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["suite", str(suite), "-n", "3", "-q", "--no-report", "--out", str(tmp_path / "out")]) == 2
    assert "comparisons of cubic are undecided: run more trials" in capsys.readouterr().err


def test_none_plays_the_suite_without_its_rivals(suite: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main(["suite", str(suite), "-n", "1", "--against", "none", "--no-report", "--out", str(out)]) == 0
    assert "gap to the best" not in capsys.readouterr().out
    assert SuiteResult.load(out).standing() is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--against", "renno"], '--against renno: unknown controller "renno" (did you mean "reno"?); accepted:'),
        (["--against", "reno", "--against", "reno"], "--against reno: given twice; give each rival once"),
        (["--against", "reno", "--against", "reno:ecn=on"], "--against reno:ecn=on, which is reno: given twice;"),
        (
            ["--against", "cubic:beta=0.70"],
            "--against cubic:beta=0.70: flow main of long has this controller itself",
        ),
        (["--against", "cubic"], "--against cubic: flow main of long has this controller itself; use"),
        (["-c", "main=bbr"], "suite.toml: compare.against bbr: flow main of long has this controller itself"),
        (["-n", "1"], "--trials 1: one trial tells no controller from another; accepted: 2 or more"),
        (["--against", "none", "--against", "reno"], "--against none cannot be combined with rivals"),
    ],
)
def test_rivals_that_tell_nothing_are_refused_with_one_message(
    options: list[str], says: str, suite: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["suite", str(suite), *options, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('against = ["renno"]', 'suite.toml: compare.against renno: unknown controller "renno"'),
        (
            'against = ["reno"]\nmetrics = ["frame-delay"]',
            "names 'frame-delay', which no compared scenario defines",
        ),
        (
            'against = ["reno"]\nmetrics = ["speed"]',
            "suite.toml:3: compare.metrics names 'speed'; accepted: completion",
        ),
        ('against = ["reno"]\nwithout = ["shrt"]', "compare.without names 'shrt'; did you mean short?"),
        ('against = ["reno"]\nwithout = ["short", "long"]', "no scenario is left to compare"),
        ('against = "reno"', 'suite.toml:2: compare.against = "reno": expected a list of names'),
        ('rivals = ["reno"]', "suite.toml:2: unknown key compare.rivals"),
    ],
)
def test_a_table_of_rivals_is_checked(table: str, says: str, suite: Path, tmp_path: Path, capsys: Capture) -> None:
    (suite / "suite.toml").write_text(f"[compare]\n{table}\n", encoding="utf-8")
    assert main(["suite", str(suite), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said


def test_the_flow_that_is_compared_is_main_or_the_first_that_is_bound_or_the_first(tmp_path: Path) -> None:
    two = SCENARIO.replace('"main"', '"a"') + '[[flow]]\nname = "b"\ncontroller = "cubic"\ndownload = "200 kB"\n'
    (tmp_path / "two.toml").write_text(two, encoding="utf-8")
    found = Suite.find(tmp_path)
    for bindings, flow in (([], "a"), ([("b", "bbr")], "b")):
        scenarios = load_all(found.entries, [], bindings)
        _, rival = with_rivals(found, found.entries, scenarios, ["reno"], [], bindings)
        assert rival.description.rival == {
            "of": "two",
            "flow": flow,
            "controller": "reno",
            "metrics": ["closed", "event-rtt"],
        }
        assert {flow: "reno"}.items() <= {str(one["name"]): one["controller"] for one in rival.flows}.items()


def test_a_scenario_with_the_name_of_the_trials_of_a_rival_is_refused(suite: Path, capsys: Capture) -> None:
    (suite / "short@2.toml").write_text(SCENARIO, encoding="utf-8")
    assert main(["suite", str(suite)]) == 2
    assert (
        "the trials of bbr in short are stored as short@2, which is the name of a scenario"
        in capsys.readouterr().err
    )


def test_scenarios_can_be_left_out_and_metrics_chosen(suite: Path, tmp_path: Path) -> None:
    table = '[compare]\nagainst = ["reno"]\nmetrics = ["loss", "rate"]\nwithout = ["long"]\n'
    (suite / "suite.toml").write_text(table, encoding="utf-8")
    main(["suite", str(suite), "-n", "12", "-q", "--no-report", "--out", str(tmp_path / "out")])
    result = SuiteResult.load(tmp_path / "out")
    standing = result.standing()
    assert standing is not None
    assert [(place.scenario, place.measure.name) for place in standing.places] == [
        ("short", "loss"),
        ("short", "rate"),
    ]
    assert [outcomes.scenario.name for outcomes in result.outcomes] == ["long", "short"]


def test_a_stored_result_has_the_same_places_in_every_format(suite: Path, tmp_path: Path, capsys: Capture) -> None:
    out, page = tmp_path / "out", tmp_path / "page.html"
    command = ["suite", str(suite), "-n", "20", "--out", str(out)]
    status = main([*command, "--format", "json"])
    document = json.loads(capsys.readouterr().out)["against"]
    assert main([*command, "--format", "markdown"]) == status
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| short | closed |")]
    stored = SuiteResult.load(out).standing()
    assert stored is not None
    assert stored.document() == document
    assert document["rivals"] == ["reno", "bbr"]
    assert sum(document["scenarios"].values()) == 2
    assert len(rows) == 1
    assert rows[0].split(" | ")[2] == document["places"][2]["rank"]
    assert main(["report", str(out), "-o", str(page)]) == 0
    for text in ((out / "report.html").read_text(encoding="utf-8"), page.read_text(encoding="utf-8")):
        assert 'id="against"' in text
        assert "Against reno and bbr" in text
        assert text.count(">event-rtt<") == 3  # two scenarios, and how often each answer is given
    # A trial of a rival is replayed as any other.
    assert main(["replay", str(out), "short@2", "3"]) == 0


def test_loads_are_in_bands_and_have_no_place(tmp_path: Path) -> None:
    assert main(
        ["suite", "c4-05", "--only", "vs-bbr", "-n", "12", "-q", "--no-report", "--out", str(tmp_path)]
    ) in (0, 1)
    standing = SuiteResult.load(tmp_path).standing()
    assert standing is not None
    assert [place.measure.name for place in standing.places] == ["closed", "event-rtt"]
    document = standing.bands[0].document()
    # The draft's authors have a mean of 78 % for C4 of August, and 47 % for BBR.
    assert (document["metric"], document["band"]) == ("load", "over 70 %")
    assert document["rivals"][0]["band"] == "30 % to 70 %"


@pytest.mark.parametrize(
    ("key", "value"),
    [("metrics", ["speed"]), ("metrics", [[]]), ("flow", "other"), ("of", "nothing"), ("controller", 1)],
)
def test_a_stored_rival_that_is_none_is_refused(key: str, value: object, suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    main(["suite", str(suite), "-n", "12", "-q", "--no-report", "--out", str(out)])
    unseal(out / "experiment.json")
    document = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    document["scenarios"][1]["rival"][key] = value
    (out / "experiment.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ResultError, match="rival"):
        SuiteResult.load(out)


def test_every_answer_is_counted(outcomes_of: Make) -> None:
    standing = standing_of(outcomes_of, times(1.0, 1), times(2.0, 2))
    assert tuple(standing.document()["scenarios"]) == RANKS


def test_a_call_has_a_place_by_its_freezes_and_its_rate(tmp_path: Path, capsys: Capture) -> None:
    """Media of 500 kbps freeze less often than ones that fill 1.5 Mbps, and are bought with rate."""
    (tmp_path / "call.toml").write_text(ENCODED_CALL, encoding="utf-8")
    chosen = 'against = ["cubic"]\nmetrics = ["frozen", "rate"]\n'
    (tmp_path / "suite.toml").write_text(f"[compare]\n{chosen}", encoding="utf-8")
    words = ["-n", "20", "-c", "main=cbr:rate=500kbps", "--out", str(tmp_path / "out"), "--no-report"]
    main(["suite", str(tmp_path), *words, "--format", "json"])
    against = json.loads(capsys.readouterr().out)["against"]
    assert {one["metric"]: (one["best"], one["worst"]) for one in against["metrics"]} == {
        "frozen": (1, 0),
        "rate": (0, 1),
    }
