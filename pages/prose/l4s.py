"""Values of docs/evidence/l4s.md."""

from __future__ import annotations

from collections.abc import Callable

from pages.draft_04 import DRAFT_04
from pages.prose.tables import Source

PAGE = "evidence/l4s.md"
HERE = Source(PAGE)
_SHARE = "share of C4, 20 trials"
_ALONE = "C4 alone over"
_OF_FIRST = "share of the first"
VALUES: dict[str, Callable[[], float]] = {
    "beside": HERE.cell("share", "as above", _SHARE),
    "beside-1-bdp": HERE.cell("share", "a buffer of 1 BDP", _SHARE),
    "beside-slower": HERE.cell("share", "20 Mbps, 40 ms", _SHARE),
    "picoquic": HERE.cell(_ALONE, "DualPI2", "utilisation"),
    "picoquic-queue": HERE.cell(_ALONE, "DualPI2", "queue delay, ms"),
    "unused": lambda: 100 - HERE.now.cell(_ALONE, "DualPI2", "utilisation"),
    "stuck-least": HERE.cell("stuck", "the RFCs", "utilisation", 2),
    "stuck-most": HERE.cell("stuck", "the RFCs", "utilisation", 3),
    "stuck": HERE.cell("stuck", "the RFCs", "of 20 trials end below 1.3 Mbps"),
    "step": HERE.cell(_ALONE, "DualPI2 with a step of 20 ms", "rate, Mbps"),
    "step-queue": HERE.cell(_ALONE, "DualPI2 with a step of 20 ms", "queue delay, ms"),
    "drop-tail": HERE.cell(_ALONE, "drop-tail, 200 ms", "rate, Mbps"),
    "drop-tail-queue": HERE.cell(_ALONE, "drop-tail, 200 ms", "queue delay, ms"),
    "no-pi": HERE.cell(_ALONE, "DualPI2 without its PI controller", "rate, Mbps"),
    "no-pi-queue": HERE.cell(_ALONE, "DualPI2 without its PI controller", "queue delay, ms"),
    "successor": HERE.cell("successor alone", "c4 | DualPI2", "utilisation"),
    "successor-queue": HERE.cell("successor alone", "c4 | DualPI2", "queue delay, ms"),
    "successor-cubic": HERE.cell("successor in pairs", "c4 | cubic | DualPI2", _OF_FIRST),
    "successor-twin": HERE.cell("successor in pairs", "c4 | c4 | DualPI2", _OF_FIRST),
    "codel-cubic": HERE.cell("two flows", f"{DRAFT_04} | cubic | CoDel", _OF_FIRST),
    "codel-prague": HERE.cell("two flows", "prague | cubic | CoDel", _OF_FIRST),
}
