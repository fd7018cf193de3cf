"""The study `wifi-compete`: early versions of C4 alone and against others on bad Wi-Fi.

The experiment is in `parameters.py`, what is measured in `measure.py` and `course.py`, what it is set against in
`published.py`, `checks.py`, `findings.py` and `course_findings.py`.

Source: "Handling of competition with Wi-Fi jitter" (C4 repository, commit ffec621, 2025).

>>> len(STUDY.run(Parameters(), trials=2).result.rows)
20
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thalweg.base.quantity import text
from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.runner.folder import with_cells
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Check, Finding, Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.table import Column, number, percentage
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values
from thalweg_c4_history.checks import checks
from thalweg_c4_history.course import TRACED, Course, courses
from thalweg_c4_history.course_findings import NEEDED, course_findings
from thalweg_c4_history.findings import findings
from thalweg_c4_history.measure import (
    PairTrials,
    ends,
    flow_column,
    main_column,
    row,
)
from thalweg_c4_history.parameters import BACKGROUND, Cell, Parameters
from thalweg_c4_history.published import ACCEPTANCE, ALONE, PAPER, SHARED_MEDIAN_S

if TYPE_CHECKING:
    pass

Cells = Mapping[Cell, PairTrials]
COLUMNS = (
    Column("variant", "variant", kind=str),
    Column("competitor", "against", kind=str),
    Column("n", "n", kind=int),
    *(Column(f"{name}_s", name, "s") for name in ("min", "median", "mean", "sd", "p90", "worst")),
    Column(
        "published_median_s", "published median", "s", "Published: of the re-measurement; ratios: ours over it"
    ),
    *(Column(f"published_{name}_s", f"published {name}", "s") for name in ("mean", "p90")),
    Column("median_ratio", "ratio of medians"),
    Column("mean_ratio", "ratio of means"),
    Column("p90_ratio", "ratio of p90"),
    Column("slowdown", "slowdown", meaning="the duration of the median trial over the duration alone"),
    Column(
        "share",
        "share",
        "share",
        "what the main flow got of all that was delivered while both flows were active, mean of the trials",
        format=percentage,
    ),
    Column(
        "background_mb",
        "background",
        "MB",
        "what the other flow had got when the main flow closed, of 10 MB",
        format=lambda row, key: text(number(row, key) * 1e6, "B", 3),
    ),
    Column("controller", kind=str, meaning="of the variant"),
)


def _measure(_: Parameters, cell: Cell, trials: CellTrials) -> PairTrials:
    """All trials, and the course of the first ones where the paper speaks of it."""
    outcomes = trials.outcomes()
    return PairTrials(outcomes, ends(outcomes), courses(trials) if cell in NEEDED else [])


def _rows(parameters: Parameters, cells: Cells) -> list[Row]:
    alone = {cell.variant: kept.closed for cell, kept in cells.items() if cell.competitor == ALONE}
    medians = {variant: float(np.median(closed)) for variant, closed in alone.items()}
    return [
        row(
            cell,
            kept.closed,
            main_column(kept.outcomes, "share"),
            flow_column(kept.outcomes, BACKGROUND, "bytes_delivered"),
            medians.get(cell.variant),
            SHARED_MEDIAN_S.get(cell) if parameters.shared_jitter else ACCEPTANCE.get(cell),
        )
        for cell, kept in cells.items()
    ]


def _checks(parameters: Parameters, cells: Cells) -> list[Check]:
    """What was measured with random seeds binds an experiment with random seeds."""
    return [] if parameters.shared_jitter else checks(_closed(cells))


def _findings(parameters: Parameters, cells: Cells) -> list[Finding]:
    """What the paper says about end times, shares and courses."""
    closed, shared = _closed(cells), parameters.shared_jitter
    shares: dict[tuple[str, str], Values] = {
        cell: main_column(kept.outcomes, "share") for cell, kept in cells.items()
    }
    of_cells: dict[tuple[str, str], list[Course]] = {
        cell: kept.courses for cell, kept in cells.items() if cell in NEEDED
    }
    return [*findings(closed, shares, shared), *course_findings(closed, of_cells, shared)]


def _closed(cells: Cells) -> dict[tuple[str, str], Values]:
    """When the main flow closed in each trial."""
    return {cell: kept.closed for cell, kept in cells.items()}


STUDY: Study[Parameters, Cell, PairTrials] = Study(
    name="wifi-compete",
    title=TITLES["wifi-compete"],
    source=PAPER,
    presets={"random-jitter": Parameters()},
    preset_of=lambda parameters: "shared-jitter" if parameters.shared_jitter else "random-jitter",
    trials=Option(("--trials", "-n"), "Trials of each row [1000].", least=2, most=SET_SIZE),
    again=lambda cell, trials: min(trials, TRACED) if cell in NEEDED else 0,
    columns=COLUMNS,
    legend="Times are when the main flow has closed, from the start of the trial; in a pair it starts at 1 s.",
    scenario=Parameters.scenario,
    measure=_measure,
    rows=_rows,
    checks=_checks,
    findings=_findings,
    finding_columns={"the paper says": "name", "published": "published", "measured": "measured", "here": "answer"},
    samples=lambda kept: {"closed_s": kept.closed},
    stored=lambda finished: {
        "flows": with_cells(
            {cell: kept.outcomes.flows for cell, kept in finished.cells.items()}, lambda cell: cell._asdict()
        )
    },
    stored_columns={"flows": COLUMNS[:2]},
    page=page_of(__name__),
)
