"""Exit statuses, and which of them a result deserves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thalweg.results.suite_result import SuiteResult

PASSED = 0
"""Every verdict passes, or cannot."""
FAILED = 1
"""A verdict fails, or a replayed trial differs."""
REFUSED = 2
"""The request is wrong, or was for too few trials to tell."""
AUDIT = 3
"""The auditor has found that a trial contradicts physics (`--audit`): there is no answer."""
UNFAITHFUL = 4
"""No trial of a scenario in real time, or not each with `--strict-timing`, was what it describes: no answer."""
NOTHING_FOUND = 5
"""A search has found nothing that fresh trials confirm: no worse scenario, no better options."""
DEFECT = 70
"""Thalweg itself went wrong (EX_SOFTWARE of sysexits.h): not to be taken for a verdict."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""


def undecided(count: int, of: int, what: str) -> str:
    """Why there is no answer.

    >>> undecided(3, 24, "metrics")
    '3 of 24 metrics are undecided: run more trials (many comparisons need more)'
    """
    return f"{count} of {of} {what} are undecided: run more trials (many comparisons need more)"


def of_result(result: SuiteResult) -> int:
    """Failed if a verdict fails, or where a rival is set against it, if the main controller is worse than all.

    Refused if trials ended before they could answer anything at all, or were too few to tell what is worse.
    """
    standing = result.standing()
    if "fails" in result.answers() or (standing and standing.worst):
        return FAILED
    if standing and standing.undecided:
        return REFUSED
    asked_in_vain = (o.verdict().answer is None and o.unfinished() for o in result.outcomes)
    return REFUSED if any(asked_in_vain) and not standing else PASSED
