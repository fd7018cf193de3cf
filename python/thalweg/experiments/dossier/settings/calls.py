"""A call with a controller for real-time media next to the player."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Question, Setting, flow, path, scenario

_MEDIA = (
    {
        "name": "video",
        "carriage": "datagrams",
        "per_second": 30,
        "duration": "28 s",
        "measure_from": "8 s",
        "rate": {"least": "150 kbps", "most": "1.5 Mbps"},
    },
    {
        "name": "audio",
        "carriage": "datagrams",
        "per_second": 50,
        "duration": "28 s",
        "frame": "50 B",
        "priority": 2,
    },
)
"""The rates of RFC 8867 section 5.1 for video, and 20 kbps of audio."""


def settings() -> Iterator[Setting]:
    """All of them."""
    for controller in ("gcc", "screamv2"):
        for environment, what, table in (
            ("6.1", "drop-tail", path("5 Mbps", "50 ms", "2 bdp")),
            ("7.1", "fq-codel", path("5 Mbps", "50 ms", "200 ms", queue="fq-codel")),
        ):

            def keys(player: Player, controller: str = controller, table: Keys = table) -> Keys:
                media = [dict(stream) for stream in _MEDIA]
                flows = [flow("main", player, start="3 s"), flow("call", controller, media=media)]
                # An encoder sends no more than it has: its share starves nobody.
                return scenario(f"A call of {controller}", "30 s", table, flows, can_starve=False)

            yield Setting(
                f"call-{controller}-{what}",
                f"next to a call of {controller}, {what}",
                environment,
                keys,
                (Question("5.2.2", "p95-delay"), Question("5.2.2", "frozen")),
                "quick" if what == "drop-tail" else "default",
            )
