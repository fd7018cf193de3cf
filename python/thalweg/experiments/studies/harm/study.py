"""The study `harm`: the effect of a competitor on short flows.

Each cell of the experiment (`parameters.py`) is run with the same seeds, so that its short flows arrive at the
same times with the same lengths as those that are alone. Metric and formulas are in `metric.py`, what is measured
and how rows come of it in `measure.py`. The preset `ccafct` is set against what is published.

Source: ccafct (github.com/heistp/ccafct) for the experiment, Ware et al. for harm.

>>> quick = Parameters(rtts=("20 ms",), queue="drop-tail", competitors=("reno",), count=20, head_start="1 s")
>>> [(row["competitor"], row["unfinished"]) for row in STUDY.run(quick, trials=2).result.rows]
[(None, 0), ('reno', 0)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from thalweg.base.quantity import text
from thalweg.base.seeds import SET_SIZE
from thalweg.engine.outcome import Outcomes
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.harm.blocks import parameter_blocks
from thalweg.experiments.studies.harm.checks import checks, findings
from thalweg.experiments.studies.harm.measure import (
    COMPLETION,
    MEASURES,
    OTHERS,
    Measure,
    Trials,
    measure,
    notes,
    row,
)
from thalweg.experiments.studies.harm.parameters import PRESETS, Cell, Parameters
from thalweg.experiments.studies.harm.published import CCAFCT
from thalweg.experiments.studies.runner.folder import with_cells
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Finished, Study
from thalweg.experiments.studies.runner.table import Column, number
from thalweg.experiments.studies.runner.trials import CellTrials

if TYPE_CHECKING:
    import polars as pl

    from thalweg.experiments.studies.runner.page import Page


class CellOutcomes(NamedTuple):
    """What is kept of a cell."""

    trials: Trials
    outcomes: Outcomes


Cells = Mapping[Cell, CellOutcomes]


def _with_interval(row: Row, key: str, sign: str = "") -> str:
    """A harm and half of its interval, which a single replication does not have."""
    value, low, high = (row.get(name) for name in (key, f"{key}_low", f"{key}_high"))
    if value is None:
        return "-"
    harm = f"{float(value):{sign}.3f}"
    return harm if low is None or high is None else f"{harm} ±{(float(high) - float(low)) / 2:.2f}"


def _beyond_itself(row: Row, key: str) -> str:
    return "-" if row["competitor"] == row["controller"] else _with_interval(row, key, "+")


def _share(row: Row, key: str) -> str:
    return text(100 * number(row, key), "%", 2)


def _published(row: Row, key: str) -> str:
    return "-" if row.get(key) is None else f"{number(row, key):.3f}"


def _completion(measure: Measure) -> Iterator[Column]:
    is_first = measure is COMPLETION[0]
    yield Column(measure.column, measure.title, measure.unit, digits=4)
    yield Column(f"{measure.name}_harm", "harm", format=_with_interval)
    meaning = "harm as ccafct printed it" if is_first else ""
    yield Column(f"published_{measure.name}_harm", "published", meaning=meaning, format=_published)


def _other(measure: Measure) -> Iterator[Column]:
    meaning = "packets dropped, of those that short flows sent" if measure.name == "loss" else ""
    form = None if measure.unit else _share
    yield Column(measure.column, measure.title, measure.unit or "share", meaning, format=form, table=1)
    yield Column(f"{measure.name}_harm", "harm", format=_with_interval, table=1)


def _in_documents(measure: Measure) -> Iterator[Column]:
    interval = "interval of 95 %, of a row with a competitor"
    for end in ("low", "high"):
        yield Column(f"{measure.name}_harm_{end}", meaning=interval)
    if not measure.more_is_better:
        yield Column(f"{measure.name}_excess", meaning="(competing - solo) / solo, of a row with a competitor")
    for end in ("", "_low", "_high"):
        if end or measure is not COMPLETION[0]:
            meaning = interval if end else "harm above what the short flows' own controller does"
            yield Column(f"{measure.name}_beyond_itself{end}", meaning=meaning)
    if measure in COMPLETION:
        yield Column(f"published_{measure.column}", unit=measure.unit, meaning="as ccafct printed it")


COLUMNS = (
    Column("rtt_path_s", "RTT", "s", digits=4),
    Column("controller", "short flows", kind=str),
    Column("competitor", "against", kind=str, format=lambda row, key: str(row[key] or "-")),
    *(column for measure in COMPLETION for column in _completion(measure)),
    Column(
        "geomean_beyond_itself",
        "beyond itself",
        meaning="harm to the geometric mean above the harm that the short flows' own controller does",
        format=_beyond_itself,
    ),
    Column(
        "unfinished",
        "unfinished",
        kind=int,
        meaning="short flows that the time limit cut off: infinite in the median and P95, and counted with the "
        "time that they were there in the geometric mean and the throughput",
        format=lambda row, key: f"{row[key]} of {row['requests']}",
    ),
    *(column for measure in OTHERS for column in _other(measure)),
    Column("competitor_bps", "competitor", "bps", "its rate while there were short flows", table=1),
    Column("replications", kind=int),
    Column("requests", kind=int, meaning="short flows of all replications"),
    *(column for measure in MEASURES for column in _in_documents(measure)),
)
_KEYS = (
    Column("rtt_path_s", unit="s", meaning="round-trip time of the cell"),
    Column("short_controller", kind=str, meaning="controller of the short flows"),
    Column("competitor", kind=str, meaning="controller of the long flow"),
)
"""Keys of the tables of flows and requests, before the columns of outcomes."""


def _of_trials(cells: Cells) -> dict[Cell, Trials]:
    return {cell: kept.trials for cell, kept in cells.items()}


def _stored(finished: Finished[Parameters, Cell, CellOutcomes]) -> dict[str, pl.DataFrame]:
    """Every short flow of every replication; the short flows together and the competitor of every replication."""

    def names(cell: Cell) -> dict[str, str | float | None]:
        return {"rtt_path_s": cell.rtt_s, "short_controller": cell.controller, "competitor": cell.competitor}

    outcomes = {cell: kept.outcomes for cell, kept in finished.cells.items()}
    return {
        "requests": with_cells({cell: of.requests for cell, of in outcomes.items()}, names),
        "flows": with_cells({cell: of.flows for cell, of in outcomes.items()}, names),
    }


def _measure(_parameters: Parameters, _cell: Cell, trials: CellTrials) -> CellOutcomes:
    outcomes = trials.outcomes()
    return CellOutcomes(measure(outcomes), outcomes)


def _page(finished: Finished[Parameters, Cell, CellOutcomes]) -> Page:
    from thalweg.experiments.studies.harm import figures  # noqa: PLC0415 - altair takes half a second to load

    trials, outcomes = _of_trials(finished.cells), {cell: kept.outcomes for cell, kept in finished.cells.items()}
    return figures.page(finished.result, trials, outcomes)


STUDY: Study[Parameters, Cell, CellOutcomes] = Study(
    name="harm",
    title=TITLES["harm"],
    source=CCAFCT,
    presets=PRESETS,
    preset=Option(("--preset",), "Set of parameters: ccafct, ccafct-test, live; other options change it.", "NAME"),
    trials=Option(
        ("--replications", "-n"),
        "Replications of each row, on paired seeds [20; with --live 2].",
        least=1,
        most=SET_SIZE,
    ),
    columns=COLUMNS,
    legend="Times run from the nominal arrival of a short flow to its last byte, means of the replications. Harm "
    "is the part of a measure that the competitor is to blame for: (competing - solo) / competing, for throughput "
    "(solo - competing) / solo; 0 is none, 1 is all, less than 0 a benefit. ±: interval of 95 % over replications "
    "paired by seed.",
    scenario=Parameters.scenario,
    measure=_measure,
    rows=lambda parameters, cells: [
        row(cell, _of_trials(cells), published=parameters.as_published) for cell in cells
    ],
    notes=lambda _, cells: notes(_of_trials(cells)),
    checks=lambda parameters, cells: checks(_of_trials(cells)) if parameters.is_published else [],
    findings=lambda parameters, cells: findings(_of_trials(cells)) if parameters.is_published else [],
    blocks=parameter_blocks,
    samples=lambda kept: {str(name): values for name, values in kept.trials.values.items()},
    stored=_stored,
    stored_columns={"requests": _KEYS, "flows": _KEYS},
    page=_page,
    live_span_s=Parameters.live_span_s,
)
