"""`thalweg merge` of suites: two shards of a small one are the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from short_download import SCENARIO
from thalweg.cli import main


def test_the_shards_of_a_suite_are_put_together_and_nothing_runs_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "short.toml").write_text(SCENARIO, encoding="utf-8")
    shards = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        assert main(["suite", str(folder), "-n", "4", "--shard", f"{number}/2", "--out", shard]) == 0
    merged = str(tmp_path / "merged")
    assert main(["merge", *shards, "--out", merged]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert f"4 trials are new in {merged}; the command that played them concludes with --out {merged}" in told
    assert main(["compare", merged, shards[0]]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"it has trials only; the command that played them concludes with --out {merged}" in told
    assert main(["merge", *shards, "--out", merged]) == 0
    assert f"0 trials are new in {merged}" in capsys.readouterr().err
    assert main(["suite", str(folder), "-n", "4", "--out", merged]) == 0
    assert f"4 of 4 trials were in {merged} already" in " ".join(capsys.readouterr().err.split())
    alone = [str(tmp_path / f"alone-{number}") for number in (1, 2, 3)]
    for number, shard in enumerate(alone, 1):
        assert main(["suite", str(folder), "-n", "1", "--shard", f"{number}/3", "--out", shard]) == 0
    assert capsys.readouterr().err.count("has no trials, since there are more shards than trials") == 2
    assert main(["merge", *alone, "--out", str(tmp_path / "one")]) == 0
    assert "1 trial is new" in capsys.readouterr().err
    # What has a document is the place of an experiment still.
    assert main(["merge", *shards, "--out", merged]) == 0
