"""What `stacks` takes from the trials of one cell, and the row that comes of one scenario on all stacks.

The number compared is from the first criterion of the scenario: closed or completion of a transfer, mean delay
of a media stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from thalweg.base.toml import read_toml
from thalweg.engine.outcome import Description, Outcomes
from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.stacks.parameters import VARIANTS, Cell
from thalweg.judging.statistics.interval import Values as Times
from thalweg.judging.statistics.quantiles import percentile
from thalweg.judging.statistics.ratios import ratio_of_medians


@dataclass(frozen=True)
class StackTrials:
    """One scenario on one of the stacks."""

    scenario: Description
    values: Times
    """The compared number of each trial, infinite where it did not finish."""


@dataclass(frozen=True)
class StackComparison:
    """One scenario on all stacks."""

    name: str
    controller: str
    scenario: Description
    """As it is shipped."""
    values: dict[str, Times]


def together(cells: Mapping[Cell, StackTrials]) -> Iterator[StackComparison]:
    """The scenarios that ran on all stacks."""
    of: dict[tuple[str, str], dict[str, StackTrials]] = {}
    for cell, measured in cells.items():
        of.setdefault((cell.scenario, cell.controller), {})[cell.variant] = measured
    for (name, controller), stacks in of.items():
        if len(stacks) == len(VARIANTS):
            values = {variant: measured.values for variant, measured in stacks.items()}
            yield StackComparison(name, controller, stacks["model"].scenario, values)


def measure(outcomes: Outcomes) -> StackTrials:
    """The number of the first criterion."""
    values = outcomes.verdict().criteria[0].values["value"].to_numpy()
    return StackTrials(outcomes.scenario, values)


def has_jitter(toml: str) -> bool:
    """Whether the path of a scenario has jitter at any time.

    >>> has_jitter('path.jitter = { model = "wifi", mean = "7 ms" }'), has_jitter('path.rtt = "7 ms"')
    (True, False)
    """
    path = read_toml(toml, "scenario").get("path", {})
    return any("jitter" in part for part in (path, path.get("up", {}), *path.get("change", [])))


def row(of: StackComparison) -> Row:
    """One row of the table."""
    ordered = {variant: np.sort(values) for variant, values in of.values.items()}
    median = {variant: percentile(values, 0.5) for variant, values in ordered.items()}
    criterion = of.scenario.criteria[0]
    jitter = has_jitter(of.scenario.toml)
    ratio = ratio_of_medians(of.values["quic"], of.values["wide"])
    return {
        "scenario": of.name,
        "controller": of.controller,
        "metric": str(criterion["metric"]),
        "unit": str(criterion["unit"]),
        "jitter": "yes" if jitter else "no",
        "judged": int(not jitter),
        "n": len(ordered["model"]),
        **{f"{variant}_median": median[variant] for variant in VARIANTS},
        **{f"{variant}_p5": percentile(ordered[variant], 0.05) for variant in VARIANTS},
        **{f"{variant}_p95": percentile(ordered[variant], 0.95) for variant in VARIANTS},
        "quic_over_model": median["quic"] / median["model"] - 1,
        "quic_over_wide": ratio.value - 1,
        "quic_over_wide_low": ratio.low - 1,
        "quic_over_wide_high": ratio.high - 1,
    }
