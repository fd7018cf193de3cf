"""The study `stacks`: the scenarios of one flow on the modelled endpoint and on a real QUIC stack.

The experiment is in `parameters.py`, what is compared in `measure.py`, what is judged in `checks.py`.

Limits: what both stacks get wrong in the same way is not found. They share the code that measures delivery
rates; packets, acknowledgements, loss recovery, pacing and streams are each stack's own.

>>> done = STUDY.run(Parameters(names=("simple-20mbps",)), trials=6)
>>> done.result.rows[0]["scenario"], done.result.checks[0].holds
('simple-20mbps', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.table import Column, formatted, number_text
from thalweg.experiments.studies.stacks.checks import check
from thalweg.experiments.studies.stacks.measure import StackTrials, measure, row, together
from thalweg.experiments.studies.stacks.parameters import VARIANTS, Cell, Parameters

if TYPE_CHECKING:
    pass


def _value(row: Row, key: str) -> str:
    return number_text(row, key, str(row["unit"]))


def _range(row: Row, key: str) -> str:
    return f"{_value(row, key)} to {_value(row, key.replace('_p5', '_p95'))}"


COLUMNS = (
    Column("scenario", "scenario", kind=str),
    Column("controller", "controller", kind=str),
    Column("metric", "metric", kind=str),
    Column("jitter", "jitter", kind=str),
    Column(
        "model_median",
        "model",
        meaning="Model: the modelled endpoint as shipped; wide: with flow-control windows as wide as the "
        "QUIC stack; quic: the QUIC stack",
        format=_value,
    ),
    Column("wide_median", "model, wide", format=_value),
    Column("quic_median", "quic", format=_value),
    Column("model_p5", "p5 to p95 of model", format=_range),
    Column("quic_p5", "p5 to p95 of quic", format=_range),
    Column("quic_over_model", "quic over model", "share", format=formatted("+.1%")),
    Column(
        "quic_over_wide",
        "quic over wide",
        "share",
        "Differences are of medians; the last column is judged where the path has no jitter",
        format=formatted("+.1%"),
    ),
    Column("unit", kind=str, meaning="of medians and percentiles"),
    Column("judged", kind=int, meaning="1 where the path has no jitter"),
    Column("n", kind=int, meaning="trials"),
    Column("wide_p5", meaning="5th percentile"),
    *(Column(f"{variant}_p95", meaning="95th percentile") for variant in VARIANTS),
    Column("quic_over_wide_low", unit="share", meaning="interval of 95 %"),
    Column("quic_over_wide_high", unit="share", meaning="interval of 95 %"),
)


STUDY: Study[Parameters, Cell, StackTrials] = Study(
    name="stacks",
    title=TITLES["stacks"],
    source="cross-validation of the modelled endpoint; scenarios of draft-huitema-ccwg-c4-test",
    presets={"default": Parameters()},
    trials=Option(("--trials", "-n"), "Trials of each scenario [100].", least=1, most=SET_SIZE),
    columns=COLUMNS,
    legend="Medians of the trials of the first criterion of each scenario.",
    scenario=Parameters.scenario,
    measure=lambda _parameters, _cell, trials: measure(trials.outcomes()),
    rows=lambda _, cells: [row(compared) for compared in together(cells)],
    checks=lambda _, cells: [check(row) for row in map(row, together(cells)) if row["judged"]],
    samples=lambda measured: {"value": measured.values},
    page=page_of(__name__),
)
