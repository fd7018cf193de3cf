"""Functions of the page that Python has too, under Node: both say the same of the same numbers."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lab.alike.conftest import Ask
from thalweg.base.quantity import text
from thalweg.judging.measures import METRICS
from thalweg.judging.statistics.quantiles import percentile
from thalweg.judging.verdict import judge

HERE = Path(__file__).parent
QUANTITIES = json.loads((HERE / "quantities.json").read_text())
UNITS = ("s", "bps", "bytes", "share", "packets", "")
STARTS = {"main": 1.0, "late": 3.0}
FLOWS: dict[str, list[Any]] = {
    "trial": [0, 0, 1, 1, 2, 2],
    "flow": ["main", "late"] * 3,
    "finished": [True, True, False, True, True, False],
    "start_s": [1.02, 3.0, 1.0, 3.5, 1.0, 3.0],
    "completion_s": [5.0, 4.0, math.nan, 4.5, 9.0, math.nan],
    "mean_rate_bps": [2e7, 1e7, 1e6, 2e6, math.nan, 1e6],
}
STREAMS: dict[str, list[Any]] = {
    "trial": [0, 0, 1, 2],
    "flow": ["main", "main", "main", "main"],
    "stream": ["audio", "video", "audio", "audio"],
    "mean_delay_s": [0.03, 9.0, 0.02, 0.05],
}
CRITERIA: list[dict[str, Any]] = [
    {"flow": "main", "metric": "completion", "column": "completion_s", "at_most": 6.0, "unit": "s"},
    {"flow": "main", "metric": "completion", "column": "completion_s", "at_most": 9.0, "in": 0.6, "unit": "s"},
    {"flow": "main", "metric": "completion", "column": "completion_s", "at_most": 3.0, "floor": 4.0, "unit": "s"},
    {"flow": "late", "metric": "completion", "column": "completion_s", "at_most": 4.2, "unit": "s"},
    {"flow": "main", "metric": "rate", "column": "mean_rate_bps", "at_least": 5e5, "unit": "bps"},
    {"flow": "late", "metric": "rate", "column": "mean_rate_bps", "at_least": 5e5, "unit": "bps"},
    {
        "flow": "main",
        "stream": "audio",
        "metric": "mean-delay",
        "column": "mean_delay_s",
        "at_most": 0.1,
        "unit": "s",
    },
]
DEFAULTS: dict[str, Any] = {"stream": None, "at_most": None, "at_least": None, "in": 1.0, "floor": None}


def lacking(value: float) -> float | str:
    """A number as both sides of the pipe write it."""
    return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def test_quantities_read_alike_in_python_and_on_the_page(ask: Ask) -> None:
    wanted = [written for *_, written in QUANTITIES]
    assert [text(float(value), unit, digits) for value, unit, digits, _ in QUANTITIES] == wanted
    assert ask("words/quantity.ts", [["text", *quantity] for *quantity, _ in QUANTITIES]) == wanted


def test_any_quantity_reads_alike(ask: Ask) -> None:
    draw = random.Random(34)
    asked: list[tuple[float, str, int]] = []
    for _ in range(3000):
        value = draw.choice(
            [10 ** draw.uniform(-9, 12), draw.randrange(1, 4000) / 8, draw.randrange(1, 2000) / 1e5]
        )
        asked.append((value * draw.choice([1, -1]), draw.choice(UNITS), draw.choice([2, 3, 4])))
    wanted = [text(value, unit, digits) for value, unit, digits in asked]
    assert ask("words/quantity.ts", [["text", *quantity] for quantity in asked]) == wanted


def test_quantiles_are_equal_and_leave_out_nothing_that_did_not_finish(ask: Ask) -> None:
    draw = random.Random(35)
    samples = [[draw.uniform(1, 9) for _ in range(draw.randrange(1, 12))] for _ in range(50)]
    samples += [[*sample, *[math.inf] * draw.randrange(1, 9)] for sample in samples]
    asked = [(sample, share) for sample in samples for share in (0.0, 0.05, 0.5, 0.95, 1.0)]
    wanted = [lacking(percentile(np.sort(sample), share)) for sample, share in asked]
    calls = [["quantile", [lacking(value) for value in sample], share] for sample, share in asked]
    assert ask("trial/quantile.ts", calls) == wanted
    assert "Infinity" in wanted


def test_criteria_have_the_same_values_and_verdicts(ask: Ask) -> None:
    streams = pl.DataFrame(STREAMS)
    flows = pl.DataFrame(FLOWS)
    python = judge(CRITERIA, flows, streams, STARTS).criteria
    outcomes = {"flows": packed(FLOWS), "streams": packed(STREAMS)}
    until = [{"until_the_end": METRICS[one["metric"]].until_the_end} for one in CRITERIA]
    asked = [{**DEFAULTS, **one, **said} for one, said in zip(CRITERIA, until, strict=True)]
    calls = [["judged", outcomes, one, 3, STARTS] for one in asked]
    for statistics, (values, judgement) in zip(python, ask("../../tests/lab/alike/judged.ts", calls), strict=True):
        assert [lacking(value) for value in statistics.values["value"]] == pytest.approx(values)
        for name in ("n", "median", "p95", "worst", "failures"):
            assert judgement[name] == lacking(getattr(statistics, name)), (statistics.subject, name)
        assert judgement["answer"] == statistics.answer
    assert {statistics.answer for statistics in python} == {"holds", "fails", "infeasible"}


def packed(table: dict[str, list[Any]]) -> dict[str, Any]:
    """A table as `judged.ts` takes it: texts as words, the rest as numbers."""
    return {
        name: [lacking(value) if isinstance(value, float) else value for value in column]
        for name, column in table.items()
    }
