"""`show`, `check` and `new`: reading a scenario and beginning one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import thalweg
from thalweg import _native
from thalweg.cli import main
from thalweg.experiments.studies.catalogue import TITLES

Capture = pytest.CaptureFixture[str]


def test_a_new_file_runs_and_passes_and_is_never_replaced(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine.toml"]) == 0
    assert "thalweg run mine.toml" in capsys.readouterr().err
    text = Path("mine.toml").read_text(encoding="utf-8")
    assert main(["new", "mine.toml"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert Path("mine.toml").read_text(encoding="utf-8") == text
    assert main(["check", "mine.toml"]) == 0
    assert capsys.readouterr().out == "mine.toml: Mine: accepted\n"
    assert main(["run", "mine.toml"]) == 0


def test_what_a_new_file_suggests_is_accepted(capsys: Capture) -> None:
    """Each line that is commented out, and all of them."""
    assert main(["new", "-"]) == 0
    text = capsys.readouterr().out
    suggestion = re.compile(r"^# (?=\[|[a-z_]+ += )", flags=re.MULTILINE)
    assert len(suggestion.findall(text)) == 18
    scenario = thalweg.Scenario.from_toml(suggestion.sub("", text), "all")
    assert scenario.run(seed=1).flows["flow"].to_list() == ["main", "cross"]
    for name in ("loss", "queue", "jitter"):
        accepted = re.sub(rf"^# (?={name} )", "", text, flags=re.MULTILINE)
        assert accepted != text
        assert thalweg.Scenario.from_toml(accepted, name).title == "Mine"


@pytest.mark.parametrize("file", ["mine", "no/such/folder/mine.toml"])
def test_a_file_that_cannot_be_written_is_one_message(
    file: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", file]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_show_prints_the_file_byte_for_byte(tmp_path: Path, capsys: Capture) -> None:
    assert main(["show", "c4/bad-wifi"]) == 0
    text = capsys.readouterr().out
    copy = tmp_path / "copy.toml"
    copy.write_text(text, encoding="utf-8")
    assert (
        thalweg.Scenario.load(copy).run(seed=3).trace_hash
        == thalweg.Scenario.load("c4/bad-wifi").run(seed=3).trace_hash
    )


def test_check_reads_all_files_and_reports_each_error(tmp_path: Path, capsys: Capture) -> None:
    good, bad, worse = (tmp_path / f"{name}.toml" for name in ("good", "bad", "worse"))
    assert main(["show", "c4/bad-wifi"]) == 0
    text = capsys.readouterr().out
    good.write_text(text, encoding="utf-8")
    bad.write_text(text.replace('"c4"', '"c5"'), encoding="utf-8")
    worse.write_text("title = 7\n", encoding="utf-8")
    assert main(["check", str(bad), str(good), str(worse)]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines() == [f"{good}: {thalweg.Scenario.load(good).title}: accepted"]
    first, second = said.err.splitlines()
    assert str(bad) in first
    assert '"c5"' in first
    assert str(worse) in second
    assert "title" in second


def test_lists_name_every_study_and_every_metric(capsys: Capture) -> None:
    assert main(["list", "studies"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]} == TITLES.keys()
    assert main(["list", "metrics"]) == 0
    metrics = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]]
    text = Path("docs/reference/metrics.md").read_text(encoding="utf-8")
    assert metrics == [metric["name"] for metric in _native.metrics()]
    assert all(f"`{metric}`" in text for metric in metrics)


def test_a_scenario_of_the_kernels_tcp_is_shown_and_checked_for_real_time(tmp_path: Path, capsys: Capture) -> None:
    assert main(["show", "c4/simple-20mbps"]) == 0
    text = capsys.readouterr().out.replace('"c4"', '"kernel:cubic"', 1)
    file = tmp_path / "kernel.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out == text
    assert main(["check", str(file)]) == 2
    assert "real time" in capsys.readouterr().err
    assert main(["check", "--live", str(file)]) == 0
    for key in ('stack = "quic"', "zero_rtt = true"):
        file.write_text(text.replace('"kernel:cubic"', f'"kernel:cubic"\n{key}', 1), encoding="utf-8")
        assert main(["check", "--live", str(file)]) == 2
        assert key.split()[0] in capsys.readouterr().err
