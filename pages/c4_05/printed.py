"""The tests as they were run against the tests as their text has them."""

from __future__ import annotations

import math

import polars as pl

from pages.c4_05.trials import MAINS, as_run, numbers, played
from pages.made import row
from thalweg.engine.catalogue import Suite
from thalweg.results.published import Published

ECN = ("ecn", "ecn-c4", "ecn-cubic", "ecn-bbr", "media-ecn")


def both(test: str) -> list[str]:
    """The line of a test: what C4, BBR and CUBIC reach as run and as printed."""
    cells = [test]
    for name, controller in MAINS.items():
        run, text = numbers(*as_run(test, name)), numbers(f"c4-05-as-printed/{test}", controller)
        cells.append(f"{_reached(run)}, {_reached(text)}")
    return [row(*cells)]


def _reached(found: Published) -> str:
    if not math.isnan(found.frame_delay_mean_s):
        return f"{1e3 * found.frame_delay_mean_s:.0f} ms"
    return f"{found.closed_mean_s:.2f} s ({1e3 * found.event_rtt_mean_s:.0f} ms)"


def table() -> str:
    """All tests that differ."""
    names = [entry.name for entry in Suite.find("c4-05-as-printed").entries]
    head = row("test", *(f"{name}: as run, as printed" for name in MAINS))
    return "\n".join([head, row(":--", *["--:"] * len(MAINS)), *(line for test in names for line in both(test))])


def marks_row(test: str) -> str:
    """What marks do to C4: packets marked, completion, RTT, load."""
    cells = [test]
    for suite in ("c4-05", "c4-05-as-printed"):
        outcomes = played(f"{suite}/{test}", MAINS["C4"])
        down = outcomes.links.filter(pl.col("link") == "down")
        closed_s = numbers(f"{suite}/{test}", MAINS["C4"]).closed_mean_s
        queue = float(outcomes.flows.filter(flow="main")["mean_queue_delay_s"].to_numpy().mean())
        cells += [
            f"{float(down['marked_packets'].to_numpy().mean()):.0f}",
            f"{float(down['dropped_packets'].to_numpy().mean()):.0f}",
            f"{closed_s:.2f} s",
            f"{1e3 * queue:.1f} ms",
        ]
    return row(*cells)


def marks() -> str:
    """The tests behind DualPI2, with packets that are ECT(0) and with the packets of the text."""
    words = ("marks", "drops", "closed", "queue")
    sides = [f"{word}, {side}" for side in ("as run", "as printed") for word in words]
    return "\n".join([row("test", *sides), row(":--", *["--:"] * 8), *(marks_row(test) for test in ECN)])
