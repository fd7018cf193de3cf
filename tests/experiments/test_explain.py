"""Why was it slow: the cause that a trial was made with is the one that is named, and lifting it helps."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import pytest

from thalweg import Scenario
from thalweg.cli import main
from thalweg.engine.catalogue import find_scenario
from thalweg.experiments.explain import Account, Played, account, what_if

PATH = 'title = "slow"\ntime_limit = "60 s"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\n'
FLOW = '[[flow]]\nname = "main"\ncontroller = "cubic"\ndownload = "20 MB"\n'


def explained(tmp_path: Path, text: str, seed: int = 1) -> tuple[Account, list[Played]]:
    file = tmp_path / "slow.toml"
    file.write_text(text)
    entry = find_scenario(str(file))
    trial = Scenario.from_entry(entry).run(seed, trace=True)
    found = account(trial, "main")
    return found, list(what_if(partial(Scenario.from_entry, entry), [], [], seed, trial, found))


@pytest.mark.parametrize(
    ("path", "flow", "cause"),
    [
        ('buffer = "20 ms"\n', FLOW, "full queues"),
        ('loss = "0.5 %"\n', FLOW, "random loss"),
        ('queue = "codel"\n', FLOW, "marks"),
        ('queue = "dualpi2"\n', FLOW.replace("cubic", "prague"), "marks"),
        ('policer = { rate = "10 Mbps", burst = "100 kB" }\nbuffer = "1 s"\n', FLOW, "policers"),
    ],
)
def test_the_window_falls_for_what_the_links_did(tmp_path: Path, path: str, flow: str, cause: str) -> None:
    found, _ = explained(tmp_path, PATH + path + flow)
    assert found.cuts.most_common(1)[0][0] == cause
    assert found.cuts[cause] >= 0.6 * found.cuts.total()
    assert any(cause in sentence for sentence in found.sentences())


def test_a_path_without_losses_and_marks_cuts_no_window(tmp_path: Path) -> None:
    found, _ = explained(tmp_path, PATH + 'buffer = "unlimited"\n' + FLOW)
    assert found.cuts.total() == 0
    assert "It declared no packet lost." in found.sentences()


@pytest.mark.parametrize(
    ("path", "flow", "words", "gain"),
    [
        ("", FLOW + 'receive_window = "20 kB"\n', "no limit of the receiver", 3.0),
        ('loss = "1 %"\n', FLOW, "no random loss", 1.5),
        ('buffer = "2 ms"\n', FLOW, "an unlimited buffer", 1.05),
    ],
)
def test_what_stood_in_the_way_is_lifted_and_helps(
    tmp_path: Path, path: str, flow: str, words: str, gain: float
) -> None:
    _, played = explained(tmp_path, PATH + path + flow)
    by_change = {one.change.words: one.numbers["completion"] for one in played}
    assert by_change["as it was"] > gain * by_change[words]
    # Nothing else of the path is lifted, and other controllers are tried.
    assert set(by_change) == {"as it was", words, "bbr", "c4"} | ({"an unlimited buffer"} & set(by_change))


def test_the_first_row_is_the_trial_itself(tmp_path: Path) -> None:
    text = PATH + 'loss = "1 %"\n' + FLOW
    _, played = explained(tmp_path, text, seed=7)
    trial = Scenario.from_toml(text, "slow").run(7)
    (took,) = trial.flows["completion_s"] - trial.flows["start_s"]
    assert played[0].numbers["completion"] == took
    assert played[0].change.options == ""


def test_a_call_is_told_by_its_media(tmp_path: Path) -> None:
    call = '[[flow]]\nname = "main"\ncontroller = "c4"\ncall = "5 s"\n'
    found, played = explained(tmp_path, PATH + call)
    assert "audio had" in found.sentences()[0]
    assert set(played[0].numbers) == {"media-rate", "p95-delay", "frozen", "mos"}


def test_a_real_stack_does_not_say_what_limited_it(tmp_path: Path) -> None:
    found, played = explained(tmp_path, PATH + FLOW.replace("20 MB", "1 MB") + 'stack = "quic"\n')
    assert "Its stack does not say what limited it." in found.sentences()
    assert all(math.isfinite(one.numbers["completion"]) for one in played)


def test_the_command_prints_sentences_and_json_and_refuses_a_wrong_flow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "slow.toml"
    file.write_text(PATH + FLOW + 'receive_window = "20 kB"\n')
    assert main(["explain", str(file)]) == 0
    assert "It was limited by flow control" in capsys.readouterr().out
    assert main(["explain", str(file), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["sentences"]) == 5
    assert sum(document["limited"].values()) == pytest.approx(1.0)
    assert document["what_if"][1]["options"] == '--set flow.main.receive_window="1 GB"'
    assert main(["explain", str(file), "--flow", "mian"]) == 2
    assert "did you mean main?" in capsys.readouterr().err


def test_a_trial_of_a_stored_result_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "result")
    assert main(["run", "c4/bad-wifi", "-n", "2", "--out", folder]) in (0, 1)
    capsys.readouterr()
    assert main(["explain", "c4/bad-wifi", "--seed", "2", "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert main(["explain", folder, "bad-wifi", "1", "--format", "json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    # Trial 1 has the second seed.
    assert {**stored, "scenario": ""} == {**again, "scenario": ""}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["bad-wifi"], "the trial is missing"),
        (["bad-wifi", "7"], "expected a number from 0 to 0"),
        (["nothing", "0"], "nothing"),
        (
            ["bad-wifi", "0", "--as", "cubic"],
            "--as cannot be combined with a stored trial; accepted: --flow, --format",
        ),
        (["bad-wifi", "0", "--flow", "nobody"], "the scenario has no such flow"),
    ],
)
def test_a_stored_trial_that_is_not_there_is_refused(
    tmp_path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "result")
    main(["run", "c4/bad-wifi", "-n", "1", "--out", folder])
    capsys.readouterr()
    assert main(["explain", folder, *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_flow_of_many_connections_counts_the_falls_of_all(tmp_path: Path) -> None:
    requests = 'requests = { count = 8, mean_gap = "1 ms", p5 = "2 MB", p95 = "4 MB" }'
    flow = FLOW.replace('download = "20 MB"', requests)
    found, _ = explained(tmp_path, PATH + 'buffer = "20 ms"\n' + flow)
    assert found.cuts["full queues"] > 4


def test_a_flow_that_starts_late_is_held_against_its_floor_from_its_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slow.toml").write_text(PATH + FLOW + 'start = "30 s"\n')
    assert main(["explain", str(tmp_path / "slow.toml"), "--format", "json"]) == 0
    (result, *_) = json.loads(capsys.readouterr().out)["sentences"]
    # 20 MB over 20 Mbps take 8 s and more, not 38 s.
    took, floor = (float(part.split(" s")[0]) for part in (result.split("took ")[1], result.split("allows ")[1]))
    assert 8 < floor < took < 12


def test_a_flow_that_never_starts_says_so_and_plays_nothing(tmp_path: Path) -> None:
    late = FLOW.replace('"main"', '"late"') + 'start = "50 s"\nbackground = true\n'
    file = tmp_path / "slow.toml"
    file.write_text(PATH + FLOW + late)
    entry = find_scenario(str(file))
    trial = Scenario.from_entry(entry).run(1, trace=True)
    found = account(trial, "late")
    assert found.sentences() == ["late (cubic) sent nothing: the trial ended before it could."]
    assert len(list(what_if(partial(Scenario.from_entry, entry), [], [], 1, trial, found))) == 1


def test_an_outage_without_a_loss_is_not_taken_for_one(tmp_path: Path) -> None:
    outage = '[[path.change]]\nat = "3 s"\nrate = "0 bps"\n[[path.change]]\nat = "6 s"\nrate = "20 Mbps"\n'
    found, _ = explained(tmp_path, PATH + 'buffer = "unlimited"\n' + outage + FLOW)
    assert set(found.cuts) <= {"a probe timeout", "no loss"}
