"""The study `slow-start`: the slow starts of CUBIC and Reno side by side, over paths of many kinds.

The experiment is in `parameters.py`, the formulas in `metric.py`, what is measured with them in `measure.py`,
what is judged and what else is published in `checks.py`.

Sources: RFC 9002 section 7.3.1, RFC 9406, draft-chung-ccwg-search-09, draft-kazuho-ccwg-rapid-start-02,
draft-ietf-tsvwg-careful-resume-22.

>>> path = {"rates": ("20 Mbps",), "rtts": ("40 ms",), "buffers_bdp": (1.0,), "jitters": ("0 ms",)}
>>> quick = Parameters(("classic",), **path, applications=(0.0,), phases=1)
>>> [(row["start"], row["late"]) for row in STUDY.run(quick, trials=1).result.rows]
[('classic', 1.0)]
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from thalweg.base.quantity import percent, text
from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.studies.catalogue import TITLES
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.study import Study, page_of
from thalweg.experiments.studies.runner.table import Column, formatted, number, number_text, percentage
from thalweg.experiments.studies.slow_start.checks import checks, findings
from thalweg.experiments.studies.slow_start.measure import (
    LEVELS,
    PUBLISHED_LEVELS,
    TrialNumbers,
    gather,
    level_column,
    row,
    take,
    together,
)
from thalweg.experiments.studies.slow_start.parameters import Cell, Parameters

if TYPE_CHECKING:
    pass


def _time(row: Row, key: str) -> str:
    return "never" if row[key] is None else number_text(row, key, "s", 3)


def _exit(row: Row, key: str) -> str:
    left = number(row, "left")
    exit_s = _time(row, key) if left else "never"
    return exit_s if left in (0.0, 1.0) else f"{exit_s} ({percent(left)})"


_UNTIL = "1.5 kB, 15 kB, ...: time from the first full packet until so many bytes are acknowledged"
COLUMNS = (
    Column("condition", "path", kind=str),
    Column("controller", "controller", kind=str),
    Column("start", "start", kind=str),
    *(
        Column(level_column(level), text(float(level), "B"), "s", f"{_UNTIL}" * (level == LEVELS[0]), format=_time)
        for level in LEVELS
    ),
    Column(
        "exit_s",
        "left at",
        "s",
        "when the start was left, of the trials in which it was, with their share if not all",
        format=_exit,
    ),
    Column(
        "reached_of_pipe",
        "reached",
        "BDP",
        "the largest window until then, in bandwidth-delay products",
        format=formatted(".2f"),
    ),
    Column(
        "left_of_pipe",
        "left",
        "BDP",
        "the window with which congestion avoidance begins",
        format=formatted(".2f"),
    ),
    Column("early", "early", "share", "trials that leave less than the path holds", format=percentage),
    Column("late", "late", "share", "trials that reached more than path and buffer hold", format=percentage),
    Column(
        "dropped",
        "dropped",
        meaning="packets that the queue dropped until congestion avoidance began",
        format=formatted(".0f"),
    ),
    Column("rate", kind=str, meaning="of the path, in its first phase"),
    Column("rtt", kind=str, meaning="round-trip time of the path"),
    Column("buffer_bdp", unit="BDP", meaning="size of the buffer"),
    Column("jitter", kind=str, meaning="mean jitter of Wi-Fi"),
    Column("application", meaning="share of the rate that the sender has; 0: always data"),
    Column("n", kind=int, meaning="trials of all phases"),
    *(Column(level_column(level), unit="s", meaning="as published") for level in PUBLISHED_LEVELS),
    Column("left", unit="share", meaning="trials in which the start was left"),
)


STUDY: Study[Parameters, Cell, TrialNumbers] = Study(
    name="slow-start",
    title=TITLES["slow-start"],
    source="RFC 9002 section 7.3.1; RFC 9406; draft-chung-ccwg-search-09; draft-kazuho-ccwg-rapid-start-02; "
    "draft-ietf-tsvwg-careful-resume-22",
    presets={"default": Parameters()},
    trials=Option(("--trials", "-n"), "Trials of each phase of a path [4].", least=1, most=SET_SIZE),
    columns=COLUMNS,
    legend="Medians of the trials of all phases of a path.",
    scenario=Parameters.scenario,
    measure=lambda parameters, cell, trials: gather(
        trials.each(partial(take, parameters, cell), f"{parameters} {cell}")
    ),
    rows=lambda _, cells: [row(cell, measured) for cell, measured in together(cells)],
    checks=checks,
    findings=lambda _, cells: findings(cells),
    samples=lambda measured: measured,
    page=page_of(__name__),
    traced=True,
)
