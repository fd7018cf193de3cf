"""What the engine says of its metrics: the page of metrics and all who name one agree with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thalweg import _native
from thalweg.experiments.bench.bench import METRICS as OF_BENCH
from thalweg.experiments.dossier.numbers import NUMBERS
from thalweg.experiments.hunt.objective import KINDS
from thalweg.judging.measures import MEASURES, METRICS, USUAL
from thalweg.judging.thresholds import DEFAULTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def rows() -> dict[str, tuple[str, str]]:
    """Unit and the rest of the row of each metric of a flow or a stream, as the page has it."""
    found: dict[str, tuple[str, str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        names, unit, rest = ([*line.strip("|").split("|", 2), "", "", ""])[:3]
        if re.fullmatch(r"\| (`[a-z0-9-]+`(, )?)+ \|.*", line):
            found |= dict.fromkeys(re.findall(r"`([a-z0-9-]+)`", names), (unit.strip(), rest))
    return found


def test_names_are_unique() -> None:
    assert len(METRICS) == len(_native.metrics())


def test_every_metric_has_a_row_with_its_unit_on_the_page() -> None:
    page = rows()
    for name, metric in METRICS.items():
        assert name in page, name
        if metric.of != "controller":
            assert page[name][0] == metric.unit, name


def test_the_page_says_which_metrics_only_virtual_time_measures() -> None:
    page = rows()
    of_flows = [metric for metric in METRICS.values() if metric.of == "flow"]
    said = {metric.name for metric in of_flows if "virtual time only" in page[metric.name][1]}
    assert said == {metric.name for metric in of_flows if metric.virtual_only}


def test_whoever_names_a_metric_names_one_of_the_engine() -> None:
    named = {*DEFAULTS, *OF_BENCH, *(kind.metric for kind in KINDS.values()), *sum(USUAL.values(), ())}
    assert named <= set(METRICS)
    assert {*DEFAULTS, *OF_BENCH} <= set(MEASURES)


@pytest.mark.parametrize("name", sorted(set(NUMBERS) & set(METRICS)))
def test_a_number_of_a_dossier_with_the_name_of_a_metric_has_its_unit_and_better_end(name: str) -> None:
    metric = METRICS[name]
    assert NUMBERS[name].unit == metric.unit
    assert metric.better in (None, NUMBERS[name].better)
