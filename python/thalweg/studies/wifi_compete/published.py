"""What is published about the experiment `wifi-compete`, and what was measured again since.

Two sources. The paper is "Handling of competition with Wi-Fi jitter", which stands beside C4 v2 in the
history of the C4 repository (commit ffec621, September 2025). The re-measurement compiled that source
again and gave each of 199 trials its own jitter sequence; its medians are what this study is held to.
"""

from __future__ import annotations

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

ACCEPTANCE_S: dict[tuple[str, str], float] = {
    ("v1", ALONE): 9.3,
    ("v1", "cubic"): 11.8,
    ("v1", "bbr"): 9.7,
    ("v1", SAME): 10.9,
    ("no-exit", ALONE): 8.2,
    ("no-exit", "cubic"): 11.7,
    ("no-exit", "bbr"): 9.1,
    ("no-exit", SAME): 11.6,
    ("v2", ALONE): 5.9,
    ("v2", "cubic"): 9.9,
    ("v2", "bbr"): 8.2,
    ("v2", SAME): 11.5,
    ("v3", ALONE): 6.1,
    ("v3", "cubic"): 10.4,
    ("v3", "bbr"): 8.5,
    ("v3", SAME): 11.0,
}
"""Median end times of the re-measurement, random seeds. None for the current C4, which is younger."""

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
