"""What is published about the experiment `wifi-compete`, and what was measured again since.

Two sources. The paper is "Handling of competition with Wi-Fi jitter", which is with C4 v2 in the
history of the C4 repository (commit ffec621, September 2025). The re-measurement compiled that source
again and gave each of 199 trials its own jitter sequence; its medians are what this study is held to.
"""

from __future__ import annotations

from typing import NamedTuple

PAPER = "Handling of competition with Wi-Fi jitter (C4 repository, commit ffec621, 2025)"
REMEASURED = "the C4 source of 2025, compiled and run again with 199 random jitter seeds"

VARIANTS = {
    "v1": "c4:variant=v1",
    "no-exit": "c4:variant=v1-no-exit-on-delay",
    "v2": "c4:variant=v2",
    "v3": "c4:variant=v3",
    "current": "c4:variant=draft-04",
}
"""Name in tables -> controller. `current` is the C4 of draft -04, which the paper could not know."""

PEERS = {"cubic": "cubic:variant=picoquic", "bbr": "bbr:variant=picoquic"}
"""Competitors that are the same for all variants: the controllers of the stack that the paper ran on."""

ALONE = "alone"
SAME = "c4"
"""The competitor is the variant itself."""
COMPETITORS = (ALONE, *PEERS, SAME)

HEAD_START_S = 1.0
"""How much earlier than the main flow the background of a pair starts."""

REMEASURED_TRIALS = 199
"""Trials of each cell: what is published of them has an error of its own."""


class Distribution(NamedTuple):
    """End times of a cell in seconds, as published."""

    median_s: float
    mean_s: float
    sd_s: float
    p90_s: float


ACCEPTANCE: dict[tuple[str, str], Distribution] = {
    ("v1", ALONE): Distribution(9.3, 9.7, 3.0, 14.2),
    ("v1", "cubic"): Distribution(11.8, 12.4, 3.8, 17.0),
    ("v1", "bbr"): Distribution(9.7, 11.7, 5.1, 19.8),
    ("v1", SAME): Distribution(10.9, 11.5, 3.0, 16.0),
    ("no-exit", ALONE): Distribution(8.2, 8.8, 2.7, 12.4),
    ("no-exit", "cubic"): Distribution(11.7, 12.5, 3.6, 17.8),
    ("no-exit", "bbr"): Distribution(9.1, 11.0, 4.8, 18.4),
    ("no-exit", SAME): Distribution(11.6, 12.0, 3.2, 16.6),
    ("v2", ALONE): Distribution(5.9, 6.0, 1.0, 7.4),
    ("v2", "cubic"): Distribution(9.9, 10.5, 2.3, 13.7),
    ("v2", "bbr"): Distribution(8.2, 9.7, 3.4, 14.8),
    ("v2", SAME): Distribution(11.5, 11.8, 2.8, 16.1),
    ("v3", ALONE): Distribution(6.1, 6.3, 1.1, 7.7),
    ("v3", "cubic"): Distribution(10.4, 10.7, 2.4, 14.0),
    ("v3", "bbr"): Distribution(8.5, 9.9, 3.4, 15.1),
    ("v3", SAME): Distribution(11.0, 11.5, 2.9, 15.7),
}
"""The re-measurement, random seeds. None for the current C4, which is younger."""

ACCEPTANCE_S: dict[tuple[str, str], float] = {cell: of.median_s for cell, of in ACCEPTANCE.items()}
"""Its medians."""

FIRST_EXITS: dict[str, tuple[float, float, float]] = {
    ALONE: (0.49, 0.05, 0.46),
    "cubic": (0.04, 0.87, 0.09),
    "bbr": (0.17, 0.60, 0.23),
    SAME: (0.30, 0.22, 0.48),
}
"""How v1 first left Initial in the re-measurement: by delay, by loss, without growth; shares of its runs."""

SHARED_MEDIAN_S: dict[tuple[str, str], float] = {
    ("v1", ALONE): 5.31,
    ("v1", "cubic"): 9.17,
    ("v1", "bbr"): 10.53,
    ("v1", SAME): 14.8,
    ("no-exit", ALONE): 6.27,
    ("no-exit", "cubic"): 9.17,
    ("no-exit", "bbr"): 9.92,
    ("no-exit", SAME): 22.9,
    ("v2", ALONE): 4.65,
    ("v2", "cubic"): 7.63,
    ("v2", "bbr"): 7.09,
    ("v2", SAME): 7.78,
    ("v3", ALONE): 4.72,
    ("v3", "cubic"): 8.58,
    ("v3", "bbr"): 7.73,
    ("v3", SAME): 12.3,
}
"""The same with the one jitter sequence that all runs of the paper shared: medians of 100 runs."""
