"""Short flows next to long ones: of the player, and of others."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Profile, Question, Setting, flow, path, scenario

_REQUESTS = {"count": 60, "mean_gap": "300 ms", "p5": "20 kB", "p95": "500 kB"}
"""Requests of 130 kB on average: a sixth of 20 Mbps."""


def settings() -> Iterator[Setting]:
    """All of them."""
    for environment, what, table in (
        ("6.1", "drop-tail", path("20 Mbps", "40 ms")),
        ("6.1", "a buffer of 4 BDP", path("20 Mbps", "40 ms", "4 bdp")),
        ("7.1", "pie", path("20 Mbps", "40 ms", "200 ms", queue="pie")),
        ("6.4", "Wi-Fi jitter", path("20 Mbps", "40 ms", jitter={"model": "wifi", "mean": "7 ms"})),
    ):
        name, quick = what.replace(" ", "-"), what == "drop-tail"
        profile: Profile = "quick" if quick else "default"
        yield Setting(
            f"short-own-{name}",
            f"short flows next to a long one of the same algorithm, {what}",
            environment,
            lambda player, table=table: _keys("Short flows and a long one", table, player, player),  # type: ignore[misc]
            (Question("5.1.5", "flow-completion-time"), Question("5.1.5", "rate")),
            profile,
        )
        for other in ("cubic", "bbr"):
            yield Setting(
                f"short-{other}-{name}",
                f"short flows of {other} next to a long one of the candidate, {what}",
                environment,
                lambda player, table=table, other=other: _keys(  # type: ignore[misc]
                    f"Short flows of {other}", table, player, other
                ),
                (Question("5.2.3", "flow-completion-time"),),
                profile if other == "cubic" else "default",
            )
        yield Setting(
            f"long-cubic-{name}",
            f"a long flow of cubic next to short ones of the candidate, {what}",
            environment,
            lambda player, table=table: _beside_short(table, player),  # type: ignore[misc]
            (Question("5.2.3", "victim-rate"), Question("5.2.3", "victim-p95-queue-delay")),
        )


def _keys(title: str, table: Keys, long: Player, short: Player | str) -> Keys:
    flows = [flow("main", long), flow("short", short, start="3 s", requests=_REQUESTS)]
    return scenario(title, "30 s", table, flows, can_starve=False)


def _beside_short(table: Keys, player: Player) -> Keys:
    flows = [flow("other", "cubic"), flow("short", player, start="3 s", requests=_REQUESTS)]
    return scenario("Long flow next to short ones", "30 s", table, flows, can_starve=False)
