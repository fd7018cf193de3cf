"""Pictures of several results: every trial, the median and its interval, by criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from typing import Any as _Any

import polars as pl
import pytest

import thalweg
from drawings import drawn, vega_lite_schema
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.outcome import Outcomes
from thalweg.pages.figures import Figure, plot_comparison
from thalweg.pages.figures.comparison import MOST_PANELS
from thalweg.results.comparison.tables import labelled
from thalweg.results.suite_result import Store, SuiteResult

Make = Callable[..., Outcomes]
Capture = pytest.CaptureFixture[str]
NAN = float("nan")

jsonschema: _Any = import_module("jsonschema")  # altair brings it along, without types


def result(*outcomes: Outcomes) -> SuiteResult:
    return SuiteResult(None, "Made by hand", None, seed=1, outcomes=list(outcomes))


def played_by(controller: str, outcomes: Outcomes) -> Outcomes:
    """The outcomes, as if this controller had played."""
    flows = [{**flow, "controller": controller} for flow in outcomes.scenario.flows]
    return replace(outcomes, scenario=replace(outcomes.scenario, flows=flows))  # type: ignore[arg-type]


def valid(figure: Figure) -> Figure:
    jsonschema.validate(figure.to_dict(), vega_lite_schema())
    return figure


def test_each_result_has_every_trial_its_median_and_interval(outcomes_of: Make) -> None:
    times: dict[str, list[float]] = {
        "c4": [2.0 + 0.01 * trial for trial in range(20)],
        "cubic": [3.0 + 0.02 * trial for trial in range(20)],
        "bbr": [*(4.0 + 0.03 * trial for trial in range(17)), NAN, NAN, NAN],
    }
    sides = {name: result(played_by(name, outcomes_of(of))) for name, of in times.items()}
    figure = valid(plot_comparison(sides))
    trials, medians = drawn(figure, "trials0"), drawn(figure, "medians0")
    labels = ["c4", "cubic", "bbr (3 without)"]
    assert trials["result"].unique(maintain_order=True).to_list() == labels
    for label, (name, of) in zip(labels, times.items(), strict=True):
        own = trials.filter(pl.col("result") == label)["value"].to_list()
        assert own == pytest.approx([time for time in of if not math.isnan(time)])
        (statistics,) = sides[name].outcomes[0].verdict().criteria
        (row,) = medians.filter(pl.col("result") == label).iter_rows(named=True)
        interval = statistics.median_interval
        ends = [interval.value, interval.low, interval.high]
        assert [row["value"], row["low"], row["high"]] == pytest.approx(ends)
    layers = figure.spec["vconcat"][0]["layer"]
    rules = [layer["data"]["values"][0]["value"] for layer in layers if "strokeDash" in layer["mark"]]
    assert rules == [5.0, 4.0]  # the target and the floor of trials made by hand
    assert figure.notes == {"dashed": "a target", "dotted": "the floor, the least that the path allows"}
    assert figure.description == (
        "A hand-made scenario: c4, cubic, bbr. hand-made, main completion: c4 2.095 s, cubic 3.19 s, bbr 4.285 s."
    )


def test_a_median_without_an_interval_is_a_dot_and_one_that_did_not_finish_is_nothing(outcomes_of: Make) -> None:
    sides = {"few": result(outcomes_of([2.0, 2.1])), "never": result(outcomes_of([NAN] * 9))}
    rows = drawn(valid(plot_comparison(sides)), "medians0").rows(named=True)
    assert rows[0] == {"result": "few", "value": 2.05, "low": None, "high": None}
    assert rows[1]["value"] is None


def test_scenarios_and_metrics_choose_what_is_drawn(outcomes_of: Make) -> None:
    more = [
        {"flow": "main", "metric": "completion", "at_most": 3.0, "unit": "s", "informative": True, "source": None}
    ]
    sides = {
        label: result(*(outcomes_of([2.0] * 8, name=name, more_criteria=more) for name in ("a", "b", "c")))
        for label in ("one", "two")
    }
    assert [panel["title"]["text"] for panel in plot_comparison(sides).spec["vconcat"]] == ["a", "b", "c"]
    assert len(plot_comparison(sides, only=["a", "c"]).spec["vconcat"]) == 2
    assert len(plot_comparison(sides, metrics=["completion"]).spec["vconcat"]) == 3
    for only, metrics, said in (
        (["d*"], None, "--only 'd\\*' matches no scenario"),
        (None, ["complection"], "--metric 'complection': no result has it; did you mean completion"),
    ):
        with pytest.raises(RequestError, match=said):
            plot_comparison(sides, only, metrics)
    many = {label: result(*(outcomes_of([2.0], name=f"s{n}") for n in range(MOST_PANELS + 1))) for label in "xy"}
    with pytest.raises(RequestError, match=f"{MOST_PANELS + 1} criteria to draw; accepted: at most {MOST_PANELS}"):
        plot_comparison(many)


def test_labels_are_controllers_or_folders_or_letters_whichever_tell_results_apart(
    outcomes_of: Make, tmp_path: Path
) -> None:
    trials = outcomes_of([2.0] * 6)
    assert [*labelled([result(played_by(name, trials)) for name in ("c4", "bbr")])] == ["c4", "bbr"]
    stored = [SuiteResult.load(_stored(tmp_path / name, trials)) for name in ("before", "after")]
    assert [*labelled(stored)] == ["before", "after"]
    assert [*labelled([result(trials), result(trials)])] == ["A", "B"]
    assert [*labelled([result(trials)] * 2, ["x", "y"])] == ["x", "y"]
    with pytest.raises(RequestError, match="accepted: 2 different names"):
        labelled([result(trials)] * 2, ["x", "x"])


def test_python_compares_any_number_and_draws_them(outcomes_of: Make, tmp_path: Path) -> None:
    a, b, c = (outcomes_of([time + 0.01 * trial for trial in range(12)]) for time in (2.0, 2.5, 3.0))
    found = thalweg.compare(a, b, c, labels=["base", "slow", "slower"])
    assert found.table.columns == [
        "result",
        "scenario",
        "criterion",
        "unit",
        "a",
        "b",
        "difference",
        "low",
        "high",
        "change_share",
        "answer",
    ]
    assert found.table["result"].to_list() == ["slow", "slower"]
    # Every trial of b is 0.5 s after that of a with its seed, a quarter of its median of 2.055 s.
    assert found.table["difference"].to_list() == pytest.approx([0.5, 1.0])
    assert found.table["change_share"].to_list() == pytest.approx([0.5 / 2.055, 1.0 / 2.055])
    assert found.table["answer"].to_list() == ["worse"] * 2
    assert "slower" in repr(found)
    assert "slower" in found._repr_html_()
    assert drawn(found.plot(), "medians0")["result"].to_list() == ["base", "slow", "slower"]
    with pytest.raises(RequestError, match="only one result; accepted: two or more, the base first"):
        thalweg.compare(a)


def _stored(folder: Path, outcomes: Outcomes) -> str:
    made = SuiteResult("hand", "Made by hand", None, 1)
    with Store(folder, made, [outcomes.scenario], outcomes.n) as store:
        store.add(outcomes)
        store.finish()
    return str(folder)


@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.html", b"<!")]
)
def test_the_command_writes_a_picture_of_three_results_in_each_format(
    name: str, begins: bytes, outcomes_of: Make, tmp_path: Path, capsys: Capture
) -> None:
    times = {"one": 2.0, "two": 2.5, "three": 3.0}
    folders = [
        _stored(tmp_path / label, outcomes_of([time + 0.01 * trial for trial in range(8)]))
        for label, time in times.items()
    ]
    size: Sequence[str] = ["--size", "88mm", "--theme", "paper"] if name != "a.html" else []
    assert main(["compare", *folders, "--plot", str(tmp_path / name), *size, "--metric", "completion"]) == 0
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert f"wrote {tmp_path / name}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "a"], "--only requires --plot"),
        (["--metric", "a"], "--metric requires --plot"),
        (["--size", "88mm"], "--size requires --plot"),
        (["--plot", "a.gif"], "--plot a.gif: the name must end in one of"),
        (["--plot", "a.html", "--size", "88mm"], "--size cannot be combined with a page"),
        (["--plot", "a.png", "--metric", "speed"], "--metric 'speed': no result has it"),
    ],
)
def test_a_picture_that_cannot_be_is_refused(
    words: list[str], said: str, outcomes_of: Make, tmp_path: Path, capsys: Capture, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [_stored(tmp_path / name, outcomes_of([2.0] * 6)) for name in ("a", "b")]
    assert main(["compare", *folders, *words]) == 2
    assert said in capsys.readouterr().err
