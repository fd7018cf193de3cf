"""Other flows at the bottleneck: what is said of the capacity, and of other controllers. A part of explain.md."""

from __future__ import annotations

from textwrap import wrap

import numpy as np

from pages.explain.make import PAGE, twins_row
from pages.explain.measure import Case
from pages.explain.paths import CONTROLLERS
from pages.explain.twins import guesses
from pages.made import fill, made, row
from thalweg.foreign.inference.path import path

PATH_SEEDS = range(20_000, 20_032)
TWIN_SEEDS = range(20_000, 20_010)


def make_rivals() -> None:
    """Measures both."""
    errors, seen = [], 0
    for seed in PATH_SEEDS:
        case = Case.of("shared", seed, CONTROLLERS[seed % len(CONTROLLERS)])
        found = path(case.packets())
        seen += found.others_bps is not None
        if found.is_capacity_seen and found.capacity_bps is not None:
            errors.append(abs(found.capacity_bps / case.made.rate_bps - 1))
    middle, high = np.quantile(errors, (0.5, 0.9))
    head = ("paths", "guesses", "median error", "90 % of errors", "interval covers", "fastest is right")
    lines = [row(*head), row(":--", *("--:" for _ in head[1:]))]
    lines.append(twins_row("next to a CUBIC, BBR or C4", [guesses("shared", seed) for seed in TWIN_SEEDS]))
    said = (
        f"Others are seen in {seen} of {len(PATH_SEEDS)} traces. The error of the capacity is "
        f"{middle * 100:.2f} % in the median and {high * 100:.2f} % for nine of ten of the {len(errors)} that "
        "saw it. "
        f"{made('explain-rivals')}"
    )
    fill(PAGE, "rivals", "\n".join([*lines, "", *wrap(said, 105)]))
