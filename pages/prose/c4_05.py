"""Values of docs/evidence/c4-05.md."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pages.prose.tables import Source

PAGE = "evidence/c4-05.md"
HERE = Source(PAGE)
cell = HERE.cell


def longer(where: str, row: str, before: tuple[str, int], after: tuple[str, int]) -> float:
    """By how many percent one cell exceeds another one of its row; columns with the number in the cell."""
    first, second = (HERE.now.cell(where, row, *column) for column in (before, after))
    return 100 * (second / first - 1)


def marked(test: str, what: str = "closed") -> float:
    """What marks change, in percent."""
    return longer("marks", test, (f"{what}, as run", 1), (f"{what}, as printed", 1))


def behind(place: int) -> float:
    """How far CUBIC is behind C4 on bad Wi-Fi: as run (1), as printed (3)."""
    c4, cubic = (
        HERE.now.cell("printed", "wifi-bad", f"{name}: as run, as printed", place) for name in ("C4", "CUBIC")
    )
    return 100 * (cubic / c4 - 1)


def alone(pick: Callable[[list[float]], float]) -> float:
    """What draining costs where nobody else is."""
    return pick([-value for value in HERE.now.cells("switches", ALONE, "no drain")])


def wifi(title: str) -> list[float]:
    """Differences from the published numbers on bad Wi-Fi, of all three controllers."""
    return [HERE.now.cell(title, "wifi-bad", f"{name}: published, ours", 3) for name in ("C4", "BBR", "CUBIC")]


ALONE = ("alone-512k", "alone-1-5M", "bbloat", "low-and-up")
BOTH = "debt and own alpha"
VALUES: dict[str, Callable[[], float]] = {
    "media": cell("Frame delay of the worst stream, mean", "media", "C4: published, ours", 2),
    "bbloat-cubic-ours": cell("Load, mean", "bbloat-cubic", "C4: published, ours", 2),
    "bbloat-cubic-peer": cell("Load, mean", "bbloat-cubic", "C4: published, ours", 1),
    "wifi-rtt-least": lambda: min(wifi("RTT by event weight, mean")),
    "wifi-rtt-most": lambda: max(wifi("RTT by event weight, mean")),
    "wifi-time": lambda: max(abs(value) for value in wifi("Completion, mean")),
    "later-vs-cubic": cell("states", "vs-cubic", "to draft-05"),
    "october-vs-cubic": cell("october", "vs-cubic", "all three"),
    "october-vs-bbr-lg": cell("october", "vs-bbr-lg", "all three"),
    "no-drain-least": partial(alone, min),
    "no-drain-most": partial(alone, max),
    "ratchet": cell("switches", "wifi-bad-c4", "ratchet"),
    "ratchet-rtt": cell("switches-rtt", "bbloat", "ratchet"),
    "ratchet-rtt-c4": cell("switches-rtt", "bbloat-c4", "ratchet"),
    "reentry": cell("switches", "wifi-bad-c4", "no re-entry"),
    "own-rtt": cell("switches-rtt", "bbloat-c4", "own alpha in Recovery"),
    "debt-cubic": cell("october", "vs-cubic", "debt"),
    "debt-cubic-lg2": cell("october", "vs-cubic-lg2", "debt"),
    "own-cubic": cell("october", "vs-cubic", "own alpha"),
    "both-cubic": cell("october", "vs-cubic", BOTH),
    "debt-bbr": cell("october", "vs-bbr-lg", "debt"),
    "both-bbr": cell("october", "vs-bbr-lg", BOTH),
    "debt-up": cell("october", "low-and-up", "debt"),
    "later-up": cell("states", "low-and-up", "to draft-05"),
    "wifi-run": partial(behind, 1),
    "wifi-printed": partial(behind, 3),
    "marks-alone": partial(marked, "ecn"),
    "marks-bbr": partial(marked, "ecn-bbr"),
    "marks-cubic": partial(marked, "ecn-cubic"),
    "marks-c4": partial(marked, "ecn-c4"),
    "marks-queue": lambda: -max(marked(test, "queue") for test in ("ecn-c4", "ecn-cubic", "ecn-bbr", "media-ecn")),
    "slowest": cell("standing", "alone-512k | closed | ours", "gap to the best"),
    "slow-no-trim": cell("slow-link", "no trim", "QUIC stack"),
    "slow-draft-04": cell("slow-link", "draft-04", "QUIC stack"),
}
