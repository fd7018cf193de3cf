"""Flows of other controllers next to the player: their rate, queue and drops, and how long they starve."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Profile, Question, Setting, flow, path, scenario

_STANDARD = {"reno": "5.2.1", "cubic": "5.2.1", "bbr": "5.2.3"}
"""Other controllers, and the section that asks for each."""
_BASE = ("20 Mbps", "40 ms")


def settings() -> Iterator[Setting]:
    """All of them."""
    yield from _pairs()
    yield from _orders()
    yield from _environments()
    yield from _parts()
    yield from _round_trips()


def _asked(other: str, path: Keys | None = None) -> tuple[Question, ...]:
    """What is asked next to another controller; of the load only if the path carries its rate to the end."""
    section = _STANDARD[other]
    asked = (
        Question(section, "victim-rate"),
        Question(section, "victim-p95-queue-delay"),
        Question(section, "victim-drops"),
        Question("5.2", "starvation"),
    )
    if {"change", "medium"} & set(path or ()):
        return asked
    return (*asked, Question(section, "load"), Question(section, "least-load"))


def _beside(
    name: str,
    title: str,
    environment: str,
    path: Keys,
    other: str = "cubic",
    starts: tuple[str, str] = ("0 s", "3 s"),
    profile: Profile = "default",
    also: bool = False,
    model_only: bool = False,
    **keys: object,
) -> Setting:
    """One flow of the player and one other; `keys` are the keys of the player's flow."""

    def made(player: Player) -> Keys:
        flows = [flow("main", player, start=starts[0], **keys), flow("other", other, start=starts[1])]
        return scenario(title.capitalize(), "30 s", path, flows)

    return Setting(f"beside-{name}", title, environment, made, _asked(other, path), profile, also, model_only)


def _pairs() -> Iterator[Setting]:
    for other in _STANDARD:
        for bdp in ("0.5", "1", "4"):
            quick = (other, bdp) in {("cubic", "1"), ("reno", "4")}
            title = f"next to {other}, a buffer of {bdp} BDP"
            buffered = path(*_BASE, f"{bdp} bdp")
            profile: Profile = "quick" if quick else "default"
            yield _beside(f"{other}-{bdp}", title, "6.1", buffered, other, profile=profile, also=quick)


def _orders() -> Iterator[Setting]:
    for other in ("reno", "cubic"):
        title = f"next to {other}, which came first"
        yield _beside(f"{other}-first", title, "6.1", path(*_BASE), other, starts=("3 s", "0 s"))


def _environments() -> Iterator[Setting]:
    """The same pair, on the other kinds of paths."""
    wifi = path(*_BASE, jitter={"model": "wifi", "mean": "7 ms"})
    yield _beside("wifi", "next to cubic, on Wi-Fi jitter", "6.4", wifi)
    medium = {"model": "half-duplex", "overhead": "170 us", "packets": 16}
    half_duplex = path("50 Mbps", "20 ms", "100 ms", medium=medium)
    yield _beside("half-duplex", "next to cubic, on a half-duplex medium", "6.4", half_duplex)
    for queue in ("red", "codel", "fq-codel", "pie", "dualpi2"):
        profile: Profile = "quick" if queue == "pie" else "default"
        behind = path(*_BASE, "200 ms", queue=queue)
        yield _beside(queue, f"next to cubic, behind {queue}", "7.1", behind, profile=profile)
    yield _beside("satellite", "next to cubic, at 600 ms", "7.5", path("20 Mbps", "600 ms"))
    steps = path(*_BASE, change=[{"at": "10 s", "rtt": "120 ms"}, {"at": "20 s", "rtt": "40 ms"}])
    yield _beside("rtt-steps", "next to cubic, a round trip that triples for 10 s", "7.3", steps)
    drop = path(*_BASE, change=[{"at": "10 s", "rate": "5 Mbps"}, {"at": "20 s", "rate": "20 Mbps"}])
    yield _beside("rate-drop", "next to cubic, a capacity that falls to a quarter", "7.8", drop)
    switch = path(*_BASE, repeat="10 s", change=[{"at": "5 s", "rate": "8 Mbps", "rtt": "90 ms"}])
    yield _beside("switch", "next to cubic, two paths in turn", "7.9", switch, profile="quick")
    yield _beside("constrained", "next to cubic, at 100 kbps", "7.4", path("100 kbps", "100 ms", "10 packets"))
    held = {"model": "reordering", "share": "1 %", "extent": 50}
    yield _beside("reordering", "next to cubic, with reordering", "7.7", path(*_BASE, reorder=True, jitter=held))
    yield _in_a_tunnel()
    for receiver in ("optimistic-acks", "ack-division"):
        title = f"next to cubic, with a receiver of {receiver}"
        yield _beside(receiver, title, "7.6", path(*_BASE), receiver=receiver, model_only=True)


def _in_a_tunnel() -> Setting:
    """FQ-CoDel gives the tunnel one queue, and a flow outside another: without that flow, it would be CoDel."""

    def keys(player: Player) -> Keys:
        flows = [
            flow("main", player, tunnel="vpn"),
            flow("other", "cubic", tunnel="vpn", start="3 s"),
            flow("outside", "cubic"),
        ]
        return scenario("Next to cubic in one tunnel", "30 s", path(*_BASE, "200 ms", queue="fq-codel"), flows)

    asked = tuple(question for question in _asked("cubic") if "load" not in question.number)
    title = "next to cubic in one tunnel, behind fq-codel with a flow outside"
    return Setting("beside-tunnel", title, "6.2", keys, asked)


def _parts() -> Iterator[Setting]:
    """Ten flows, some of which use the player: incremental deployment."""
    for count in (1, 5, 9):

        def keys(player: Player, count: int = count) -> Keys:
            mine = [flow(f"main{number}", player) for number in range(count)]
            others = [flow(f"other{number}", "cubic") for number in range(10 - count)]
            title = f"{count} of ten flows, next to cubic"
            return scenario(title, "30 s", path("50 Mbps", "40 ms"), [*mine, *others])

        title = f"{count} of ten flows, the others are cubic"
        asked = (Question("5.3.2", "victim-rate"), Question("5.2", "starvation"))
        yield Setting(f"beside-part-{count}", title, "6.1", keys, asked)


def _round_trips() -> Iterator[Setting]:
    """Round trips of 20 ms and 80 ms over one link."""
    for mine, theirs in (("20 ms", "80 ms"), ("80 ms", "20 ms")):

        def keys(player: Player, mine: str = mine, theirs: str = theirs) -> Keys:
            links = [
                {"name": "shared", "rate": "20 Mbps", "rtt": "10 ms", "buffer": "100 kB"},
                {"name": "short-access", "rate": "1 Gbps", "rtt": "10 ms", "buffer": "10 MB"},
                {"name": "long-access", "rate": "1 Gbps", "rtt": "70 ms", "buffer": "10 MB"},
            ]
            access = {"20 ms": "short-access", "80 ms": "long-access"}
            flows = [
                flow("main", player, route=[access[mine], "shared"]),
                flow("other", "cubic", start="3 s", route=[access[theirs], "shared"]),
            ]
            title = f"{mine} next to cubic at {theirs}"
            return {**scenario(title, "30 s", {}, flows), "link": links}

        title = f"at {mine}, next to cubic at {theirs}"
        name = f"beside-rtt-{mine}-{theirs}".replace(" ", "")
        yield Setting(name, title, "6.1", keys, _asked("cubic"))
