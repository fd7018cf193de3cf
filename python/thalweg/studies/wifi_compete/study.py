"""The study `wifi-compete`: early versions of C4 alone and against others on bad Wi-Fi.

Model: 10 Mbps in both directions, 2 ms of round trip, Wi-Fi jitter of 7 ms on average in each direction, a
buffer of 80 ms, packets counted by their UDP payload. The main flow downloads 4 MB. Alone, it starts at 0;
in a pair, it starts at 1 s against a background download of 10 MB that began at 0. What is measured is the
time at which the main flow has closed, counted from 0: in a pair, it lasts one second less.

Every trial draws its own jitter. With a `jitter_seed`, all trials share one jitter sequence and differ by
starts and wake-ups of the senders alone: that is how the runs of the paper were made.

Source: "Handling of competition with Wi-Fi jitter" (C4 repository, commit ffec621, 2025).

Limits: the shared sequence is one of ours, not the paper's: random generators differ. A sequence is drawn
packet by packet, so trials that share it part ways when they send different packets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from thalweg.outcome import Outcomes
from thalweg.progress import Progress, silent
from thalweg.scenario import Interrupted, Scenario
from thalweg.statistics.quantiles import percentile
from thalweg.studies import STUDIES
from thalweg.studies.runner.result import Row, StudyResult
from thalweg.studies.wifi_compete.checks import checks
from thalweg.studies.wifi_compete.course import TRACED, Course, follow
from thalweg.studies.wifi_compete.course_findings import NEEDED, course_findings
from thalweg.studies.wifi_compete.findings import findings
from thalweg.studies.wifi_compete.published import (
    ACCEPTANCE_S,
    ALONE,
    COMPETITORS,
    HEAD_START_S,
    PAPER,
    PEERS,
    SHARED_MEDIAN_S,
    VARIANTS,
)

NAME = "wifi-compete"
TRIALS = 1000
"""As many as tell medians 10 % apart on such paths."""
Columns = npt.NDArray[np.float64]
Cell = tuple[str, str]
"""Variant and competitor."""

_PATH = """\
title    = "{title}"
source   = "{source}"
overhead = "0 B"

[path]
rate   = "10 Mbps"
rtt    = "2 ms"
buffer = "80 ms"
jitter = {{ model = "wifi", mean = "7 ms" }}
{noise}
[transport]
rules = "picoquic"

