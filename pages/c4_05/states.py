"""The three states of C4, and the single rules in which they differ, on the same seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pages.c4_05.trials import DRAFT_05, numbers, played, tests
from pages.made import row
from thalweg.base.quantity import text
from thalweg.engine.outcome import Outcomes
from thalweg.judging.statistics.differences import sharper

STATES = {"draft-04": "c4:variant=draft-04", "draft-05": DRAFT_05, "2026-10": "c4:variant=2026-10"}
SWITCHES = {
    "no drain": "drain=off",
    "drain by debt": "drain=debt",
    "no trim": "trim=off",
    "no re-entry": "reentry=off",
    "re-entry once": "reentry=once",
    "ratchet": "ratchet=on",
    "own alpha in Recovery": "alpha_previous=own",
    "max RTT kept": "initial_max_rtt=kept",
}
"""One rule of draft-05 changed."""
WHERE = (
    "alone-512k",
    "alone-1-5M",
    "satellite",
    "bbloat",
    "bbloat-c4",
    "wifi-bad-c4",
    "vs-c4-lg",
    "low-and-up",
    "media-wf",
)


def values(outcomes: Outcomes, column: str) -> npt.NDArray[np.float64]:
    """A column of the main flow."""
    return outcomes.flows.filter(outcomes.flows["flow"] == "main")[column].to_numpy()


def change(test: str, before: str, after: str, column: str) -> str:
    """The median change from one controller to another in percent; a dash where its interval has both signs."""
    a, b = (values(played(f"c4-05/{test}", controller), column) for controller in (before, after))
    interval = sharper(a, b)[0].interval
    middle = float(np.median(a))
    if interval.low <= 0 <= interval.high:
        return "-"
    shown = 100 * interval.value / middle
    return f"{shown:+.1f} %" if abs(shown) >= 0.05 else "-"


def _is_call(test: str) -> bool:
    return test.startswith("media")


def state_row(test: str) -> str:
    """Completion of draft-04 and both changes, or the mean frame delay of a call; then the RTT."""
    what = "frame_delay_s" if _is_call(test) else "closed_s"
    cells = []
    for column in (what, "event_rtt_s"):
        first = float(np.median(values(played(f"c4-05/{test}", STATES["draft-04"]), column)))
        cells += [
            text(first, "s", 4),
            change(test, STATES["draft-04"], STATES["draft-05"], column),
            change(test, STATES["draft-05"], STATES["2026-10"], column),
        ]
    return row(test, *cells)


def states_table() -> str:
    """All tests."""
    head = row("test", "draft-04", "to draft-05", "to 2026-10", "RTT of draft-04", "to draft-05", "to 2026-10")
    return "\n".join([head, row(":--", *["--:"] * 6), *(state_row(test) for test in tests())])


def switch_row(test: str, column: str) -> str:
    """A test, and what each switch changes."""
    return row(test, *(change(test, DRAFT_05, f"{DRAFT_05},{option}", column) for option in SWITCHES.values()))


def switches_table(column: str) -> str:
    """The tests of WHERE. The frame delay of a call stands in place of its completion."""
    columns = {test: "frame_delay_s" if _is_call(test) and column == "closed_s" else column for test in WHERE}
    lines = [switch_row(test, columns[test]) for test in WHERE]
    return "\n".join([row("test", *SWITCHES), row(":--", *["--:"] * len(SWITCHES)), *lines])


def two_stories() -> str:
    """Tests whose mean is far from the median: trials of two kinds."""
    lines = []
    for test in tests():
        for name, controller in STATES.items():
            if _is_call(test):
                continue
            closed = values(played(f"c4-05/{test}", controller), "closed_s")
            mean, middle = float(closed.mean()), float(np.median(closed))
            p90 = numbers(f"c4-05/{test}", controller).closed_p90_s
            if abs(mean / middle - 1) > 0.03:
                cells = (text(mean, "s", 3), text(middle, "s", 3), text(p90, "s", 3), _tenths(closed))
                lines.append(row(test, name, *cells))
    head = row("test", "C4", "mean", "median", "90th percentile", "least, and each tenth of the trials")
    return "\n".join([head, row(":--", ":--", "--:", "--:", "--:", ":--"), *lines])


def _tenths(closed: npt.NDArray[np.float64]) -> str:
    return ", ".join(f"{value:.1f}" for value in np.quantile(closed, np.arange(0, 1.01, 0.1)))
