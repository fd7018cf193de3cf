"""What commands say of stored calls: their streams, and what no number of trials would tell."""

from pathlib import Path

import pytest

from calls import ENCODED_CALL
from thalweg import Scenario
from thalweg.cli import main

CRITERION = '[[pass]]\nflow = "main"\nstream = "video"\nmetric = "{}"\nat_most = "{}"\n'


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight calls without a frame that is skipped, and the delay of whose frames varies."""
    home = tmp_path_factory.mktemp("calls")
    file, folder = home / "call.toml", home / "result"
    file.write_text(ENCODED_CALL + CRITERION.format("skipped", "0") + CRITERION.format("p95-delay", "20 s"))
    assert main(["run", str(file), "-n", "8", "--out", str(folder), "--quiet"]) == 0
    return folder


def test_a_replay_of_a_call_shows_its_streams(call: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(call), "call", "3"]) == 0
    printed = capsys.readouterr().out
    assert "same as stored" in printed
    [row] = [line for line in printed.splitlines() if line.startswith("main  video")]
    assert "kbps" in row or "Mbps" in row


def test_a_plan_counts_no_comparison_that_has_a_median_of_zero(
    call: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(call), "--plan", "20 %"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    # A share of 0 skipped frames is 0: nothing to tell.
    assert "a difference of 20.0 % in 1 comparison in 90 % of cases" in said
    assert "Of 1 more the trials do not say it: the median is 0 or unbounded" in said


def test_a_trial_has_its_streams_as_it_has_its_flows() -> None:
    trial = Scenario.from_toml(ENCODED_CALL, "call").run()
    assert trial.streams["stream"].to_list() == ["video"]
    # 30 frames a second for 10 s.
    assert trial.streams["frames"][0] + trial.streams["undelivered"][0] == 300
