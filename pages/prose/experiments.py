"""Values of the pages in docs/evidence/experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pages.prose.tables import Source

GAPS = Source("evidence/experiments/gaps.md")
WINDOWS = Source("evidence/experiments/small-windows.md")
GROWTH = Source("evidence/experiments/first-growth.md")
STOPS = Source("evidence/experiments/stop-and-go.md")
TWIN = Source("evidence/experiments/loopback-twin.md")
_BLOG = "2.5 Gbps | 20 us | 150 us | 50 kB | CUBIC and BBR of picoquic"
_OF_GAPS = ("50 ms", "100 ms", "200 ms", "400 ms", "1000 ms")
_BY_LOSS = ("reno", "cubic", "bbr1", "bbr", "reno:start=classic", "cubic:start=classic")


def _faster(rounds: int) -> float:
    """By how many percent unpaced windows grow faster than the windows of BBRv1."""
    statement = f"reno:start=classic, unpaced, grows faster than bbr1 in {rounds} round trips"
    return 100 * (GROWTH.now.cell("statements", statement, "median of the trials") - 1)


def _full_apart() -> float:
    """How far apart links are full, of all but C4."""
    full = GROWTH.now.cells(
        "measured", [f"{name} | 40 packets | as usual" for name in _BY_LOSS], "link full after, ms"
    )
    unpaced = [f"{name} | 40 packets | only by the controller" for name in _BY_LOSS if not name.startswith("bbr")]
    full += GROWTH.now.cells("measured", unpaced, "link full after, ms")
    return max(full) - min(full)


PAGES: dict[str, Mapping[str, Callable[[], float]]] = {
    GAPS.page: {
        "c4-window": GAPS.least("measured", [f"c4 | {gap}" for gap in _OF_GAPS], "least window"),
        "c4-full": GAPS.cell("measured", "c4 | 1000 ms", "link full after, ms"),
        "bbr-window": GAPS.cell("measured", "bbr | 200 ms", "least window"),
        "bbr-next": GAPS.cell("measured", "bbr | 400 ms", "rate of the next second"),
        "bbr1-window": GAPS.cell("measured", "bbr1 | 400 ms", "least window"),
        "bbr1-full": GAPS.cell("measured", "bbr1 | 400 ms", "link full after, ms"),
    },
    WINDOWS.page: {
        "stalls": WINDOWS.cell("windows", "1 BDP | 7 ms", "time without a packet"),
        "used": WINDOWS.cell("windows", "1 BDP | 7 ms", "link used"),
        "used-without": WINDOWS.cell("windows", "1 BDP | 0 ms", "link used"),
        "stalls-8": WINDOWS.cell("windows", "8 BDP | 7 ms", "time without a packet"),
        "used-8": WINDOWS.cell("windows", "8 BDP | 7 ms", "link used"),
        "c4": WINDOWS.cell("controllers", "c4 | 7 ms", "link used"),
        "bbr": WINDOWS.cell("controllers", "bbr | 7 ms", "link used"),
        "bbr1": WINDOWS.cell("controllers", "bbr1 | 7 ms", "link used"),
        "by-loss": WINDOWS.least("controllers", ["cubic | 7 ms", "reno | 7 ms", "prague | 7 ms"], "link used"),
    },
    GROWTH.page: {
        "unpaced-4": lambda: _faster(4),
        "unpaced-6": lambda: _faster(6),
        "apart": _full_apart,
    },
    TWIN.page: {
        "bbr-small": TWIN.cell("goodputs", "8 Gbps | 20 us | 100 us | 50 kB | -", "bbr"),
        "bbr-blog": TWIN.cell("goodputs", _BLOG, "bbr"),
        "floor-blog": TWIN.cell("goodputs", _BLOG, "c4-floor"),
        "bbr-45": TWIN.cell("goodputs", _BLOG.replace("50 kB", "45 kB"), "bbr"),
    },
    STOPS.page: {
        "c4-drops": STOPS.cell("measured", "c4 | 5 Mbps", "its drops"),
        "reno-slow": STOPS.cell("measured", "reno | 80 Mbps", "second chunk"),
        "prague-slow": STOPS.cell("measured", "prague | 80 Mbps", "second chunk"),
        "cubic-slow": STOPS.cell("measured", "cubic | 80 Mbps", "second chunk"),
    },
}
