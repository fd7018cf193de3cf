"""The study `laws`: its columns, its run, its checks and its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.laws import utilisation
from thalweg.experiments.studies.laws.checks import checks, findings, quantity_text
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity
from thalweg.experiments.studies.laws.parameters import PRESETS, Parameters
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, Study
from thalweg.experiments.studies.runner.table import Column, Table, number, whole_table

if TYPE_CHECKING:
    from thalweg.experiments.studies.runner.page import Page


def _text(row: Row, key: str) -> str:
    return "-" if row[key] is None else quantity_text(number(row, key), str(row["unit"]))


def _bounds(row: Row, key: str) -> str:
    bounds = f"{_text(row, key)} to {_text(row, 'at_most')}"
    for ending in (" ms", " s"):
        if bounds.count(ending) == 2:
            bounds = bounds.replace(ending, "", 1)
    return bounds


COLUMNS = (
    Column("law", "law", kind=str),
    Column("controller", "of", kind=str, meaning="controller or queue discipline"),
    Column("stack", "stack", kind=str),
    Column("case", "case", kind=str),
    Column(
        "at_least",
        "bounds",
        meaning="what the law and its assumptions allow; a check holds if the whole interval of the mean lies "
        "within, in every case of the law. experiment.json has clause, arithmetic and interval of each line",
        format=_bounds,
    ),
    Column("measured", "measured", format=_text),
    Column("source", kind=str, meaning="document and clause"),
    Column("unit", kind=str, meaning="of the number and its bounds"),
    Column("n", kind=int, meaning="trials"),
    Column("expected", meaning="what the law says"),
    Column("at_most", meaning="upper bound"),
    Column("measured_low", meaning="interval of 95 %, or of all trials"),
    Column("measured_high", meaning="interval of 95 %, or of all trials"),
    Column("arithmetic", kind=str, meaning="how number and bounds come out of the document"),
    Column("judged", kind=int, meaning="0 where the law does not claim to hold"),
    Column("reason", kind=str, meaning="why it does not"),
)


def _printed(result: StudyResult) -> list[Table]:
    """All numbers, narrow enough for 80 columns; the utilisation has a separate table."""
    others = [row for row in result.rows if row["law"] != utilisation.LAW]
    use = use_table(result)
    return [whole_table(COLUMNS, others), *([use] if use.lines else [])]


def use_table(result: StudyResult) -> Table:
    """The utilisation: one line for each path and stack, a column for each controller."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in result.rows:
        if row["law"] == utilisation.LAW:
            found.setdefault((str(row["case"]), str(row["stack"])), {})[str(row["controller"])] = row
    controllers = list(dict.fromkeys(name for line in found.values() for name in line))

    def use(row: Row | None) -> str:
        return "-" if row is None else quantity_text(number(row, "measured"), "%")

    lines = [[*path, *(use(line.get(name)) for name in controllers)] for path, line in found.items()]
    return Table(["utilisation", "stack", *controllers], lines, 2)


def _all(cells: Mapping[Experiment, list[Quantity]]) -> list[Quantity]:
    return [quantity for quantities in cells.values() for quantity in quantities]


def _page(finished: Finished[Parameters, Experiment, list[Quantity]]) -> Page:
    from thalweg.experiments.studies.laws import figures  # noqa: PLC0415 - altair takes half a second to load

    return figures.page(finished.result, _all(finished.cells))


STUDY: Study[Parameters, Experiment, list[Quantity]] = Study(
    name="laws",
    title=TITLES["laws"],
    source="RFC 8033, 8289, 8290, 9002, 9332, 9438; draft-ietf-ccwg-bbr-06",
    presets=PRESETS,
    preset=Option(("--preset",), "quick, full, or complete: every path of the grid.", "NAME"),
    trials=Option(("--trials", "-n"), "Trials of each case [6, of windows 10].", least=1, most=1000),
    with_trials=lambda parameters, trials: replace(parameters, trials=trials, window_trials=trials),
    trials_of=lambda experiment, _: experiment.trials,
    columns=COLUMNS,
    legend="Means of the trials.",
    printed=_printed,
    scenario=Parameters.scenario,
    measure=lambda _, experiment, trials: experiment.measure(trials),
    rows=lambda _, cells: [quantity.row() for quantity in _all(cells)],
    announcements=Parameters.notes,
    notes=lambda parameters, _: parameters.notes(),
    checks=lambda _, cells: checks(_all(cells)),
    findings=lambda _, cells: findings(_all(cells)),
    finding_columns={
        "shown, not judged": "name",
        "allowed": "published",
        "measured": "measured",
        "reason": "reason",
    },
    finding_words=1,
    samples=lambda quantities: {
        f"{of.law}, {of.controller}, {of.stack}, {of.case}": of.values for of in quantities
    },
    reached=lambda finished: f"{len(finished.cells)} experiments",
    page=_page,
)
