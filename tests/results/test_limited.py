"""Why was it slow: a sentence for each flow that neither its window nor pacing limited."""

from __future__ import annotations

import polars as pl
import pytest

from thalweg import Scenario, Trial, plot_trial
from thalweg.judging.measures import LIMITS
from thalweg.pages.figures.limits import COLOURS, CONTROLLER, MEANINGS, spans
from thalweg.results.limited import WORDS, limits, unusual

PATH = 'title = "slow"\ntime_limit = "20 s"\n[path]\nrate = "200 Mbps"\nrtt = "250 ms"\nbuffer = "1 bdp"\n'
FLOW = '[[flow]]\nname = "main"\ncontroller = "cubic"\n'


def said(text: str) -> list[str]:
    return unusual(Scenario.from_toml(text, "slow").trials(2))


def limits_in_trace(text: str) -> set[str]:
    trace = Scenario.from_toml(text, "slow").run(trace=True).trace
    assert trace is not None
    return set(trace.flows["limited"].drop_nulls().to_list())


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('download = "100 MB"\nreceive_window = "1.9 MB"', "flow control"),
        ('download = "1 MB"\napp_rate = "1 Mbps"', "the application"),
        ('download = "100 B"', "the handshake"),
        ('download = "100 MB"', None),
        ('call = "5 s"', None),
    ],
)
def test_a_flow_that_the_path_does_not_limit_says_what_does(keys: str, expected: str | None) -> None:
    found = said(PATH + FLOW + keys)
    assert len(found) == (expected is not None)
    if expected:
        assert found[0].startswith(f"main was limited by {expected} ")
        assert " % of the time" in found[0]


def test_a_trace_has_the_limit_of_each_sample_and_a_real_stack_tells_none() -> None:
    text = PATH + FLOW + 'download = "2 MB"\nreceive_window = "100 kB"'
    names = set(LIMITS)
    assert {"handshake", "flow-control"} <= limits_in_trace(text) <= names
    real = text + '\nstack = "quic"'
    assert limits_in_trace(real) <= {""}
    assert list(limits(Scenario.from_toml(real, "slow").trials(2))) == []


def test_a_thousand_flows_have_a_few_sentences() -> None:
    text = PATH + "".join(
        f'[[flow]]\nname = "f{n}"\ncontroller = "cubic"\ndownload = "100 B"\n' for n in range(1000)
    )
    found = said(text)
    assert len(found) == 7
    assert found[-1] == "and 994 more flows"


def test_each_limit_has_words_a_colour_and_a_meaning() -> None:
    assert set(WORDS) == set(LIMITS)
    shown = {CONTROLLER if name in ("window", "pacing") else name for name in LIMITS}
    assert set(COLOURS) == shown <= set(MEANINGS)


def test_shares_are_of_the_whole_life() -> None:
    outcomes = Scenario.from_toml(PATH + FLOW + 'download = "20 MB"', "slow").trials(5)
    sums = outcomes.flows.select(pl.sum_horizontal(limit.column for limit in LIMITS.values())).to_series()
    assert sums.to_list() == pytest.approx([1.0] * 5)


def test_a_figure_has_a_ribbon_of_limits_where_more_than_the_controller_limits() -> None:
    slow = PATH + FLOW + 'download = "20 MB"\nreceive_window = "1 MB"'
    figure = plot_trial(Scenario.from_toml(slow, "slow").run(trace=True))
    (panel,) = (panel for panel in figure.spec["vconcat"] if panel["name"] == "limits")
    assert {"handshake", "flow-control"} <= set(panel["encoding"]["color"]["scale"]["domain"])
    shown = limits_over_time(Scenario.from_toml(slow, "slow").run(trace=True))
    # They follow one another without a gap, and the longest is what limits most.
    assert shown["until_s"].head(-1).to_list() == shown["time_s"].tail(-1).to_list()
    shown = shown.with_columns(length=pl.col("until_s") - pl.col("time_s"))
    longest = shown.group_by("limit").agg(pl.col("length").sum()).sort("length")["limit"].to_list()[-1]
    assert longest == "flow-control"
    bulk = Scenario.from_toml(PATH + FLOW + 'download = "100 MB"', "slow").run(trace=True)
    assert "limits" not in [panel["name"] for panel in plot_trial(bulk).spec["vconcat"]]


def limits_over_time(trial: Trial) -> pl.DataFrame:
    assert trial.trace is not None
    return spans(trial.trace.flows, trial.trace.flows["time_s"].to_numpy().max(), 300)
