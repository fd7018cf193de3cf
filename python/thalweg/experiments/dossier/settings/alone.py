"""One long flow on each kind of path: its rate, its queue and its drops."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.setting import Keys, Profile, Question, Setting, flow, path, scenario

_ASKED = (Question("5.1.2", "p95-queue-delay"), Question("5.1.3", "drops"), Question("5.1", "rate"))


def _alone(
    name: str,
    title: str,
    environment: str,
    path: Keys,
    span: str = "20 s",
    profile: Profile = "default",
    also: bool = False,
) -> Setting:
    return Setting(
        f"alone-{name}",
        f"alone, {title}",
        environment,
        lambda player: scenario(f"Alone, {title}", span, path, [flow("main", player)]),
        _ASKED,
        profile,
        also,
    )


def settings() -> Iterator[Setting]:
    """All of them."""
    yield from _range()
    yield from _special()


def _range() -> Iterator[Setting]:
    """Rates, delays and queue depths: RFC 9743 section 6."""
    for rate, span, profile in (
        ("64 kbps", "60 s", "full"),
        ("1 Mbps", "30 s", "default"),
        ("10 Mbps", "20 s", "default"),
        ("100 Mbps", "10 s", "default"),
        ("1 Gbps", "5 s", "full"),
    ):
        for rtt in ("10 ms", "50 ms", "200 ms"):
            name = f"{rate}-{rtt}".replace(" ", "")
            yield _alone(name, f"{rate}, {rtt}", "6", path(rate, rtt), span, profile)  # type: ignore[arg-type]
    for bdp in ("0.1", "0.5", "1", "4", "20"):
        quick: Profile = "quick" if bdp in ("0.5", "4") else "default"
        yield _alone(
            f"buffer-{bdp}",
            f"a buffer of {bdp} BDP",
            "6.1",
            path("20 Mbps", "40 ms", f"{bdp} bdp"),
            "20 s",
            quick,
            also=True,
        )
    yield _alone("wired", "100 Mbps, 20 ms", "6.3", path("100 Mbps", "20 ms"), "10 s", "quick")


def _special() -> Iterator[Setting]:
    """Wireless paths, and the special cases of RFC 9743 section 7."""
    base = ("20 Mbps", "40 ms")
    yield _alone("loss-0.1", "0.1 % of random loss", "6.4", path(*base, loss="0.1 %"), profile="quick")
    yield _alone("loss-1", "1 % of random loss", "6.4", path(*base, loss="1 %"))
    yield _alone(
        "wifi", "Wi-Fi jitter", "6.4", path(*base, jitter={"model": "wifi", "mean": "7 ms"}), profile="quick"
    )
    medium = {"model": "half-duplex", "overhead": "170 us", "packets": 16}
    yield _alone("half-duplex", "a half-duplex medium", "6.4", path("50 Mbps", "20 ms", "100 ms", medium=medium))
    noise = {"rate_sd": "8 Mbps", "delay_sd": "2 ms", "every": "10 ms"}
    yield _alone("varying", "a capacity that varies", "6.4", path(*base, noise=noise))
    # One flow has one queue of FQ-CoDel: that is CoDel.
    for queue in ("red", "codel", "pie", "dualpi2"):
        profile: Profile = "quick" if queue in ("codel", "pie") else "default"
        yield _alone(queue, f"behind {queue}", "7.1", path(*base, "200 ms", queue=queue), profile=profile)
    longer = [{"at": "8 s", "rtt": "120 ms"}]
    yield _alone(
        "rtt-up", "a round trip of 40 ms that becomes 120 ms", "7.3", path(*base, change=longer), profile="quick"
    )
    shorter = [{"at": "8 s", "rtt": "15 ms"}]
    yield _alone("rtt-down", "a round trip of 40 ms that becomes 15 ms", "7.3", path(*base, change=shorter))
    handover = [{"at": "15 s", "rtt": "55 ms", "loss": "100 %"}, {"at": "15.06 s", "loss": "0 %"}]
    yield _alone(
        "leo",
        "handovers of a low orbit every 15 s",
        "7.3",
        path("50 Mbps", "35 ms", "80 ms", repeat="30 s", change=handover),
        "60 s",
    )
    yield _alone(
        "constrained", "20 kbps, 200 ms, 8 packets", "7.4", path("20 kbps", "200 ms", "8 packets"), "60 s", "quick"
    )
    yield _alone(
        "one-packet",
        "100 kbps, 50 ms, a BDP of half a packet",
        "7.4",
        path("100 kbps", "50 ms", "4 packets"),
        "30 s",
    )
    yield _alone("satellite", "20 Mbps, 600 ms", "7.5", path("20 Mbps", "600 ms"), "60 s", "quick")
    for extent in (5, 50, 500):
        held = {"model": "reordering", "share": "1 %", "extent": extent}
        yield _alone(
            f"reordering-{extent}",
            f"1 % of the packets {extent} places late",
            "7.7",
            path(*base, reorder=True, jitter=held),
            profile="quick" if extent == 50 else "default",
        )
    yield _alone(
        "rate-drop",
        "a capacity that falls to a quarter for 6 s",
        "7.8",
        path(*base, change=[{"at": "8 s", "rate": "5 Mbps"}, {"at": "14 s", "rate": "20 Mbps"}]),
        profile="quick",
    )
    yield _alone(
        "outage",
        "an outage of 2 s",
        "7.8",
        path(*base, change=[{"at": "8 s", "rate": "0 bps"}, {"at": "10 s", "rate": "20 Mbps"}]),
    )
    for period in ("1 s", "10 s"):
        half = "500 ms" if period == "1 s" else "5 s"
        other = [{"at": half, "rate": "8 Mbps", "rtt": "90 ms", "buffer": "50 kB"}]
        yield _alone(
            f"switch-{period}".replace(" ", ""),
            f"two paths in turn, each for {half}",
            "7.9",
            path(*base, repeat=period, change=other),
            "30 s",
            "quick" if period == "10 s" else "default",
        )
    yield _alone("data-centre", "1 Gbps, 200 us", "7.11", path("1 Gbps", "200 us", "200 kB"), "1 s", "quick")
    yield _alone(
        "data-centre-step",
        "1 Gbps, 200 us, marks above 30 kB",
        "7.11",
        path("1 Gbps", "200 us", "500 kB", queue={"model": "step", "threshold": "30 kB"}),
        "1 s",
    )
