"""What the medium agrees with: the numbers of `cargo test -p thalweg-path --test wifi`, as it prints them."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator

from pages.made import ROOT, row

_TEST = ("cargo", "test", "--locked", "--profile", "work", "-p", "thalweg-path", "--test", "wifi")
# The first line of a test follows its name.
_BIANCHI = re.compile(
    r"(?:^|\.\.\. )(BestEffort|Dcf) (\d+): p (\S+) (\S+), frames (\S+) (\S+) \((\S+) %\)$", re.MULTILINE
)
_NS3 = re.compile(r"(?:^|\.\.\. )(A|Ax) (\S+) (\d+): (\S+) %$", re.MULTILINE)
_ACCESS = {"BestEffort": "`best-effort`", "Dcf": "`dcf`"}
_HIDDEN = re.compile(r"(?:^|\.\.\. )hidden: arrived (\S+) (\S+)$", re.MULTILINE)


def printed() -> str:
    """What the tests print; raises if one of them fails."""
    command = [*_TEST, "--", "--nocapture", "--test-threads", "1", "bianchi", "hidden"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def bianchi(text: str) -> Iterator[str]:
    """Probability of a collision and throughput, by how stations contend and how many they are."""
    yield row("access", "stations", "collisions", "equations", "frames per second", "equations", "difference")
    yield row(":--", *["--:"] * 6)
    for access, stations, p, p_expected, frames, expected, off in _BIANCHI.findall(text):
        yield row(_ACCESS[access], stations, p, p_expected, frames, expected, f"{off} %")


def ns3(text: str) -> Iterator[str]:
    """The largest difference from ns-3's table, by number of stations."""
    worst: dict[tuple[str, int], list[float]] = defaultdict(list)
    for phy, _, stations, off in _NS3.findall(text):
        worst[phy, int(stations)].append(float(off))
    yield row("physical layer", "stations", "rates", "least difference", "largest")
    yield row(":--", "--:", "--:", "--:", "--:")
    for (phy, stations), found in sorted(worst.items()):
        ends = (f"{end:+.2f} %" for end in (min(found), max(found)))
        yield row(f"802.11{phy.lower()}", str(stations), str(len(found)), *ends)


def hidden(text: str) -> Iterator[str]:
    """Frames that arrive next to a station that does not hear the sender."""
    yield row("share that arrives", "closed form", "difference")
    yield row(*["--:"] * 3)
    for found, expected in _HIDDEN.findall(text):
        yield row(found, expected, f"{100 * (float(found) / float(expected) - 1):+.2f} %")
