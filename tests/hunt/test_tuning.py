"""Tuning: options as axes, the search over them, and what is held back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.experiments.hunt.options import read_options
from thalweg.experiments.hunt.tune import Tuner, TuningResult
from thalweg.experiments.score.figures import Figures
from thalweg.experiments.score.guards import GuardViolation
from thalweg.experiments.score.scenarios import Variant
from thalweg.trials.threads import Threads

Capture = pytest.CaptureFixture[str]
LINK = """\
title = "{title}"
[path]
rate = "{rate}"
rtt = "30 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "300 kB"
"""


@pytest.fixture(name="suite")
def suite_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    for name, rate in (("slow", "5 Mbps"), ("fast", "20 Mbps")):
        (folder / f"{name}.toml").write_text(LINK.format(title=name, rate=rate), encoding="utf-8")
    return folder


def middle() -> object:
    """Decides on the middle of all."""

    class Middle:
        def share(self, name: str) -> float:
            return 0.5

        def step(self, name: str, count: int) -> int:
            return count // 2

        def choice(self, name: str, count: int) -> int:
            return count // 2

    return Middle()


def test_every_option_of_the_registry_can_vary() -> None:
    for entry in _native.controllers():
        for option in entry["options"]:
            (axis,) = read_options(str(entry["name"]), [str(option["name"])]).axes
            assert axis.range is not None or len(axis.values) > 1


def test_options_are_drawn_as_the_controller_takes_them() -> None:
    options = read_options("c4:variant=draft-05", ["push=1.1..1.5", "delay_bound", "rtt_floor=on|off"])
    # Linear below an order of magnitude; a duration by the logarithm, from a quarter to four times 25 ms.
    assert options.draw(middle()) == "c4:variant=draft-05,push=1.3,delay_bound=25ms,rtt_floor=off"  # type: ignore[arg-type]
    assert [axis.key for axis in read_options("cubic", []).axes] == ["c", "beta"]


@pytest.mark.parametrize(
    ("controller", "option", "says"),
    [
        ("c5", "push", "no controller 'c5'"),
        ("c4", "pish", "did you mean push?"),
        ("c4", "push=2..2", "from and to are the same"),
        ("c4", "push=a..b", "accepted: a number"),
        ("c4", "push=", "accepted: push, push=1.1..1.5"),
        ("./mine.py", "beta", "it has no range; accepted: beta=LOW..HIGH"),
    ],
)
def test_a_mistake_in_an_option_is_one_message(controller: str, option: str, says: str, capsys: Capture) -> None:
    assert main(["tune", controller, "--option", option]) == 2
    assert says in capsys.readouterr().err


def test_what_the_name_sets_stays() -> None:
    assert [axis.key for axis in read_options("cubic:beta=0.7", []).axes] == ["c"]
    with pytest.raises(RequestError, match=r"beta=0\.7, which sets it"):
        read_options("cubic:beta=0.7", ["beta=0.5..0.9"])
    with pytest.raises(RequestError, match="sets all options that have a range"):
        read_options("cubic:beta=0.7,c=0.4", [])
    with pytest.raises(RequestError, match="'beta' is given twice"):
        read_options("cubic:beta=0.5,beta=0.8", [])


def test_an_option_is_given_once() -> None:
    with pytest.raises(RequestError, match="it is given twice"):
        read_options("c4", ["push", "push=1..2"])


def tuned(suite: Path, jobs: int) -> TuningResult:
    options = read_options("cubic", ["beta=0.3..0.9", "start"])
    return Tuner(options, str(suite), trials=2, budget=10, executor=Threads(jobs)).run()


def test_tuning_is_the_same_with_any_number_of_threads_and_never_worse_where_it_looked(suite: Path) -> None:
    one, eight = tuned(suite, 1), tuned(suite, 8)
    assert one.document() == eight.document()
    assert one.best_score is not None
    assert one.start_score is not None
    assert one.best_score >= max([one.start_score, *(value for value in one.history if value is not None)])
    assert len(one.held_back) == 2
    # CUBIC against itself is 0, whatever the scenario.
    assert [start for _, start, _ in one.held_back] == [0.0, 0.0]


def test_the_command_writes_what_it_prints(suite: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "tuned.json"
    words = [
        "tune",
        "reno",
        "-O",
        "decrease",
        "--suite",
        str(suite),
        "--budget",
        "4",
        "-n",
        "1",
        "--out",
        str(out),
    ]
    status = main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert json.loads(out.read_text(encoding="utf-8")) == document
    assert (document["tried"], len(document["history"])) == (4, 4)
    assert status == (0 if document["held_back"]["answer"] == "better" else 5)


def test_the_result_does_not_replace_the_controller(tmp_path: Path, capsys: Capture) -> None:
    mine = tmp_path / "mine.py"
    text = b"# one of mine"
    mine.write_bytes(text)
    assert main(["tune", str(mine), "--option", "beta=0.5..0.9", "--budget", "1", "--out", str(mine)]) == 2
    assert f"--out {mine} would replace what is read" in capsys.readouterr().err
    assert mine.read_bytes() == text


def test_choices_that_a_controller_refuses_are_out(suite: Path, capsys: Capture) -> None:
    assert main(["tune", "cubic", "-O", "beta=2..3", "--suite", str(suite), "--budget", "2", "-n", "1"]) == 5
    printed = capsys.readouterr().out
    assert "best of 2, of which 2 are out: cubic" in printed
    assert re.search('out, for one: .*option "beta" of "cubic" cannot be "2.*"; accepted: a number', printed)
    assert "nothing found: on new scenarios and seeds" in printed


def test_options_that_break_a_guard_where_nobody_looked_are_out(
    suite: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real search; of the held-back half alone the figures say that the best options lose half of all."""
    measured, halves_seen = Tuner._figures, []

    def lossy(
        tuner: Tuner, places: Sequence[Variant], controllers: Sequence[str], fresh: bool = False
    ) -> list[list[Figures] | None]:
        found = measured(tuner, places, controllers, fresh)
        if len(controllers) == 3:
            halves_seen.append(controllers)
            found[2] = [replace(figures, loss=0.5, rate=2 * figures.rate) for figures in found[2] or []]
        return found

    monkeypatch.setattr(Tuner, "_figures", lossy)
    words = ["tune", "reno", "-O", "decrease", "--suite", str(suite), "--budget", "4", "-n", "1"]
    assert main(words) == 5
    assert len(halves_seen) == 1
    printed = capsys.readouterr().out
    assert "the guard loss is broken (0.5)" in printed
    assert ", fails" in printed
    assert "better" not in printed


def test_a_scenario_without_a_score_of_the_best_is_a_loss() -> None:
    names = [str(number) for number in range(8)]
    judged = TuningResult("cubic", "cubic:beta=0.5", 0.0, 0.1, held_back=[(name, 0.0, None) for name in names])
    assert judged.gain is not None
    assert judged.gain.high < 0
    assert judged.answer == "worse"
    assert json.loads(json.dumps(judged.document(), allow_nan=False))["held_back"]["gain"] is None
    broken = replace(judged, broken=[GuardViolation("failed", "0", "error")])
    assert broken.answer == "fails"
    won = TuningResult("cubic", "cubic:beta=0.5", 0.0, 0.1, held_back=[(name, 0.0, 0.2) for name in names])
    assert won.answer == "better"
