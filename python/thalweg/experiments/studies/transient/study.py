"""The study `transient`: how controllers react to steps of capacity, round-trip time and flow arrival.

The experiment is in `parameters.py`, the metric in `metric.py`, what is measured with it in `measure.py`, what it
is set against in `checks.py`.

Source: SIGCOMM 2021 poster, doi 10.1145/3472716.3472861.

>>> quick = Parameters(controllers=("bbr",), buffers=("40 packets",), duration="5 s")
>>> [(row["controller"], row["n"]) for row in STUDY.run(quick, trials=2).result.rows]
[('bbr', 2)]
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.experiments.studies.transient.as_coded import ToolAreas
from thalweg.experiments.studies.transient.checks import Areas, checks, findings
from thalweg.experiments.studies.transient.columns import COLUMNS, REACTION_COLUMNS
from thalweg.experiments.studies.transient.measure import (
    StepResponse,
    measure,
    ranked,
    reaction_table,
    row,
    runs,
)
from thalweg.experiments.studies.transient.parameters import PAPER, PRESETS, Cell, Parameters

if TYPE_CHECKING:
    pass

Cells = Mapping[Cell, list[StepResponse]]
"""For each cell, what followed each step."""


def _measure(parameters: Parameters, _: Cell, trials: CellTrials) -> list[StepResponse]:
    """What followed each step. Fits take their time as well."""
    outcomes = trials.outcomes()
    begin_s = time.process_time()
    measured = measure(parameters, runs(outcomes))
    trials.core_s += time.process_time() - begin_s
    return measured


def _rows(parameters: Parameters, cells: Cells) -> list[Row]:
    """One for each cell and step."""
    steps = parameters.all_steps
    return [
        row(cell, step.title, response)
        for cell, measured in cells.items()
        for step, response in zip(steps, measured, strict=True)
    ]


def _checks(parameters: Parameters, cells: Cells) -> list[Check]:
    """The checks of the poster, of the controllers that play its roles."""
    return checks(_areas(cells)) if parameters.is_published else []


def _findings(parameters: Parameters, cells: Cells) -> list[Finding]:
    """The same by other numbers, and with other controllers of a role."""
    if not parameters.is_published:
        return []
    return findings(_areas(cells), {cell: _of_first_step(measured) for cell, measured in cells.items()})


def _areas(cells: Cells) -> Areas:
    return {cell: ranked(measured[0].reactions) for cell, measured in cells.items()}


def _of_first_step(measured: list[StepResponse]) -> ToolAreas:
    coded = measured[0].as_coded
    assert coded is not None
    return coded


STUDY: Study[Parameters, Cell, list[StepResponse]] = Study(
    name="transient",
    title=TITLES["transient"],
    source=PAPER,
    presets=PRESETS,
    preset=Option(
        ("--preset",), "Set of parameters: paper, capacity, rtt, arrival, live; other options change it.", "NAME"
    ),
    trials=Option(("--trials", "-n"), "Trials of each cell [100; with --live 3].", least=1, most=SET_SIZE),
    columns=COLUMNS,
    legend="Medians of the trials.",
    scenario=Parameters.scenario,
    measure=_measure,
    rows=_rows,
    checks=_checks,
    findings=_findings,
    finding_columns={"by other numbers": "name", "measured": "measured", "here": "answer", "why": "reason"},
    samples=lambda measured: {
        f"area of step {number}": ranked(step.reactions) for number, step in enumerate(measured, 1)
    },
    stored=lambda finished: {
        "reactions": reaction_table(finished.parameters, finished.result.seed, finished.cells)
    },
    stored_columns={"reactions": REACTION_COLUMNS},
    reached=lambda finished: f"{len(finished.cells)} cells",
    page=page_of(__name__),
    extra="fits",
    traced=True,
    live_span_s=lambda parameters, trials: (parameters.live_span_s(trials), None),
)
