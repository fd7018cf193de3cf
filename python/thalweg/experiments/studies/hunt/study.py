"""The study `hunt`: worst cases of controllers, most of them published, found by searching and shipped.

Cases and their plans are in `parameters.py` and `plans/`, what is kept of hunts in `measure.py`, what is judged in
`checks.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.hunt.checks import checks, objective_text
from thalweg.experiments.studies.hunt.measure import CaseHunts, measure, row
from thalweg.experiments.studies.hunt.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.table import Column, formatted, number

if TYPE_CHECKING:
    pass


def _objective(row: Row, key: str) -> str:
    return objective_text(float(row[key] or 0.0), str(row["unit"]))


COLUMNS = (
    Column("case", "case", kind=str),
    Column("objective", "objective", kind=str),
    Column(
        "bound",
        "bound",
        meaning="from which value of the objective on the case counts as found",
        format=_objective,
    ),
    Column("baseline", "plan", meaning="the objective of the scenario that a hunt begins with", format=_objective),
    Column("found", "found", meaning="the worst of a hunt", format=_objective),
    Column(
        "reached",
        "reached",
        meaning="hunts that came to the bound",
        format=lambda row, _: f"{row['reached']} of {row['hunts']}",
    ),
    Column("scenarios", "scenarios", meaning="how many those tried until then", format=formatted(".0f")),
    Column(
        "numbers_found",
        "numbers",
        meaning="of the scenario as it was found, and as it shrank",
        format=lambda row, key: f"{number(row, key):.0f} to {number(row, 'numbers_shrunk'):.0f}",
    ),
    Column(
        "shipped",
        "shipped",
        meaning="the objective of the shipped scenario, the median of its trials",
        format=_objective,
    ),
    Column("unit", kind=str, meaning="of the objective; empty for a ratio"),
    Column("hunts", kind=int, meaning="hunts for the case"),
    Column("numbers_shrunk", meaning="numbers of the scenario as it shrank"),
    Column("n", kind=int, meaning="trials of the shipped scenario"),
)


def _work(parameters: Parameters, cell: Cell, trials: int) -> float:
    """Its hunts, and the trials of its shipped scenario."""
    plan = parameters.plan(cell, 1)
    return trials + parameters.hunts * plan.budget * plan.plan.trials


STUDY: Study[Parameters, Cell, CaseHunts] = Study(
    name="hunt",
    title=TITLES["hunt"],
    source="Hock et al., ICNP 2017; Arun et al., SIGCOMM 2022; Ray and Seshan, HotNets 2022; one case is ours",
    presets={"default": Parameters()},
    trials=Option(("--trials", "-n"), "Trials of the shipped scenario of each case [20].", least=1, most=SET_SIZE),
    columns=COLUMNS,
    legend="Medians over hunts with different search seeds.",
    scenario=Parameters.scenario,
    measure=measure,
    rows=lambda _, cells: [row(cell, measured) for cell, measured in cells.items()],
    checks=lambda _, cells: checks(cells),
    page=page_of(__name__),
    extra="hunt",
    has_shards=False,
    work=_work,
)
