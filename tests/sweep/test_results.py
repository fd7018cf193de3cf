"""What a sweep says: medians as `run` has them, the document, tables, arrays, and trials that failed."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from short_download import SCENARIO
from thalweg import Scenario, Sweep, SweepResult
from thalweg.base.files.document import HEAD
from thalweg.cli import main
from thalweg.results import measured

Capture = pytest.CaptureFixture[str]
SHARED = """\
title = "Two downloads and a call"
time_limit = "6 s"
noise = { start = "50 ms" }
path = { rate = "8 Mbps", rtt = "40 ms", buffer = "1 bdp", loss = "0.3 %" }
flow = [
    { name = "main", controller = "cubic", start = "1 s", download = "1 MB" },
    { name = "large", controller = "c4", download = "3 MB" },
    { name = "call", controller = "bbr", call = "3 s" },
]
"""


@pytest.fixture(name="scenario")
def scenario_file(tmp_path: Path) -> str:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return str(file)


def failing(scenario: str, folder: Path) -> Path:
    """A plan with a controller in Python that fails with some seeds."""
    (folder / "odd.py").write_text(
        "import thalweg\n\n\nclass Odd(thalweg.Controller):\n    def on_ack(self, event, path):\n"
        "        if not hasattr(self, 'luck'):  # of the noise on the start\n"
        "            self.luck = int(1e9 * path.now) % 2\n"
        "        return 20_000 / self.luck\n",
        encoding="utf-8",
    )
    plan = folder / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario}"\ntrials = 8\n[axes]\n"controller.main" = ["./odd.py", "cubic"]\n',
        encoding="utf-8",
    )
    return plan


def test_the_medians_of_a_point_are_those_that_run_prints(tmp_path: Path) -> None:
    """Three flows and streams of media; noise on the start; a flow that finishes in some trials only."""
    file = tmp_path / "shared.toml"
    file.write_text(SHARED, encoding="utf-8")
    rates = ["5 Mbps", "8 Mbps"]
    result = Sweep(str(file), {"path.rate": rates}, trials=9).run(tmp_path / "out")
    for rate, row in zip(rates, result.documents(), strict=True):
        outcomes = Scenario.load(file, {"path.rate": rate}).trials(9)
        assert row["flows"] == [flow.document() for flow in measured.flows(outcomes)]
        assert row["links"] == [link.document() for link in measured.links(outcomes)]
        assert row["streams"] == [stream.document() for stream in measured.streams(outcomes)]
        assert len(row["flows"]) == 3
        assert row["streams"]
    finished = result.scan().select(pl.col("flow.large.finished")).collect().to_series()
    assert 0 < finished.sum() < len(finished)


def test_the_document_has_a_row_for_each_point(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario}"\ntrials = 6\n[axes]\n"path.rate" = ["5 Mbps", "20 Mbps"]\n'
        '"path.rtt" = { from = "10 ms", to = "40 ms", steps = 3, scale = "log" }\n'
        '"controller.main" = ["cubic", "c4"]\n',
        encoding="utf-8",
    )
    command = ["sweep", str(plan), "--out", str(tmp_path / "out"), "--format", "json"]
    for ran in (72, 0):
        assert main(command) == 0
        document = json.loads(capsys.readouterr().out)
        assert list(document) == [*HEAD, "planned", "ran", "present", "failed", "rows"]
        assert [document[key] for key in ("trials", "planned", "ran", "present", "failed")] == [
            6,
            72,
            ran,
            72 - ran,
            0,
        ]
        assert (document["core_s"] > 0) == (ran > 0)
        rows = document["rows"]
        assert [tuple(row.values())[:5] for row in rows] == [
            (rate, rtt, controller, 6, 0)
            for rate in (5e6, 2e7)
            for rtt in (0.01, 0.02, 0.04)
            for controller in ("cubic", "c4")
        ]
        assert list(rows[0])[:3] == ["path.rate_bps", "path.rtt_s", "controller.main"]
        assert all(row["flows"][0]["controller"] == row["controller.main"] for row in rows)
        completion = rows[0]["flows"][0]["completion_s"]
        assert completion["n"] == 6
        assert completion["interval95"][0] <= completion["median"] <= completion["interval95"][1]


def test_a_dry_run_counts_and_measures_and_stores_nothing(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    text = f'scenario = "{scenario}"\ntrials = {{}}\n[axes]\n"path.rtt" = ["10 ms", "20 ms"]\n'
    plan.write_text(text.format(6), encoding="utf-8")
    dry = ["sweep", "--dry-run", str(plan), "--out", str(out), "--format", "json"]
    assert main(dry) == 0
    document = json.loads(capsys.readouterr().out)
    assert [document[key] for key in ("points", "trials", "present", "missing")] == [2, 12, 0, 12]
    assert 0 < document["core_s"] < 10
    assert not out.exists()
    assert main(["sweep", str(plan), "--out", str(out), "-q"]) == 0
    plan.write_text(text.format(8), encoding="utf-8")
    assert main(dry) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == 4
    assert SweepResult.load(out).scan().collect().height == 12


def test_a_sweep_that_is_better_passes_a_limit_and_one_that_is_worse_does_not(
    scenario: str, tmp_path: Path, capsys: Capture
) -> None:
    slow, fast = str(tmp_path / "slow"), str(tmp_path / "fast")
    for folder, rate, seed in ((slow, "5 Mbps", 1), (fast, "20 Mbps", 1000)):
        Sweep(scenario, {"path.rtt": ["20 ms", "40 ms"]}, trials=8, seed=seed, set={"path.rate": rate}).run(
            Path(folder)
        )
    assert main(["compare", slow, fast, "--fail-above", "5 %", "-q"]) == 0
    capsys.readouterr()
    assert main(["compare", fast, slow, "--fail-above", "5 %"]) == 1
    said = capsys.readouterr()
    assert "worse: B: path.rtt = 20 ms: main completion " in said.err
    assert "differs: " not in said.err  # nor is what limits a flow worse
    assert main(["compare", fast, slow, "--fail-above", "5 %", "--format", "github"]) == 1
    assert "::error" in capsys.readouterr().out
    assert main(["compare", fast, "--plan", "5 %", "--format", "json"]) == 0
    planned = json.loads(capsys.readouterr().out)["rows"]
    assert any(row["a"] == 0 and row["needs_trials"] is None for row in planned)
    assert main(["compare", fast, slow, "--format", "json"]) == 0
    rows = {(row["scenario"], row["metric"]): row for row in json.loads(capsys.readouterr().out)["rows"]}
    rate = rows["path.rtt = 40 ms", "rate"]
    assert (rate["answer"], rate["better"], rate["unit"], rate["paired"]) == ("worse", "higher", "bps", False)


def test_a_trial_that_fails_is_a_row_with_its_seed_and_the_sweep_goes_on(
    scenario: str, tmp_path: Path, capsys: Capture
) -> None:
    plan, out = failing(scenario, tmp_path), tmp_path / "out"
    assert main(["sweep", str(plan), "--out", str(out), "--format", "json"]) == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    odd, cubic = document["rows"]
    assert document["failed"] == odd["failed"] > 0
    assert (odd["trials"], cubic["trials"], cubic["failed"]) == (8, 8, 0)
    assert odd["flows"][0]["completion_s"]["n"] == 8 - odd["failed"] > 0
    assert "controller.main = ./odd.py, seed " in printed.err
    assert "ZeroDivisionError" in printed.err
    failed = SweepResult.load(out).scan().filter(pl.col("error").is_not_null()).collect()
    assert failed.height == odd["failed"]
    assert failed["error"].str.contains("odd.py:8").all()
    assert main(["sweep", str(plan), "--out", str(out), "--format", "json"]) == 1
    again = json.loads(capsys.readouterr().out)
    assert (again["ran"], again["failed"]) == (0, odd["failed"])


def test_every_row_has_the_command_that_replays_it(scenario: str, tmp_path: Path, capsys: Capture) -> None:
    inline: dict[str, Any] = {"title": "it's one", "path": {"rate": "20 Mbps", "rtt": "40 ms"}}
    inline |= {"flow": [{"name": "main", "controller": "cubic", "download": "200 kB"}]}
    axes = {
        "path.jitter": [{"model": "wifi", "mean": "7 ms"}],
        "controller.main": ["cubic:beta=0.8", "c4"],
    }
    bases: list[str | dict[str, Any]] = [scenario, inline]
    for number, base in enumerate(bases):
        sweep = Sweep(base, axes, trials=2, seed=11, set={"flow.main.download": "300 kB"})
        for row in sweep.run(tmp_path / str(number)).scan().collect().iter_rows(named=True):
            command = shlex.split(row["replay"])
            assert command[:2] == ["thalweg", "run"]
            assert main([*command[1:], "--format", "json"]) in (0, 1)
            flow = json.loads(capsys.readouterr().out)["flows"][0]
            assert flow["mean_rtt_s"]["median"] == row["flow.main.mean_rtt_s"]
            assert flow["mean_rate_bps"]["median"] == row["flow.main.mean_rate_bps"]


def test_a_replay_finds_a_controller_beside_a_plan_of_another_folder(
    scenario: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plans").mkdir()
    failing(scenario, tmp_path / "plans")
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "plans/plan.toml", "--out", "out", "-q"]) == 1
    row = SweepResult.load("out").scan().filter(pl.col("error").is_not_null()).collect().row(0, named=True)
    capsys.readouterr()
    assert main(shlex.split(row["replay"])[1:]) == 2
    assert capsys.readouterr().err.removeprefix("error: ").strip() == row["error"]


def test_a_replay_finds_the_traces_of_a_scenario_within_a_plan(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "slow.trace").write_text("2\n4\n")
    (tmp_path / "plans" / "late.txt").write_text("0 3000\n20000 100\n")
    (tmp_path / "plans" / "plan.toml").write_text("""\
        trials = 1
        [scenario]
        title = "a phone"
        [scenario.path]
        trace = "slow.trace"
        rtt = "40 ms"
        buffer = "60 ms"
        jitter = { model = "trace", file = "late.txt" }
        [[scenario.flow]]
        name = "main"
        controller = "cubic"
        download = "50 kB"
        [axes]
        "path.rtt" = ["40 ms", "80 ms"]
        "controller.main" = ["cubic", "c4"]
    """)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "plans/plan.toml", "--out", "out", "-q"]) == 0
    rows = SweepResult.load("out").scan().collect()
    assert rows["trace_hash"].n_unique() == 4
    (tmp_path / "plans" / "slow.trace").write_text("1000\n")  # that of the sweep is in the store
    for row in rows.iter_rows(named=True):
        capsys.readouterr()
        assert main([*shlex.split(row["replay"])[1:], "--format", "json"]) == 0
        (flow,) = json.loads(capsys.readouterr().out)["flows"]
        assert flow["mean_rtt_s"]["median"] == row["flow.main.mean_rtt_s"]


def test_an_axis_may_have_the_name_of_what_is_measured(scenario: str, tmp_path: Path) -> None:
    result = Sweep(scenario, {"flow.main.start": ["0 s", "2 s"]}, trials=6).run(tmp_path / "out")
    assert result.rows["flow.main.start_s"].to_list() == [0, 2]
    assert result.scan().collect()["flow.main.start_s"].unique().sort().to_list() == [0, 2]
    early, late = result.rows["flow.main.completion_s"].to_list()
    assert late == pytest.approx(early + 2, abs=1e-3)  # counted from the start of the trial, without the noise


def test_tables_and_arrays_have_every_trial(scenario: str, tmp_path: Path) -> None:
    axes: dict[str, Any] = {"path.rate": ["5 Mbps", "20 Mbps"], "path.rtt": ["10 ms", "20 ms", "40 ms"]}
    axes["controller.main"] = ["cubic", "c4"]
    result = Sweep(scenario, axes, trials=3, seed=5).run(tmp_path / "out")
    result.write_csv(tmp_path / "all.csv")
    result.write_parquet(tmp_path / "all.parquet")
    table = pl.read_parquet(tmp_path / "all.parquet")
    assert table.equals(result.scan().collect(), null_equal=True)
    assert pl.read_csv(tmp_path / "all.csv")["trace_hash"].to_list() == table["trace_hash"].to_list()
    assert table.height == 36
    arrays = result.to_xarray(["flow.main.completion_s", "flow.main.finished"])
    assert dict(arrays.sizes) == {"path.rate_bps": 2, "path.rtt_s": 3, "controller.main": 2, "seed": 3}
    for row in table.iter_rows(named=True):
        labels = {name: row[name] for name in (*result.axes, "seed")}
        assert float(arrays["flow.main.completion_s"].sel(labels)) == row["flow.main.completion_s"]
    drawn = Sweep(
        scenario, {"path.rtt": {"from": "1 ms", "to": "9 ms"}}, design={"kind": "sobol", "points": 8}, trials=2
    )
    points = drawn.run(tmp_path / "drawn").to_xarray(["flow.main.loss"])
    assert dict(points.sizes) == {"path.rtt_s": 8, "seed": 2}
    assert not math.isnan(float(points["flow.main.loss"].sum(skipna=False)))
    tied = {"path.rate": ["5 Mbps", "10 Mbps", "20 Mbps"], "path.rtt": ["40 ms", "20 ms", "10 ms"]}
    line = Sweep(scenario, tied, tied=[["path.rate", "path.rtt"]], trials=2).run(tmp_path / "tied").to_xarray()
    assert dict(line.sizes) == {"point": 3, "seed": 2}
    assert line["path.rate_bps"].to_numpy().tolist() == [5e6, 1e7, 2e7]


def test_two_points_with_the_same_trials_share_them(scenario: str, tmp_path: Path) -> None:
    result = Sweep(scenario, {"path.rtt": ["40 ms", "0.04 s"]}, trials=4).run(tmp_path / "out")
    assert result.rows["trials"].to_list() == [4, 4]
    (file,) = (tmp_path / "out" / "trials").rglob("*.parquet")
    assert pl.read_parquet(file).height == 4
    assert np.ptp(result.rows["flow.main.completion_s"].to_numpy()) == 0
