"""Draws the figures of transient.md and wifi-compete.md, after the figures of their sources.

The areas come from the study of this commit; mean rates and pairs are played again.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pages.made import DOCS, fill, made, study
from thalweg.base.quantity import seconds
from thalweg.experiments.studies.transient.figures import plot_areas, plot_curves, plot_theory
from thalweg.experiments.studies.transient.parameters import PUBLISHED, Parameters
from thalweg.experiments.studies.transient.study import STUDY as TRANSIENT
from thalweg.pages.figures import Chart
from thalweg.pages.figures.figure import figure
from thalweg_c4_history.course import CAPACITY_BPS
from thalweg_c4_history.figures import plot_pair
from thalweg_c4_history.measure import ends, median_trial
from thalweg_c4_history.parameters import scenario

IMAGES = DOCS / "images" / "studies"
PAIRS = (("v1", "c4"), ("v2", "cubic"))
TRIALS = 100


def save(chart: Chart, file: Path) -> None:
    """At the size at which pages show it."""
    figure(chart).save(file, dots=1)


def areas(folder: Path) -> None:
    """Figure 2 of the poster, with the later controllers next to its three."""
    table = pl.read_parquet(folder / "reactions.parquet").filter("converged")
    cells = table.group_by("buffer", "controller", maintain_order=True)
    found = {(str(buffer), str(name)): cell["area"].to_numpy() for (buffer, name), cell in cells}
    save(plot_areas(found, {}, "Normalized Area of all trials that converged"), IMAGES / "transient-areas.png")


def rates() -> None:
    """Figure 1(b): mean rates after the start; the seconds that it shows are all that is played."""
    chosen = Parameters(controllers=PUBLISHED, buffers=("100 packets",), duration="6 s")
    study = TRANSIENT.run(chosen, TRIALS)
    measured = {cell.controller: steps[0] for cell, steps in study.cells.items()}
    chart = plot_curves(measured, 0.0, seconds(chosen.rtt, "--rtt"), 0.0, "Mean rates of all trials, 100 packets")
    save(chart, IMAGES / "transient-rates.png")


def pairs() -> None:
    """The figure of the paper on Wi-Fi jitter, for the median trial of two of its pairs."""
    for variant, competitor in PAIRS:
        chosen = scenario(variant, competitor)
        trial = median_trial(ends(chosen.trials(TRIALS)))
        title = f"{variant} against {competitor}: median trial"
        chart = plot_pair(chosen.run(trial + 1, trace=True), title, CAPACITY_BPS)
        save(chart, IMAGES / f"wifi-compete-{variant}-{competitor}.png")


def make() -> None:
    """Draws all of them."""
    save(plot_theory(), IMAGES / "transient-theory.png")
    areas(study("transient", lambda: TRANSIENT.run(Parameters())))
    rates()
    pairs()
    for page in ("transient", "wifi-compete"):
        fill(DOCS / "evidence" / "studies" / f"{page}.md", "figures", made("study-figures"))
