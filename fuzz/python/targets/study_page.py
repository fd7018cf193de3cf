"""The page of a study whose every text and number is hostile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import hostile
from guard import Guard
from mutations import Step
from page_reader import PageRule
from thalweg.base.errors import RequestError
from thalweg.experiments.studies.fairness.figures import plot_condition, plot_many, plot_matrix
from thalweg.experiments.studies.harm.figures import plot_distributions
from thalweg.experiments.studies.runner.page import write_study
from thalweg.experiments.studies.runner.result import Check, Finding, Row, StudyResult
from thalweg.experiments.studies.runner.table import Table
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED
from thalweg.pages.lab_link import TrialLink
from thalweg.pages.report.section import Section

_TEXTS, _NUMBERS = 8, 6


class StudyPage:
    """The target. A case names the texts and the numbers that the page is made of."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        (sandbox / "inside").mkdir()
        self._page = sandbox / "inside" / "page.html"
        patch("thalweg.pages.figures.page.program", lambda: "window.vegaEmbed = null;").start()
        self._write(["plain"] * _TEXTS, [0.5] * _NUMBERS)
        self._rule = PageRule(self._page)

    def make(self, chance: Random) -> list[Step]:
        """Some hostile values; the others are harmless."""
        places = chance.sample(range(_TEXTS), chance.randrange(1, _TEXTS))
        texts = [["text", at, hostile.text(chance)] for at in places]
        numbers = chance.sample(range(_NUMBERS), chance.randrange(_NUMBERS))
        return [*texts, *(["number", at, hostile.finite(chance)] for at in numbers)]

    def play(self, case: list[Step]) -> str:
        """Makes the page and reads it."""
        texts, numbers = ["plain"] * _TEXTS, [0.5] * _NUMBERS
        for kind, at, value in case:
            (texts if kind == "text" else numbers)[at] = value
        with self._guard.watch():
            try:
                self._write(texts, numbers)
            except RequestError:
                return "refused"
            self._rule.hold(self._page)
        return "played"

    def _write(self, texts: list[str], numbers: list[float]) -> None:
        a, b, c, d, e, f, g, h = texts
        result = StudyResult(a, b, c, d, trials=3, seed=1, parameters={e: {f: g}}, notes=[h])
        result.host = {"system": a, "processor": b, "cores": 2}
        result.started = result.version = c
        result.wall_s, result.core_s = abs(numbers[0]), abs(numbers[1])
        answers = (HOLDS, FAILS, UNDECIDED)
        result.checks = [Check(d, e, answer, f) for answer in answers]
        result.findings = [Finding(g, h, a, b, answer, c) for answer in answers]
        result.rows = [_row(first, other, numbers) for first in (a, b) for other in (c, d)]
        result.document()
        draws: list[Callable[[], Any]] = [
            partial(plot_matrix, result.rows, e),
            partial(plot_condition, result.rows, "buffer_bdp", f, g),
            partial(plot_many, result.rows, h),
            partial(plot_distributions, {a: {None: _times(numbers), b: _times(numbers)}}, c),
        ]
        sections = [Section(f"{a}{at}", b, c, partial(_drawn, draw)) for at, draw in enumerate(draws)]
        links = [(a, TrialLink(b, c, 1, d, e))]
        write_study(result, Table([d, e], [[f, g], [h, a]], 1), b, sections, links, self._page)


def _drawn(draw: Callable[[], Any]) -> list[Any]:
    return [draw()]


def _times(numbers: list[float]) -> npt.NDArray[np.float64]:
    return np.array([abs(number) or 1.0 for number in numbers])


def _row(first: str, second: str, numbers: list[float]) -> Row:
    buffer, ratio, share, jain, *_ = numbers
    names = ("first_of_fair", "second_of_fair", "least_of_fair", "ratio", "utilisation", "converged")
    row: dict[str, str | float | int | None] = {"first": first, "second": second, "flows": 2, "queue": first}
    row |= {"buffer_bdp": buffer, "rtt_ratio": ratio, "gap_s": 0.0, "n": 3, "jain_1s": jain, "jain_20s": None}
    return row | dict.fromkeys(names, share)


TARGET = StudyPage
