"""The course of trials of wifi-compete: what is read off traces made by hand, and off one trial of each kind."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from pages.causes.exits import first_exit
from thalweg.engine.outcome import Trial
from thalweg_c4_history.course import Course, course, first_spike
from thalweg_c4_history.course_findings import NEEDED, course_findings
from thalweg_c4_history.figures import periods, plot_pair
from thalweg_c4_history.parameters import scenario
from thalweg_c4_history.published import COMPETITORS, VARIANTS

PAPER = Course(
    initial_peak_bytes=100e3,
    main_pig_war_s=8.0,
    background_pig_war_s=2.0,
    restart_s=8.0,
    spike_s=4.5,
    catch_up_s=7.0,
    thirds=(0.2, 0.5, 0.8),
    afterwards=0.3,
)


@pytest.fixture(scope="module")
def pair() -> Trial:
    return scenario("v2", "cubic").run(seed=2, trace=True)


def scattered(course: Course, count: int = 20) -> list[Course]:
    """Trials whose numbers scatter by 1 %."""
    return [
        replace(
            course,
            initial_peak_bytes=course.initial_peak_bytes * factor,
            main_pig_war_s=course.main_pig_war_s * factor,
            spike_s=course.spike_s * factor,
            catch_up_s=course.catch_up_s * factor,
            thirds=tuple(share * factor for share in course.thirds),
            afterwards=course.afterwards * factor,
        )
        for factor in np.linspace(0.99, 1.01, count)
    ]


def as_published() -> dict[tuple[str, str], list[Course]]:
    courses = {cell: scattered(PAPER) for cell in NEEDED}
    courses["v1", "cubic"] = scattered(replace(PAPER, initial_peak_bytes=30e3))
    courses["no-exit", "bbr"] = scattered(replace(PAPER, initial_peak_bytes=300e3))
    courses["v2", "cubic"] = scattered(replace(PAPER, spike_s=2.0))
    courses["v2", "c4"] = scattered(replace(PAPER, thirds=(0.6, 0.4, 0.45)))
    return courses


CLOSED = {("v1", "cubic"): np.linspace(9, 9.4, 20), ("v2", "cubic"): np.linspace(7, 7.4, 20)}


def test_courses_like_those_of_the_paper_confirm_all_its_statements() -> None:
    found = course_findings(CLOSED, as_published(), shared=True)
    assert len(found) == 10
    assert all(finding.holds for finding in found), [finding.name for finding in found if not finding.holds]


@pytest.mark.parametrize(
    ("cell", "changed", "name"),
    [
        (("v1", "cubic"), {"initial_peak_bytes": 120e3}, "against cubic, the initial spike of v1 is missing"),
        (("no-exit", "bbr"), {"initial_peak_bytes": 90e3}, "without exit on delay"),
        (("v1", "bbr"), {"main_pig_war_s": float("nan")}, "v1 against bbr goes into pig war"),
        (("v1", "bbr"), {"spike_s": 5.5}, "v1 against bbr has its first spike"),
        (("v1", "cubic"), {"catch_up_s": 3.0}, "v1 matches the window of cubic"),
        (("v2", "cubic"), {"spike_s": 3.0}, "v2 against cubic has a brief spike"),
        (("v2", "cubic"), {"thirds": (0.2, 0.5, 0.5)}, "v2 gets the larger share"),
        (("v2", "c4"), {"thirds": (0.1, 0.2, 0.3)}, "v2 shares with itself"),
        (("v1", "c4"), {"thirds": (0.4, 0.2, 0.2)}, "v1 against itself: the background dominates"),
        (("v1", "c4"), {"afterwards": 0.9}, "v1 against itself: the background dominates"),
    ],
)
def test_a_course_unlike_that_of_the_paper_is_found(
    cell: tuple[str, str], changed: dict[str, object], name: str
) -> None:
    courses = as_published()
    courses[cell] = [replace(course, **changed) for course in courses[cell]]  # type: ignore[arg-type]
    lost = [finding.name for finding in course_findings(CLOSED, courses, shared=False) if not finding.holds]
    assert len(lost) == 1
    assert lost[0].startswith(name)


def test_a_window_that_grows_slowly_has_no_spike_and_one_that_doubles_has() -> None:
    times = (np.arange(200) * 0.05).astype(np.float64)
    slow = (10 * 1.02 ** np.arange(200)).astype(
        np.float64
    )  # 1.02^20 in a second: 1.22 times the median of the second before
    assert np.isnan(first_spike(times, slow, 0.0))
    slow[120:] *= 2
    assert first_spike(times, slow, 0.0) == pytest.approx(6.0)


def test_the_course_of_a_pair_is_what_its_trace_shows(pair: Trial) -> None:
    assert pair.trace is not None
    found = course(pair)
    main = pair.trace.flows.filter(pl.col("flow") == "main")
    state = main["state"].to_list()
    index = next(at for at, name in enumerate(state) if name != "Initial")
    assert found.initial_peak_bytes == max(main["window_bytes"].to_list()[: index + 1])
    assert np.isnan(found.main_pig_war_s)
    # The thirds are of equal length, not of equal bytes: the share of the whole lies between their extremes.
    of_main = pair.flows.filter(pl.col("flow") == "main")
    assert min(found.thirds) < float(of_main["share"][0]) < max(found.thirds)
    assert np.isnan(found.afterwards)  # the background is not done when the main flow is


def test_a_flow_alone_has_no_thirds_and_nobody_to_catch_up_with() -> None:
    found = course(scenario("v1", "alone").run(seed=1, trace=True))
    assert np.isnan([*found.thirds, found.catch_up_s, found.afterwards]).all()
    assert found.initial_peak_bytes > 15_360  # the initial window


def test_every_cell_that_the_paper_speaks_of_is_one_of_the_study() -> None:
    assert all(variant in VARIANTS and competitor in COMPETITORS for variant, competitor in NEEDED)


def test_marks_begin_when_a_flag_rises_and_end_when_it_falls_or_with_the_trial() -> None:
    values = [(1.0, "pig_war", 0.0), (2.0, "pig_war", 1.0), (3.0, "pig_war", 0.0), (4.0, "chaotic", 1.0)]
    table = pl.DataFrame(values, schema=["time_s", "variable", "value"], orient="row").with_columns(
        flow=pl.lit("main")
    )
    assert periods(table, 9.0).rows() == [("pig war (main)", 2.0, 3.0), ("chaotic (main)", 4.0, 9.0)]


def test_the_figure_of_a_pair_has_the_maximum_window_and_the_marks(pair: Trial) -> None:
    drawn = plot_pair(pair, "v2 against cubic", 10e6).to_json()
    assert "maximum window (main)" in drawn
    assert "chaotic (main)" in drawn


@pytest.mark.parametrize(
    ("excess", "eras", "losses", "cause"),
    [
        (0.0, 2, [0.1, 0.1], "no growth"),
        (0.02, 1, [0.1, 0.1], "delay"),
        (0.02, 2, [0.1, 0.1], "delay or no growth"),
        (0.02, 0, [0.1, 0.2], "loss"),
        (0.0, 2, [0.1, 0.2], "loss"),
        (0.02, 1, [0.1, 0.2], "delay"),  # the delay of an ACK frame is looked at first
    ],
)
def test_the_first_exit_from_initial_has_the_cause_that_is_looked_at_first(
    excess: float, eras: int, losses: list[float], cause: str
) -> None:
    flows = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 2.0, 3.0],
            "flow": ["main"] * 4,
            "state": ["Initial", "Initial", "Recovery", "Initial"],
        }
    )
    shown = [
        (1.0, "no_inc", float(eras)),
        (1.0, "loss_rate", losses[0]),
        (2.0, "delay_excess", excess),
        (2.0, "loss_rate", losses[1]),
        (2.0, "no_inc", 0.0),  # leaving Initial counts anew
        (3.0, "delay_excess", 1.0),
    ]
    variables = pl.DataFrame(shown, schema=["time_s", "variable", "value"], orient="row")
    trace = SimpleNamespace(flows=flows, variables=variables.with_columns(pl.lit("main").alias("flow")))
    assert first_exit(cast(Any, SimpleNamespace(trace=trace))) == cause


def test_a_flow_that_stays_in_initial_has_no_exit() -> None:
    flows = pl.DataFrame({"time_s": [0.0], "flow": ["main"], "state": ["Initial"]})
    assert first_exit(cast(Any, SimpleNamespace(trace=SimpleNamespace(flows=flows)))) is None
