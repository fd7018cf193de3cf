"""The page of a sweep and its figures: what was measured at each point, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from short_download import SCENARIO
from thalweg import Scenario, Sweep, SweepResult, _native
from thalweg.cli import main
from thalweg.experiments.sweep.pareto import is_on_front
from thalweg.experiments.sweep.report.figures import field, plot_sweep
from thalweg.experiments.sweep.report.view import view_of

Capture = pytest.CaptureFixture[str]


@pytest.fixture(name="folder", scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    file = folder / "short.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    axes: dict[str, Any] = {
        "path.rate": ["5 Mbps", "20 Mbps"],
        "path.rtt": {"from": "10 ms", "to": "160 ms", "steps": 5, "scale": "log"},
        "controller.main": ["cubic", "c4"],
    }
    Sweep(str(file), axes, trials=6, set={"path.loss": '{ model = "random", rate = "1 %" }'}).run(folder / "out")
    return folder / "out"


def test_a_front_holds_what_no_other_point_beats() -> None:
    chance = np.random.default_rng(18)
    for _ in range(200):
        n = int(chance.integers(1, 30))
        rate, delay = chance.integers(0, 8, n).astype(float), chance.integers(0, 8, n).astype(float)
        rate[chance.random(n) < 0.1] = np.nan
        beaten = [
            any(
                rate[j] >= rate[i] and delay[j] <= delay[i] and (rate[j], delay[j]) != (rate[i], delay[i])
                for j in range(n)
            )
            for i in range(n)
        ]
        wanted = [bool(np.isfinite(rate[i])) and not beaten[i] for i in range(n)]
        assert is_on_front(rate, delay).tolist() == wanted


def test_a_view_has_each_point_once_with_its_medians(folder: Path) -> None:
    result = SweepResult.load(folder)
    view = view_of(result)
    assert view.points.height == 20
    assert (view.across.title, view.across.unit, view.across.is_log) == ("round-trip time", "ms", True)
    assert view.across.labels == ["10 ms", "20 ms", "40 ms", "80 ms", "160 ms"]
    assert view.by is not None
    assert view.by.labels == ["cubic", "c4"]
    assert view.panels == ["rate 5 Mbps", "rate 20 Mbps"]
    completion = view.metrics[0]
    divided = view.points[completion.column] * completion.divisor
    assert np.allclose(divided, result.rows[completion.column])
    # Of each path at least one controller is on the front, and the other only if it pays for less delay with rate.
    for _, path in view.points.group_by("path"):
        assert path["front"].any()


def test_a_figure_is_drawn_of_all_points_with_letters_as_text(folder: Path, tmp_path: Path) -> None:
    for name in ("figure.svg", "figure.pdf"):
        assert main(["sweep", "report", str(folder), "--plot", str(tmp_path / name), "--size", "180mm", "-q"]) == 0
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    for word in ("round-trip time", "controller", "rate 20 Mbps", "cubic", "completion"):
        assert re.search(rf"<text[^>]*>[^<]*{re.escape(word)}", svg), word
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    view = view_of(SweepResult.load(folder))
    spec = json.dumps(plot_sweep(view, view.metrics[0], "title", brushes=False).to_dict())
    assert "param" not in spec.replace("params", "")
    assert '"params"' not in spec


def test_the_page_says_of_each_point_how_to_play_it_again(folder: Path) -> None:
    assert main(["sweep", "report", str(folder), "--traces", "3", "-q"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count('<section id="point-') == 20
    assert page.count("--plot trial.html") == 20
    assert page.count('data-figure="trial-') == 3
    assert "http://" not in re.sub(r"<script.*?</script>", "", page, flags=re.S).replace("http://www.w3.org", "")
    result = SweepResult.load(folder)
    row = result.typical("flow.main.completion_s").row(7, named=True)
    again = result.scenario(row["index"]).run(row["seed"])
    stored = result.scan().collect().filter(index=row["index"], seed=row["seed"])
    assert again.trace_hash == stored["trace_hash"][0]
    completions = result.scan().collect().filter(index=row["index"])["flow.main.completion_s"]
    own = stored["flow.main.completion_s"][0]
    median = completions.median()
    assert abs(own - median) == min(abs(value - median) for value in completions)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--axes", "path.rat"], "the sweep has no such axis; did you mean path.rate"),
        (["--metric", "completions"], "nothing of that name was measured"),
        (["--only", "path.rate"], "accepted: an axis and one of its values"),
        (["--only", "path.rate=6 Mbps"], "no point has it; did you mean 5 Mbps"),
        (["--only", "rate=6 Mbps"], "the sweep has no such axis"),
        (["--plot", "figure.gif"], "accepted: a name that ends in .html, .png, .svg, .pdf"),
        (["--out", "plan.toml"], "--out plan.toml: the name must end in .html"),
        (["--size", "88mm"], "--size requires --plot"),
        (["--axes", "path.rtt,path.rtt"], "accepted: one to three axes, each once"),
    ],
)
def test_a_mistake_is_one_message(options: list[str], problem: str, folder: Path, capsys: Capture) -> None:
    assert main(["sweep", "report", str(folder), *options]) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1


def test_settings_with_files_are_replayed_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "short.toml").write_text(SCENARIO, encoding="utf-8")
    aimd = Path(__file__).parents[2] / "examples" / "controllers" / "aimd.py"
    (tmp_path / "plans" / "mine.py").write_text(aimd.read_text(encoding="utf-8"), encoding="utf-8")
    plan = tmp_path / "plans" / "plan.toml"
    plan.write_text(
        'scenario = "short.toml"\ntrials = 2\ncontrollers = { main = "mine.py" }\n'
        '[axes]\n"path.rate" = ["5 Mbps", "20 Mbps"]\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    result = Sweep.load("plans/plan.toml").run(tmp_path / "out")
    row = result.scan().collect().row(1, named=True)
    assert "main=plans/mine.py" in row["replay"]
    assert result.scenario(row["index"]).run(row["seed"]).trace_hash == row["trace_hash"]
    assert isinstance(result.scenario(0), Scenario)


def test_a_trial_that_is_no_longer_the_stored_one_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = tmp_path / "short.toml", tmp_path / "out"
    file.write_text(SCENARIO, encoding="utf-8")
    Sweep(str(file), {"path.rate": ["5 Mbps", "20 Mbps"]}, trials=2).run(out)

    def page() -> str:
        assert main(["sweep", "report", str(out), "-q"]) == 0
        return (out / "report.html").read_text(encoding="utf-8")

    files, engine = "This is not the trial that was stored", "does not reproduce the trial that version"
    assert files not in page()
    file.write_text(SCENARIO.replace("200 kB", "300 kB"), encoding="utf-8")
    assert page().count(files) == 2
    monkeypatch.setattr(_native, "engine", lambda: "0.0.9+0123456789abcdef")
    assert page().count(engine) == 2
    file.write_text(SCENARIO, encoding="utf-8")
    assert engine not in page()


def test_flows_of_any_name_are_drawn(tmp_path: Path) -> None:
    names = ("bulk-1", "bulk_1", "Bulk-1", "bulk--1")
    flows = "".join(f'\n[[flow]]\nname = "{name}"\ncontroller = "cubic"\ndownload = "200 kB"\n' for name in names)
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO.partition("[[flow]]")[0] + flows, encoding="utf-8")
    rates = ["5 Mbps", "20 Mbps"]
    result = Sweep(str(file), {"path.rate": rates, "path.rtt": ["20 ms", "60 ms"]}, trials=6).run(tmp_path / "out")
    for name in names:
        svg = tmp_path / "figure.svg"
        metric = f"flow.{name}.completion_s"
        assert main(["sweep", "report", str(tmp_path / "out"), "--metric", metric, "--plot", str(svg), "-q"]) == 0
        drawn = svg.read_text(encoding="utf-8")
        for mark, least in (("rect", 4), ("rule", 4), ("symbol", 4)):  # cells, intervals, points
            groups = re.findall(rf'class="mark-{mark} role-mark[^>]*>(.*?)</g>', drawn)
            assert sum(group.count("<path") + group.count("<line") for group in groups) >= least, (name, mark)
    assert len({field(f"flow.{name}") for name in (*result.rows.columns, *names)}) == len(result.rows.columns) + 4


def test_a_sweep_without_numbers_is_one_message(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "odd.py").write_text(
        "import thalweg\n\n\nclass Odd(thalweg.Controller):\n    def on_ack(self, event, path):\n        1 / 0\n",
        encoding="utf-8",
    )
    axes = {"path.rate": ["5 Mbps", "20 Mbps"], "controller.main": [str(tmp_path / "odd.py")]}
    Sweep(str(tmp_path / "short.toml"), axes, trials=2).run(tmp_path / "out")
    capsys.readouterr()
    for options in ([], ["--metric", "loss"], ["--plot", str(tmp_path / "figure.svg")]):
        assert main(["sweep", "report", str(tmp_path / "out"), *options]) == 2
        said = capsys.readouterr().err
        assert "no trial has numbers" in said
        assert said.count("\n") == 1


def test_a_page_says_which_points_it_leaves_out(folder: Path, tmp_path: Path) -> None:
    words = "with rate 5 Mbps, controller c4"
    only = ["--only", "path.rate=5 Mbps", "--only", "controller.main=c4", "-q"]
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    assert main(["sweep", "report", str(folder), *only, "--traces", "1", "--out", str(page)]) == 0
    assert f"<dd>5, only those {words}</dd>" in page.read_text(encoding="utf-8")
    assert "In figures of trials, drag to look closer" in page.read_text(encoding="utf-8")
    assert main(["sweep", "report", str(folder), *only, "--plot", str(figure)]) == 0
    assert ", rate 5 Mbps, controller c4</text>" in figure.read_text(encoding="utf-8")