[[flow]]
name       = "main"
controller = "{controller}"
download   = "4 MB"
start      = "{start}"
"""
_BACKGROUND = """
[[flow]]
name       = "background"
controller = "{controller}"
download   = "10 MB"
"""
_END = """
# Asks nothing: it ends the trial when the main flow has closed.
[[pass]]
flow        = "main"
metric      = "closed"
at_most     = "300 s"
informative = true
"""


@dataclass
class WifiCompete:
    """A finished study: its result, and the outcomes behind each cell."""

    result: StudyResult
    cells: dict[Cell, Outcomes] = field(default_factory=dict)
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.wifi_compete.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def scenario(variant: str, competitor: str, jitter_seed: int | None = None) -> Scenario:
    """The scenario of one cell.

    >>> [flow["controller"] for flow in scenario("v2", "c4").flows]
    ['c4:variant=v2', 'c4:variant=v2']
    """
    main = VARIANTS[variant]
    alone = competitor == ALONE
    text = _PATH.format(
        title=f"Bad Wi-Fi: {variant} {'alone' if alone else f'against {competitor}'}",
        source=PAPER,
        controller=main,
        start="0 s" if alone else f"{HEAD_START_S:g} s",
        noise="" if jitter_seed is None else f"\n[noise]\njitter_seed = {jitter_seed}\n",
    )
    if not alone:
        text += _BACKGROUND.format(controller=PEERS.get(competitor, main))
    return Scenario.from_toml(text + _END, f"{variant}-{competitor}")


def run(
    trials: int = TRIALS,
    seed: int = 1,
    jobs: int = 0,
    jitter_seed: int | None = None,
    on_progress: Progress = silent,
) -> WifiCompete:
    """Runs all cells, `trials` each with seeds `seed`, `seed + 1`, ..., and judges what is published.

    >>> study = run(trials=2)
    >>> len(study.result.rows)
    20
    """
    preset = "random-jitter" if jitter_seed is None else "shared-jitter"
    study = WifiCompete(StudyResult(NAME, STUDIES[NAME], PAPER, preset, trials, seed))
    begin = time.perf_counter()
    cells = list(product(VARIANTS, COMPETITORS))
    for number, (variant, competitor) in enumerate(cells):

        def report(finished: int, name: str = f"{variant} {competitor}", before: int = number * trials) -> None:
            on_progress(name, before + finished, trials * len(cells))

        report(0)
        try:
            study.cells[variant, competitor] = scenario(variant, competitor, jitter_seed).trials(
                trials, seed, jobs, report
            )
        except Interrupted:
            study.complete = False
            break
    result = study.result
    result.wall_s = time.perf_counter() - begin
    result.core_s = sum(outcomes.core_s for outcomes in study.cells.values())
    published = ACCEPTANCE_S if jitter_seed is None else SHARED_MEDIAN_S
    closed = {cell: ends(outcomes) for cell, outcomes in study.cells.items()}
    for cell, outcomes in study.cells.items():
        alone = closed.get((cell[0], ALONE))
        result.rows.append(
            row(
                cell,
                closed[cell],
                main_column(outcomes, "share"),
                flow_column(outcomes, "background", "bytes_delivered"),
                float(np.median(alone)) if alone is not None else None,
                published.get(cell),
            )
        )
    courses: dict[Cell, list[Course]] = {}
    try:
        if study.complete:
            courses = _courses(trials, seed, jitter_seed, on_progress)
    except Interrupted:
        study.complete = False
    if study.complete:
        # What was measured with random seeds binds an experiment with random seeds.
        result.checks = checks(closed) if jitter_seed is None else []
        shares = {cell: main_column(outcomes, "share") for cell, outcomes in study.cells.items()}
        shared = jitter_seed is not None
        result.findings = [*findings(closed, shares, shared), *course_findings(closed, courses, shared)]
    return study


def _courses(trials: int, seed: int, jitter_seed: int | None, on_progress: Progress) -> dict[Cell, list[Course]]:
    """Plays the first trials of the cells whose course the paper speaks of again, with their traces."""
    seeds = range(seed, seed + min(trials, TRACED))
    total, played = len(NEEDED) * len(seeds), 0

    def one_more() -> None:
        nonlocal played
        played += 1
        on_progress("traces", played, total)

    return {cell: follow(scenario(*cell, jitter_seed), seeds, one_more) for cell in NEEDED}


def row(
    cell: Cell,
    closed: Columns,
    share: Columns,
    background_bytes: Columns,
    alone_median_s: float | None,
    published_s: float | None,
) -> Row:
    """One row of the table out of columns with one value for each trial; nan stands for what never came.

    `closed` is when the main flow closed, `share` its part of what both flows got while both were active,
    `background_bytes` what the background had got when the main flow closed; a flow alone has no share.
    `slowdown` is the duration of the median trial over the duration alone.
    """
    times = finished_or_never(closed)
    median = float(np.median(times))
    pair = cell[1] != ALONE
    duration = median - HEAD_START_S if pair else median
    return {
        "variant": cell[0],
        "controller": VARIANTS[cell[0]],
        "competitor": cell[1],
        "n": len(times),
        "min_s": float(times.min()),
        "median_s": median,
        "mean_s": float(times.mean()),
        "sd_s": float(times.std(ddof=1)) if len(times) > 1 and np.isfinite(times).all() else None,
        "p90_s": percentile(np.sort(times), 0.9),
        "worst_s": float(times.max()),
        "published_median_s": published_s,
        "ratio": median / published_s if published_s else None,
        "slowdown": duration / alone_median_s if alone_median_s else None,
        "share": float(np.nanmean(share)) if pair else None,
        "background_mb": float(np.mean(background_bytes)) / 1e6 if pair else None,
    }


def finished_or_never(closed: Columns) -> Columns:
    """Times in which a flow that did not finish is later than all that did.

    >>> finished_or_never(np.array([5.0, np.nan])).tolist()
    [5.0, inf]
    """
    return np.where(np.isnan(closed), np.inf, closed)


def median_trial(closed: Columns) -> int:
    """The trial next to the median; the first of equals.

    >>> median_trial(np.array([9.0, 5.0, 6.5, 6.0, 1.0]))
    3
    """
    times = finished_or_never(closed)
    return int(np.argsort(times, kind="stable")[(len(times) - 1) // 2])


def worst_trial(closed: Columns) -> int:
    """The trial that took longest; the first of equals.

    >>> worst_trial(np.array([9.0, np.nan, 12.0]))
    1
    """
    return int(np.argmax(finished_or_never(closed)))


def ends(outcomes: Outcomes) -> Columns:
    """When the main flow closed in each trial, from the start of the trial."""
    return finished_or_never(main_column(outcomes, "closed_s"))


def main_column(outcomes: Outcomes, column: str) -> Columns:
    """A column of the main flow, one value for each trial."""
    return flow_column(outcomes, "main", column)


def flow_column(outcomes: Outcomes, flow: str, column: str) -> Columns:
    """A column of a flow, one value for each trial; empty if the scenario has no such flow."""
    flows = outcomes.flows
    return flows.filter(flows["flow"] == flow)[column].to_numpy().astype(np.float64)
