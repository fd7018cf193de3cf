"""What the strips of each study show: the trials of its rows, in their order, against what they are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg.experiments.studies.harm.parameters import Parameters as HarmParameters
from thalweg.experiments.studies.harm.study import STUDY as HARM
from thalweg.experiments.studies.laws.experiment import Quantity
from thalweg.experiments.studies.laws.figures import strips as strips_of_laws
from thalweg.experiments.studies.laws.parameters import Parameters as LawsParameters
from thalweg.experiments.studies.laws.study import STUDY as LAWS
from thalweg.experiments.studies.runner.study import Finished
from thalweg.experiments.studies.slow_start.figures import strips as strips_of_slow_start
from thalweg.experiments.studies.slow_start.parameters import Cell as Start
from thalweg.experiments.studies.slow_start.parameters import Parameters as SlowStartParameters
from thalweg.experiments.studies.slow_start.study import STUDY as SLOW_START
from thalweg.experiments.studies.stacks.measure import together
from thalweg.experiments.studies.stacks.parameters import Parameters as StacksParameters
from thalweg.experiments.studies.stacks.study import STUDY as STACKS
from thalweg.experiments.studies.transient.figures import strips as strips_of_transient
from thalweg.experiments.studies.transient.measure import ranked
from thalweg.experiments.studies.transient.parameters import Parameters as TransientParameters
from thalweg.experiments.studies.transient.study import STUDY as TRANSIENT
from thalweg.pages.report.strip import Strip
from thalweg_c4_history.figures import strips as strips_of_wifi
from thalweg_c4_history.measure import PairTrials
from thalweg_c4_history.parameters import Cell as Pair
from thalweg_c4_history.parameters import Parameters as WifiParameters


def shown(page: Path) -> int:
    """The number of strips on a page."""
    return page.read_text(encoding="utf-8").count('<svg class="strip"')


def rows_of(finished: Finished[Any, Any, Any]) -> Sequence[Sequence[Strip]]:
    """The strips of the rows of a study."""
    strips = finished.page.strips
    assert strips is not None
    return strips.rows


def test_harm_shows_each_replication_and_nothing_for_flows_alone(tmp_path: Path) -> None:
    quick = HarmParameters(
        rtts=("20 ms",), queue="drop-tail", competitors=("reno", "cubic"), count=20, head_start="1 s"
    )
    finished = HARM.run(quick, trials=3)
    rows = rows_of(finished)
    assert [len(row) for row in rows] == [0, 1, 1]
    alone, *others = (kept.trials.values["geomean"] for kept in finished.cells.values())
    for (strip,), times in zip(rows[1:], others, strict=True):
        assert strip.values == pytest.approx((times - alone) / times)
        assert (strip.at_least, strip.scale) == (0.0, rows[1][0].scale)
    assert rows[1][0].scale is not None
    assert rows[1][0].scale[1] == 1
    finished.save(tmp_path / "harm")
    assert shown(tmp_path / "harm" / "report.html") == 2


def law(*values: float, **other: object) -> Quantity:
    one = Quantity("window", "a clause", "reno", "model", "1 %", 1.0, 0.9, 1.1, "", "", np.array(values))
    return replace(one, **other)  # type: ignore[arg-type]


def test_laws_paint_single_trials_only_where_the_law_is_about_every_trial() -> None:
    laws = [law(1.0, 1.2), law(1.0, 1.2, always=True), law(1.0, 1.2, always=True, judged=False)]
    rows = [strip for (strip,) in strips_of_laws(laws).rows]
    assert [(strip.at_least, strip.at_most) for strip in rows] == [(0.9, 1.1)] * 3
    assert ['class="over"' in strip.markup for strip in rows] == [False, True, False]


@pytest.mark.parametrize(
    ("unit", "says"), [("%", "median 50 %"), ("s", "median 500 ms"), ("packets", "median 0.5,")]
)
def test_laws_are_told_in_the_unit_of_their_table(unit: str, says: str) -> None:
    ((strip,),) = strips_of_laws([law(0.5, unit=unit)]).rows
    assert says in strip.markup


def test_laws_have_a_strip_for_each_row(tmp_path: Path) -> None:
    some = LawsParameters(("reno",), ("model",), points=((10e6, 0.01),), windows={"model": ()}, trace_stacks=())
    finished = LAWS.run(some, trials=2)
    finished.save(tmp_path / "laws")
    assert shown(tmp_path / "laws" / "report.html") == len(finished.result.rows) > 0


def test_stacks_show_all_of_them_on_one_scale_against_target_and_floor(tmp_path: Path) -> None:
    finished = STACKS.run(StacksParameters(names=("simple-20mbps", "media-10mbps")), trials=2)
    rows = rows_of(finished)
    for row, compared in zip(rows, together(finished.cells), strict=True):
        criterion = compared.scenario.criteria[0]
        assert [strip.of for strip in row] == ["model", "wide", "quic"]
        assert len({strip.scale for strip in row}) == 1
        for strip in row:
            assert strip.values.tolist() == compared.values[strip.of].tolist()
            assert (strip.at_most, strip.floor) == (criterion["at_most"], criterion["floor"])
            assert f"{strip.of}: 2 trials" in strip.markup
    # 10 MB at 20 Mbps take 4 s; with headers, handshake and the way of the last packet a little more.
    assert rows[0][0].floor == pytest.approx(4.34, abs=0.01)
    finished.save(tmp_path / "stacks")
    assert shown(tmp_path / "stacks" / "report.html") == 6


def test_slow_starts_paint_late_and_early_trials_as_the_columns_count_them() -> None:
    some = SlowStartParameters(
        ("classic", "hystart"),
        rates=("20 Mbps",),
        rtts=("40 ms",),
        buffers_bdp=(1.0, 8.0),
        jitters=("0 ms",),
        applications=(0.0,),
        phases=2,
    )
    finished = SLOW_START.run(some, trials=1)
    rows = rows_of(finished)
    assert len(rows) == len(finished.result.rows) == 4
    for (reached, left), row in zip(rows, finished.result.rows, strict=True):
        assert reached.at_most is not None
        assert reached.at_most == 1 + float(row["buffer_bdp"] or 0)
        assert left.at_least == 1
        assert np.mean(reached.values > reached.at_most) == row["late"]
        assert np.mean(left.values < left.at_least) == row["early"]
    # The rows of a path have one scale, which those of another need not have.
    scales = [[strip.scale for strip in row] for row in rows]
    assert scales[0] == scales[1] != scales[2] == scales[3]


def test_a_start_that_is_never_left_has_no_line_for_it() -> None:
    cell = Start("cubic", "classic", "20 Mbps", "40 ms", 1.0, "0 ms", 0.0)
    measured = {"reached_of_pipe": np.array([3.0]), "left_of_pipe": np.array([np.nan])}
    ((reached, left),) = strips_of_slow_start({cell: measured}).rows
    assert 'class="over"' in reached.markup
    assert "left: 1 trial, path holds 1 BDP, 1 without a line" in left.markup


def test_transient_shows_the_areas_of_the_trials_that_converged() -> None:
    quick = TransientParameters(controllers=("bbr", "cubic"), buffers=("40 packets",), duration="5 s")
    finished = TRANSIENT.run(quick, trials=3)
    (bbr,), (cubic,) = rows_of(finished)
    steps = list(finished.cells.values())
    assert bbr.values.tolist() == ranked(steps[0][0].reactions).tolist()
    assert bbr.scale == cubic.scale
    assert bbr.scale is not None
    assert bbr.scale[0] == 0
    reactions = replace(steps[0][0].reactions, converged=np.array([True, False, False]))
    none = {cell: [replace(step[0], reactions=reactions)] for cell, step in finished.cells.items()}
    ((one,), _) = strips_of_transient(quick, none).rows
    assert "3 trials" in one.markup
    assert "2 without a line" in one.markup


def test_bad_wifi_is_set_against_the_published_median_where_there_is_one() -> None:
    chosen = (Pair("v1", "alone"), Pair("v1", "cubic"), Pair("current", "alone"))
    quick = WifiParameters()
    outcomes = {cell: quick.scenario(cell).trials(2, 1) for cell in chosen}
    closed = np.array([5.0, np.inf])
    rows = strips_of_wifi(quick, {cell: PairTrials(of, closed, []) for cell, of in outcomes.items()}).rows
    alone, pair, current = (strip for (strip,) in rows)
    assert (alone.at_most, pair.at_most, current.at_most) == (9.3, 11.8, None)
    shared = strips_of_wifi(
        WifiParameters(shared_jitter=True), {chosen[0]: PairTrials(outcomes[chosen[0]], closed, [])}
    )
    assert shared.rows[0][0].at_most == 5.31
    # 4 MB at 10 Mbps take 3.2 s; in a pair the flow starts a second later.
    assert alone.floor == pytest.approx(3.28, abs=0.01)
    assert pair.floor == pytest.approx(4.28, abs=0.01)
    assert all(isinstance(strip, Strip) and strip.scale == (0.0, 5.0) for strip in (alone, pair, current))
    assert "published median 9.3 s, 1 without a line" in alone.markup
    assert "published" not in current.markup
