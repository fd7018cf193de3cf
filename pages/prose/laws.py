"""Values of docs/evidence/studies/laws.md."""

from __future__ import annotations

from collections.abc import Callable

from pages.prose import c4_05
from pages.prose.tables import Source

PAGE = "evidence/studies/laws.md"
HERE = Source(PAGE)


def used(stack: str, controller: str) -> float:
    """Utilisation on the slow link, in percent."""
    return HERE.now.cell("What we measured", f"1 Mbps, 10 ms | {stack}", controller)


def window(controller: str) -> float:
    """The average window in CUBIC's Reno-friendly region under random loss."""
    return HERE.now.cell("windows", "0.001, 10 ms", f"{controller}, random")


VALUES: dict[str, Callable[[], float]] = {
    "friendly": lambda: 100 * (window("CUBIC") / window("Reno") - 1),
    "friendly-cubic": lambda: window("CUBIC"),
    "friendly-reno": lambda: window("Reno"),
    "c4-slow": lambda: used("quic", "c4"),
    "c4-slow-model": lambda: used("model", "c4"),
    "c4-slow-no-trim": c4_05.VALUES["slow-no-trim"],
    "c4-slow-draft-04": c4_05.VALUES["slow-draft-04"],
}
