"""Runs the study `laws`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from thalweg.progress import Progress, silent
from thalweg.scenario import Interrupted
from thalweg.studies import STUDIES
from thalweg.studies.laws.checks import checks, findings
from thalweg.studies.laws.experiment import Experiment
from thalweg.studies.laws.parameters import PRESETS, Preset
from thalweg.studies.laws.quantity import Quantity
from thalweg.studies.runner.result import StudyResult

NAME = "laws"
SOURCE = "RFC 8033, 8289, 8290, 9002, 9332, 9438; draft-ietf-ccwg-bbr-06"


@dataclass
class Laws:
    """A finished study."""

    preset: Preset
    result: StudyResult
    quantities: list[Quantity] = field(default_factory=list)
    played: list[Experiment] = field(default_factory=list)
    complete: bool = True
    """False after a Ctrl-C: experiments are missing."""

    def save(self, folder: Path, on_progress: Progress = silent) -> Path:
        """Writes it; returns where it is. Raises RequestError if that cannot be."""
        from thalweg.studies.laws.store import save  # noqa: PLC0415 - altair takes half a second to load

        return save(self, folder, on_progress)


def run(
    preset: Preset,
    name: str = "custom",
    seed: int = 1,
    jobs: int = 0,
    on_progress: Progress = silent,
) -> Laws:
    """Runs all experiments of a preset. Raises RequestError."""
    experiments = list(preset.experiments())
    for experiment in experiments:
        experiment.scenario()  # what is refused runs nothing
    study = Laws(preset, StudyResult(NAME, STUDIES[NAME], SOURCE, name, preset.trials, seed))
    begin = time.perf_counter()
    total, done = sum(experiment.trials for experiment in experiments), 0
    for experiment in experiments:

        def report(finished: int, label: str = experiment.name, before: int = done) -> None:
            on_progress(label, before + finished, total)

        report(0)
        try:
            found, core_s = experiment.play(seed, jobs, report)
        except Interrupted:
            study.complete = False
            break
        done += experiment.trials
        study.quantities += found
        study.played.append(experiment)
        study.result.core_s += core_s
    study.result.wall_s = time.perf_counter() - begin
    study.result.rows = [one.row() for one in study.quantities]
    study.result.notes = preset.notes()
    if study.complete:
        study.result.checks = checks(study.quantities)
        study.result.findings = findings(study.quantities)
    return study


def named(preset: str) -> Preset:
    """A preset by its name.

    >>> named("quick").trials
    6
    """
    return PRESETS[preset]
