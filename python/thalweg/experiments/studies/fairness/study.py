"""The study `fairness`: shares of a bottleneck, for all ordered pairs of controllers and many equal ones.

The metric is in `metric.py`, what is measured with it in `measure.py`, the experiment in `parameters.py`, what it
is set against in `checks.py`.

Sources: RFC 9743 sections 5.1.4 and 5.2 (what an evaluation has to show), RFC 8868 section 3, Jain et al. 1984.

>>> quick = Parameters(("cubic",), (1.0,), (1.0,), ("drop-tail",), flows=(3,), duration="20 s")
>>> [row["flows"] for row in STUDY.run(quick, trials=1).result.rows]
[2, 3]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.base.quantity import percent, text
from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.fairness.checks import checks
from thalweg.experiments.studies.fairness.measure import TrialNumbers, measure, notes, row
from thalweg.experiments.studies.fairness.parameters import Cell, Parameters
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.table import Column, formatted, number, percentage

if TYPE_CHECKING:
    pass


def _convergence(row: Row, key: str) -> str:
    converged = number(row, "converged")
    time = "never" if row[key] is None else text(number(row, key), "s", 3)
    return time if converged in (0.0, 1.0) else f"{time} ({percent(converged)})"


COLUMNS = (
    Column("first", "first", kind=str),
    Column("second", "second", kind=str),
    Column("queue", "queue", kind=str),
    Column("flows", "flows", kind=int),
    Column(
        "buffer_bdp",
        "buffer",
        meaning="multiples of rate times RTT of the first flow",
        format=lambda row, key: f"{number(row, key):g} BDP",
    ),
    Column(
        "rtt_ratio",
        "RTT",
        meaning="of the second flow over the first",
        format=lambda row, key: f"{number(row, key):g}x",
    ),
    Column(
        "first_of_fair",
        "first of fair",
        "share",
        "Of fair: rate over the max-min fair share, capacity over the number of flows",
        format=percentage,
    ),
    Column("second_of_fair", "second of fair", "share", format=percentage),
    Column("least_of_fair", "least", "share", "share of the flow with the least", format=percentage),
    Column("ratio", "ratio", meaning="the largest rate over the smallest", format=formatted(".2f")),
    Column(
        "jain_1s",
        "Jain 1 s",
        meaning="Jain: mean of Jain's index over bins of that length",
        format=formatted(".2f"),
    ),
    Column("jain_5s", "5 s", format=formatted(".2f")),
    Column("jain_20s", "20 s", format=formatted(".2f")),
    Column(
        "convergence_s",
        "converges",
        "s",
        "median time until Jain's index over bins of 1 s is at least 0.9 for 5 s; in brackets the share of trials "
        "in which it ever is",
        format=_convergence,
    ),
    Column("queue_delay_s", "queue delay", "s"),
    Column(
        "loss",
        "loss",
        "share",
        "packets that senders count as lost, of those that they sent",
        format=percentage,
    ),
    Column("utilisation", "utilisation", "share", format=percentage),
    Column("gap_s", unit="s", meaning="from the start of the first flow to the second"),
    Column("n", kind=int, meaning="trials"),
    Column("first_of_fair_low", unit="share", meaning="interval of 95 % of the mean"),
    Column("first_of_fair_high", unit="share", meaning="interval of 95 % of the mean"),
    Column("converged", unit="share", meaning="trials in which rates converge"),
)


STUDY: Study[Parameters, Cell, TrialNumbers] = Study(
    name="fairness",
    title=TITLES["fairness"],
    source="RFC 9743 sections 5.1 and 5.2; RFC 8868 section 3; Jain, Chiu and Hawe 1984",
    presets={"default": Parameters()},
    trials=Option(("--trials", "-n"), "Trials of each row [20].", least=1, most=SET_SIZE),
    columns=COLUMNS,
    legend="Means of the trials, from when all flows are there to the end; - where one of them has no number.",
    scenario=Parameters.scenario,
    measure=lambda parameters, cell, trials: measure(parameters, cell, trials.outcomes()),
    rows=lambda parameters, cells: [row(parameters, cell, measured) for cell, measured in cells.items()],
    checks=lambda _, cells: checks(cells),
    notes=lambda _, cells: notes(cells),
    samples=lambda measured: measured,
    page=page_of(__name__),
)
