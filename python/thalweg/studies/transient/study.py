"""The study `transient`: how controllers react to steps of capacity, round-trip time and flow arrival.

Each cell of the experiment (`parameters.py`) is run many times; after each step the metric
(`metric.py`) is armed anew. The available bandwidth is what the bottleneck could have carried in each
bin, noise included, divided by the number of flows that share it. What is delivered is counted where it leaves the
bottleneck: the simulator counts it at the end of the path, half a round trip later, and it is moved back by that.

Source: SIGCOMM 2021 poster, doi 10.1145/3472716.3472861.

Limits: only the main flow is measured. A step of the round-trip time does not change the bandwidth: its area is
taken over the whole of it. The share of several flows is equal by definition here,
whatever their round trips.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from thalweg.errors import RequestError
from thalweg.live import Timing, play
from thalweg.outcome import Outcomes
from thalweg.progress import Progress, silent
from thalweg.quantity import bits_per_second, seconds
from thalweg.scenario import Interrupted
from thalweg.statistics.quantiles import percentile
from thalweg.studies import STUDIES
from thalweg.studies.runner.result import Row, StudyResult
from thalweg.studies.transient.as_coded import AsCoded, area_as_coded
from thalweg.studies.transient.checks import checks, findings
from thalweg.studies.transient.fit import CLASSES, LEAST_QUALITY, Fit
from thalweg.studies.transient.metric import WINDOW_RTTS, Rates, Reactions, react, rebin
from thalweg.studies.transient.parameters import MAIN, PAPER, Cell, Parameters
from thalweg.studies.transient.reaction import fit_reaction

NAME = "transient"
TRIALS = 100
LIVE_TRIALS = 3
"""Each takes its time."""


@dataclass(frozen=True)
class Runs:
    """The series of all runs of a cell, in bins of the sample: bytes, one row for each run."""

    every_s: float
    sent: Rates
    received: Rates
    capacity: Rates


@dataclass(frozen=True)
class Measured:
    """What the metric says of one step of a cell."""

    reactions: Reactions
    fit: Fit
    as_coded: AsCoded | None
    """Of the first step alone: the tool knows no other."""
    every_s: float
    """Length of a bin of the curves."""
    delivered: Rates
    """Mean over the runs of the delivered rate, bits per second, in bins from the step on."""
    sent: Rates
    available: Rates


@dataclass
class Transient:
    """A finished study: its result, and what is behind each row."""

    parameters: Parameters
    result: StudyResult
    cells: dict[Cell, list[Measured]] = field(default_factory=dict)
    """For each cell, what followed each step."""
    scenarios: dict[Cell, str] = field(default_factory=dict)
    complete: bool = True
    """False after a Ctrl-C: cells are missing."""

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.transient.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def run(
    parameters: Parameters | None = None,
    trials: int = TRIALS,
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress = silent,
    timing: Timing | None = None,
) -> Transient:
    """Runs all cells with seeds `seed`, `seed + 1`, ...; sets the preset `paper` against what is published.

    Cells of the kernel's controllers run in real time, as `timing` asks. All scenarios are read
    before any runs. Raises RequestError.

    >>> quick = Parameters(controllers=("bbr",), buffers=("40 packets",), duration="5 s")
    >>> [(row["controller"], row["n"]) for row in run(quick, trials=2).result.rows]
    [('bbr', 2)]
    """
    chosen = parameters or Parameters()
    if trials < 1:
        raise RequestError(f"{trials} trials: at least 1 is needed")
    study = Transient(chosen, StudyResult(NAME, STUDIES[NAME], PAPER, chosen.preset, trials, seed))
    begin, result = time.perf_counter(), study.result
    scenarios = chosen.scenarios()
    for number, (cell, scenario) in enumerate(scenarios.items()):

        def report(finished: int, name: str = scenario.title, before: int = number * trials) -> None:
            on_progress(name, before + finished, trials * len(scenarios))

        report(0)
        try:
            played = play(scenario, trials, seed, jobs, report, timing)
        except Interrupted:
            study.complete = False
            break
        outcomes = played.outcomes
        result.add_live(scenario.title, seed, played.reports)
        clock = time.process_time()
        study.scenarios[cell] = scenario.toml
        study.cells[cell] = measure(chosen, runs(outcomes))
        result.core_s += outcomes.core_s + time.process_time() - clock
    result.wall_s = time.perf_counter() - begin
    for cell, measured in study.cells.items():
        result.rows += [row(cell, step.title, one) for step, one in zip(chosen.all_steps, measured, strict=True)]
    if study.complete and result.preset == "paper":
        areas = {cell: ranked(measured[0].reactions) for cell, measured in study.cells.items()}
        coded = {cell: _of_first_step(measured) for cell, measured in study.cells.items()}
        result.checks, result.findings = checks(areas), findings(areas, coded)
    return study


def runs(outcomes: Outcomes) -> Runs:
    """The series of the main flow, and the capacity of the bottleneck."""
    series = [outcomes.series(trial, MAIN) for trial in range(outcomes.n)]
    return Runs(
        series[0].every_s,
        np.stack([one.sent for one in series]),
        np.stack([one.received for one in series]),
        np.stack([outcomes.capacity(trial, "down") for trial in range(outcomes.n)]),
    )


def measure(parameters: Parameters, of: Runs) -> list[Measured]:
    """Applies the metric after every step."""
    steps = parameters.all_steps
    starts = [step.at_s for step in steps]
    rtt_s, flows = seconds(parameters.rtt, "--rtt"), 0
    measured: list[Measured] = []
    before_available, before_sent = np.zeros(len(of.sent)), np.zeros(len(of.sent))
    for step, (begin, end) in zip(
        steps, pairwise([*starts, seconds(parameters.duration, "--duration")]), strict=True
    ):
        flows += step.kind == "flow"
        rtt_s = seconds(step.value, "--rtt") if step.kind == "rtt" else rtt_s
        width_s = parameters.least_rtt_s
        rtt_bins = max(round(rtt_s / width_s), 1)
        first, last = round(begin / of.every_s), round(end / of.every_s)
        late = round(rtt_s / 2 / of.every_s)
        sent = _rates(of.sent[:, first:last], of.every_s, width_s)
        available = _rates(of.capacity[:, first:last], of.every_s, width_s) / flows
        delivered = _rates(of.received[:, first + late : last + late], of.every_s, width_s)
        bins = delivered.shape[1]
        sent, available = sent[:, :bins], available[:, :bins]
        mean = available.mean(axis=1)
        reactions = react(delivered, available, width_s, sent, before_available, rtt_bins)
        fit = fit_reaction(sent, before_sent, reactions, width_s, rtt_bins)
        coded = None
        if not measured:
            mbps = bits_per_second(parameters.rate, "--rate") / 1e6
            coded = area_as_coded(of.sent[:, :last], of.every_s, mbps, rtt_s / 2)
        curves = (one.mean(axis=0) for one in (delivered, sent, available))
        measured.append(Measured(reactions, fit, coded, width_s, *curves))
        before_available = mean
        before_sent = sent[:, -WINDOW_RTTS * rtt_bins :].mean(axis=1)
    return measured


def _rates(amounts: Rates, every_s: float, width_s: float) -> Rates:
    """Bits per second in bins of `width_s`."""
    return rebin(amounts, every_s, width_s) * 8 / width_s


def ranked(reactions: Reactions) -> npt.NDArray[np.float64]:
    """Areas in which a run that did not converge is worse than all that did."""
    return np.where(reactions.converged, reactions.area, np.inf).astype(np.float64)


def _of_first_step(measured: list[Measured]) -> AsCoded:
    coded = measured[0].as_coded
    assert coded is not None
    return coded


def row(cell: Cell, step: str, measured: Measured) -> Row:
    """One row of the table.

    Quantiles are those of verdicts (`percentile`), here as in the checks. Statistics of areas and times count a
    run that did not converge as infinite (None in JSON); those of over- and undershoot, `lost` and `level` take it
    with what was observed; the settled gap is of those that converged. Damping ratio and natural frequency are
    those of the trials that have a damping class, the quality that of all.
    """
    reactions, fit = measured.reactions, measured.fit
    area, reaction = np.sort(ranked(reactions)), np.sort(reactions.reaction_s.astype(np.float64))
    net = np.sort(np.where(reactions.converged, reactions.net, np.inf).astype(np.float64))
    classes = fit.classes
    known, fits = fit.quality >= 0, fit.quality >= LEAST_QUALITY
    values: dict[str, str | float | int | None] = {
        "buffer": cell.buffer,
        "controller": cell.controller,
        "step": step,
        "n": len(area),
        "converged": int(reactions.converged.sum()),
        "area_median": percentile(area, 0.5),
        "area_p95": percentile(area, 0.95),
        "overshoot": float(np.median(reactions.overshoot)),
        "undershoot": float(np.median(reactions.undershoot)),
        "settled": float(np.median(reactions.settled[reactions.converged])) if reactions.converged.any() else None,
        "net_median": percentile(net, 0.5),
        "lost_s": float(np.median(reactions.lost)),
        "reaction_median_s": percentile(reaction, 0.5),
        "reaction_p95_s": percentile(reaction, 0.95),
        "level": float(np.median(reactions.level)),
        "damping_ratio": float(np.median(fit.damping[fits])) if fits.any() else None,
        "natural_frequency": float(np.median(fit.frequency[fits])) if fits.any() else None,
        "fit_quality": float(np.median(fit.quality[known])) if known.any() else None,
    }
    values |= {name.replace(" ", "_").replace("-", "_"): classes.count(name) for name in CLASSES}
    coded = measured.as_coded
    known_coded = None if coded is None else coded.area[~np.isnan(coded.area)]
    values["as_coded_median"] = (
        float(np.median(known_coded)) if known_coded is not None and len(known_coded) else None
    )
    values["as_coded_converged"] = None if coded is None else int(coded.converged.sum())
    return values
