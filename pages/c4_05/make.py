"""Fills docs/evidence/c4-05.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from pages.c4_05 import agreement, printed, standing, states
from pages.c4_05.trials import TRIALS, tests
from pages.made import DOCS, fill, made
from thalweg.engine.catalogue import Suite

PAGE = DOCS / "evidence" / "c4-05.md"
Part = tuple[str, Callable[[], Iterable[str]]]


def make() -> None:
    """All tables; takes some minutes of processor time."""
    fill(PAGE, "provenance", f"{TRIALS} trials of each, seeds 1 to {TRIALS}. {made('c4-05')}")
    fill(PAGE, "published", "\n\n".join(agreement.table(metric) for metric in agreement.METRICS))
    fill(PAGE, "misses", agreement.misses())
    fill(PAGE, "standing", standing.tables())
    fill(PAGE, "two-stories", states.two_stories())
    fill(PAGE, "states", states.states_table())
    fill(PAGE, "switches", states.switches_table("closed_s"))
    fill(PAGE, "switches-rtt", states.switches_table("event_rtt_s"))
    fill(PAGE, "printed", printed.table())
    fill(PAGE, "marks", printed.marks())


def parts() -> list[Part]:
    """The lines that are cheap to measure again: the lines of a test in every table."""
    as_printed = {entry.name for entry in Suite.find("c4-05-as-printed").entries}

    def measure(test: str) -> list[str]:
        lines = [line for metric in agreement.METRICS for line in agreement.rows_of(metric, test)]
        lines.append(states.state_row(test))
        if test in as_printed:
            lines += printed.both(test)
        return lines

    return [(test, partial(measure, test)) for test in tests()]
