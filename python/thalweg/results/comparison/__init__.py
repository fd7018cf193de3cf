"""Comparison of two results.

`medians` has the value of each criterion in both and what tells them apart, `traded` what a call paid in rate for
being better, `failures` how often each fails in both, `worse` what of all these became worse: the exit status of
`compare --fail-above`, and `planning` how many trials a difference needs.
"""

from thalweg.results.comparison.failures import Failures, compare_failures
from thalweg.results.comparison.medians import (
    MARGIN,
    Row,
    compare_results,
    compare_samples,
    judge,
    missing,
    shared_seeds,
)
from thalweg.results.comparison.traded import Traded, traded
from thalweg.results.comparison.worse import Worse, decide, find_worse

__all__ = [
    "MARGIN",
    "Failures",
    "Row",
    "Traded",
    "Worse",
    "compare_failures",
    "compare_results",
    "compare_samples",
    "decide",
    "find_worse",
    "judge",
    "missing",
    "shared_seeds",
    "traded",
]
