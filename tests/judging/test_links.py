"""Criteria on links, from a file to a verdict, a stored result and the status of a command."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from thalweg import Scenario
from thalweg.cli import main

TEXT = """\
title = "airtime"
[path]
rate = "65 Mbps"
rtt = "20 ms"
medium = { model = "wifi", preset = "home" }
[[flow]]
name = "main"
controller = "cubic"
download = "500 kB"
[[pass]]
flow = "main"
link = "up"
metric = "link-airtime"
at_most = "BOUND %"
"""
TRIALS = 5


def scenario(bound: float) -> Scenario:
    return Scenario.from_toml(TEXT.replace("BOUND", f"{bound:.6f}"), "airtime")


def test_a_criterion_on_a_link_judges_the_airtime_of_each_trial() -> None:
    outcomes = scenario(50).trials(TRIALS)
    (own,) = outcomes.verdict().criteria
    shares = outcomes.links.filter(pl.col("link") == "up")["airtime"]
    assert own.values["value"].to_list() == shares.to_list()
    assert own.subject == "main link-airtime of up"
    assert own.unit == "share"
    middle = sorted(shares)[TRIALS // 2]
    for bound, failures in ((100 * max(shares) + 0.001, 0), (100 * middle + 0.0001, 2), (0.0001, TRIALS)):
        (judged,) = scenario(bound).trials(TRIALS).verdict().criteria
        assert judged.failures == failures
        assert judged.answer == ("fails" if failures else "holds")


def test_commands_have_the_status_of_criteria_on_links_and_stored_results_keep_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for bound, status in ((50, 0), (0.0001, 1)):
        (tmp_path / f"of-{status}").mkdir()
        file = tmp_path / f"of-{status}" / "airtime.toml"
        file.write_text(TEXT.replace("BOUND", f"{bound:.6f}"), encoding="utf-8")
        folder = tmp_path / str(status)
        assert main(["run", str(file), "--trials", "3", "-o", str(folder)]) == status
        said = capsys.readouterr().out
        assert "main link-airtime of up <=" in said
        assert main(["suite", str(file.parent), "--trials", "3"]) == status
        assert "main link-airtime of up <=" in capsys.readouterr().out
        # The same again is no other.
        assert main(["compare", str(folder), str(folder)]) == 0
        capsys.readouterr()


def test_a_criterion_on_a_link_belongs_to_the_flow_that_it_names() -> None:
    """Both are of the link; where the value is stored differs, so the trials are not the same for a store."""
    two = TEXT.replace(
        "[[pass]]", '[[flow]]\nname = "other"\ncontroller = "cubic"\ndownload = "500 kB"\n[[pass]]', 1
    )
    two = two.replace("BOUND", "50")
    for flow in ("main", "other"):
        two += f'[[pass]]\nflow = "{flow}"\nmetric = "completion"\nat_most = "9 s"\n'
    own = Scenario.from_toml(two, "airtime")
    other = Scenario.from_toml(two.replace('flow = "main"\nlink', 'flow = "other"\nlink'), "airtime")
    assert own.fingerprint != other.fingerprint


def test_a_criterion_on_a_link_requires_virtual_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dropped.toml"
    text = TEXT.replace('medium = { model = "wifi", preset = "home" }\n', "").replace("BOUND", "50")
    file.write_text(text.replace("link-airtime", "link-dropped"), encoding="utf-8")
    assert main(["run", str(file), "--live"]) == 2
    assert "link-dropped" in (said := capsys.readouterr().err)
    assert "virtual time" in said
