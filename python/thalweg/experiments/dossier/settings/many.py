"""Many flows of one player: collapse, drops in shallow buffers, and how they share."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Profile, Question, Setting, flow, path, scenario


def settings() -> Iterator[Setting]:
    """All of them."""
    yield from _overload()
    yield from _shallow()
    yield from _shares()
    yield from _standing()
    yield from _incast()
    yield from _breakers()


def _flows(player: Player, count: int, gap_ms: float = 0) -> list[Keys]:
    """Flows that start one after another; a start at the same instant has its noise."""
    return [flow(f"main{number}", player, start=f"{round(1000 * gap_ms * number)} us") for number in range(count)]


def _many(
    name: str,
    title: str,
    environment: str,
    path: Keys,
    count: int,
    asked: tuple[Question, ...],
    span: str = "20 s",
    gap_ms: float = 0,
    profile: Profile = "default",
    also: bool = False,
) -> Setting:
    return Setting(
        f"many-{name}",
        title,
        environment,
        lambda player: scenario(title.capitalize(), span, path, _flows(player, count, gap_ms)),
        asked,
        profile,
        also,
    )


def _overload() -> Iterator[Setting]:
    """Less than a packet for each flow in a round trip: 2 Mbps of 100 ms carry 17 packets of 1500 B."""
    asked = (Question("5.1.1", "rate"), Question("5.1.1", "drops"))
    for count, profile in ((10, "default"), (100, "quick"), (1000, "full")):
        title = f"{count} flows on a link of 17 packets per round trip"
        yield _many(f"overload-{count}", title, "6.1", path("2 Mbps", "100 ms"), count, asked, "30 s", 5, profile)  # type: ignore[arg-type]


def _shallow() -> Iterator[Setting]:
    """The failure that RFC 9743 section 5.1.3 tells: several flows and a buffer below 1.5 BDP."""
    for count in (1, 10, 30, 100):
        for bdp in ("0.02", "0.2", "1"):
            profile: Profile = "full" if count == 100 else "quick" if (count, bdp) == (10, "0.2") else "default"
            yield _many(
                f"shallow-{count}-{bdp}",
                f"{count} flow{'s' if count > 1 else ''}, a buffer of {bdp} BDP at 50 Mbps and 30 ms",
                "6.1",
                path("50 Mbps", "30 ms", f"{bdp} bdp"),
                count,
                (Question("5.1.3", "drops"),),
                "10 s",
                20,
                profile,
                also=(count, bdp) == (10, "0.2"),
            )


def _shares() -> Iterator[Setting]:
    """Shares of flows that start together, and of one that comes late."""
    asked = (Question("5.1.4", "jain"), Question("5.1.4", "starvation"))
    base = path("20 Mbps", "40 ms")
    yield _many("late", "a second flow 10 s later", "6.1", base, 2, asked, "40 s", 10_000, "quick", also=True)
    yield _many("ten", "ten flows, one each second", "6.1", base, 10, asked, "40 s", 1000)
    behind = path("20 Mbps", "40 ms", "200 ms", queue="pie")
    yield _many("late-pie", "a second flow 10 s later, behind pie", "7.1", behind, 2, asked, "40 s", 10_000)
    switch = path("20 Mbps", "40 ms", repeat="10 s", change=[{"at": "5 s", "rate": "8 Mbps", "rtt": "90 ms"}])
    yield _many(
        "late-switch", "a second flow 10 s later, two paths in turn", "7.9", switch, 2, asked, "40 s", 10_000
    )
    wifi = path("20 Mbps", "40 ms", jitter={"model": "wifi", "mean": "7 ms"})
    yield _many("late-wifi", "a second flow 10 s later, on Wi-Fi jitter", "6.4", wifi, 2, asked, "40 s", 10_000)


def _standing() -> Iterator[Setting]:
    """Standing queues of several flows in deep buffers."""
    for count in (2, 10):
        for bdp in ("1", "10", "50"):
            profile: Profile = "quick" if (count, bdp) == (2, "10") else "default"
            title = f"{count} flows, a buffer of {bdp} BDP at 20 Mbps and 40 ms"
            asked = (Question("5.1.2", "p95-queue-delay"),)
            deep = path("20 Mbps", "40 ms", f"{bdp} bdp")
            yield _many(f"deep-{count}-{bdp}", title, "6.1", deep, count, asked, "20 s", 500, profile)


def _breakers() -> Iterator[Setting]:
    """Circuit breakers of RFC 8084 section 4: 10 % of loss in three intervals of a second in a row."""
    breaker = {"model": "transport", "loss": "10 %", "interval": "1 s"}
    asked = (Question("5.1.3", "trips"),)
    for count, bdp, profile in ((1, "0.5", "quick"), (10, "0.2", "default"), (10, "1", "default")):

        def keys(player: Player, count: int = count, bdp: str = bdp) -> Keys:
            flows = [{**one, "circuit_breaker": breaker} for one in _flows(player, count, 20)]
            return scenario("Circuit breakers", "20 s", path("50 Mbps", "30 ms", f"{bdp} bdp"), flows)

        title = f"{count} flow{'s' if count > 1 else ''} with circuit breakers, a buffer of {bdp} BDP"
        yield Setting(f"breakers-{count}-{bdp}", title, "7.2", keys, asked, profile)  # type: ignore[arg-type]


def _incast() -> Iterator[Setting]:
    """Senders of a data centre that answer at once."""

    def keys(player: Player) -> Keys:
        requests = {"count": 20, "parallel": 32, "mean_idle": "1 ms", "least": "64 kB", "most": "64 kB"}
        fast = path("1 Gbps", "200 us", "200 kB")
        return scenario("Incast of 32 answers", "5 s", fast, [flow("short", player, requests=requests)])

    asked = (Question("5.1.5", "flow-completion-time"),)
    yield Setting("many-incast", "incast: 32 answers of 64 kB at once", "7.11", keys, asked, "quick")
