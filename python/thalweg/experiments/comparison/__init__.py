"""Stored experiments side by side, by the values of their trials; `judging.comparison` has the statistics.

side.py     what is set against another experiment of the same kind
suite.py    a suite or a run
study.py    a study or a score
sweep.py    a sweep
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from thalweg.experiments.comparison.side import Side
from thalweg.experiments.comparison.study import StoredStudy
from thalweg.experiments.comparison.suite import StoredSuite
from thalweg.experiments.comparison.sweep import StoredSweep

LOADERS: Mapping[str, Callable[[Path], Side]] = {
    "suite": StoredSuite.load,
    "study": StoredStudy.load,
    "sweep": StoredSweep.load,
}
"""The kinds that can be compared."""
__all__ = ["LOADERS", "Side"]
