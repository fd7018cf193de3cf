"""Values of the pages in docs/evidence/studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pages.prose.tables import Source

FAIRNESS = Source("evidence/studies/fairness.md")
HARM = Source("evidence/studies/harm.md")
HUNT = Source("evidence/studies/hunt.md")
SLOW_START = Source("evidence/studies/slow-start.md")
STACKS = Source("evidence/studies/stacks.md")
TRANSIENT = Source("evidence/studies/transient.md")
WIFI_COMPETE = Source("evidence/studies/wifi-compete.md")

BASE = "50 Mbps, 40 ms, 2 BDP"
FAR = "50 Mbps, 600 ms, 2 BDP"
SHALLOW = "50 Mbps, 40 ms, 1 BDP"
DEEP = "50 Mbps, 40 ms, 8 BDP"
WIFI = "50 Mbps, 40 ms, 2 BDP, 2 ms Wi-Fi"
BAD_WIFI = "50 Mbps, 40 ms, 2 BDP, 7 ms Wi-Fi"
RTTS = ("10 ms", "20 ms", "40 ms", "80 ms", "160 ms")
Value = Callable[[], float]


def share(first: str, second: str) -> Value:
    """What the first flow gets against the second, as a share of its fair share."""
    return FAIRNESS.cell("fairness", first, second)


def alike() -> float:
    """By how many percent two flows of C4, of Prague or of Reno differ at most."""
    check = "two flows of one controller and one RTT have rates within a factor of 3"
    ratios = (FAIRNESS.now.cell("checks", check, "measured", number) for number in (1, 13, 16))
    return 100 * (max(ratios) - 1)


def harm(rtt: str, competitor: str, statistic: str = "geometric mean") -> float:
    """Harm to CUBIC's short flows."""
    return HARM.now.cell("harm", f"{rtt} | cubic | {competitor}", f"{statistic} > harm")


def from_published(rtt: str, competitor: str, statistic: str = "geometric mean") -> float:
    """By how much harm is above the published one."""
    published = HARM.now.cell("harm", f"{rtt} | cubic | {competitor}", f"{statistic} > published")
    return harm(rtt, competitor, statistic) - published


def alone_over_linux(place: int) -> float:
    """By how many percent short flows alone take longer than in Linux, at one of the RTTs."""
    finding = "completion times alone (geometric mean), to a factor of 1.5"
    return 100 * (HARM.now.cell("findings", finding, "measured", 1 + 3 * place) - 1)


def times_cubic() -> list[float]:
    """How many times as much Prague harms as CUBIC does."""
    return [harm(rtt, "prague") / harm(rtt, "cubic") for rtt in RTTS]


def lower(competitor: str, statistics: tuple[str, ...], rtts: tuple[str, ...]) -> list[float]:
    """How far harm lies below the published one."""
    return [-from_published(rtt, competitor, statistic) for statistic in statistics for rtt in rtts]


LARGE_PACKETS = "ideal, unpaced, packets of 10 136 B"


def hosted(hosts: str, competitor: str, rtt: str) -> float:
    """Harm on other hosts."""
    return HARM.now.cell("hosts", f"{hosts} | {competitor}", rtt)


def large_off() -> float:
    """By how many percent the harm with large packets is off up to 40 ms, at most."""
    ratios = (hosted(LARGE_PACKETS, "cubic", rtt) / hosted("published", "cubic", rtt) for rtt in RTTS[:3])
    return 100 * max(abs(ratio - 1) for ratio in ratios)


def split_off() -> float:
    """How far the harm of Prague is off up to 40 ms where the queue splits bundles, at most."""
    split = "Linux, bundles split before the queue"
    return max(abs(hosted(split, "prague", rtt) - hosted("published", "prague", rtt)) for rtt in RTTS[:3])


def most_harm(rtt: str) -> float:
    """The most harm of CUBIC that a line of the hosts has."""
    texts = zip(HARM.now.texts("hosts", "competitor"), HARM.now.column("hosts", rtt), strict=True)
    own = [harm for competitor, harm in texts if competitor == "cubic"]
    return max(own[1:])


_ALL = ("geometric mean", "median", "P95")
_MIDDLES = _ALL[:2]
_BUT_80 = ("10 ms", "20 ms", "40 ms", "160 ms")
OF_FAIRNESS: dict[str, Value] = {
    "alike": alike,
    "cubic-first": share("cubic", "cubic"),
    "bbr-first": share("bbr", "bbr"),
    "bbr1-first": share("bbr1", "bbr1"),
    "c4-cubic": share("c4", "cubic"),
    "c4-reno": share("c4", "reno"),
    "cubic-c4": share("cubic", "c4"),
    "reno-c4": share("reno", "c4"),
    "bbr-cubic": share("bbr", "cubic"),
    "bbr-reno": share("bbr", "reno"),
    "bbr1-most": FAIRNESS.cell("fairness", "bbr1", "cubic"),
    "c4-bbr1": share("c4", "bbr1"),
    "bbr1-leaves-least": FAIRNESS.least("fairness", ["cubic", "reno", "prague"], "bbr1"),
    "bbr1-leaves-most": FAIRNESS.most("fairness", ["cubic", "reno", "prague"], "bbr1"),
}
OF_HARM: dict[str, Value] = {
    "alone-80": lambda: max(alone_over_linux(place) for place in range(4)),
    "alone-160": lambda: alone_over_linux(4),
    "prague-least": lambda: min(times_cubic()),
    "prague-most": lambda: max(times_cubic()),
    "prague-20": lambda: hosted("ideal hosts", "prague", "20 ms"),
    "prague-near": lambda: max(map(abs, lower("prague", _ALL, RTTS[:3]))),
    "prague-far-least": lambda: min(lower("prague", _MIDDLES, RTTS[3:])),
    "prague-far-most": lambda: max(lower("prague", _MIDDLES, RTTS[3:])),
    "cubic-least": lambda: min(lower("cubic", _ALL[:1], _BUT_80)),
    "cubic-most": lambda: max(lower("cubic", _ALL[:1], _BUT_80)),
    "cubic-80": lambda: -from_published("80 ms", "cubic"),
    "cubic-p95": lambda: max(map(abs, lower("cubic", _ALL[2:], _BUT_80))),
    "cubic-p95-80": lambda: -from_published("80 ms", "cubic", "P95"),
    "p95-falls": lambda: harm("10 ms", "prague", "P95") - harm("160 ms", "prague", "P95"),
    "target": lambda: (
        HARM.now.cell("causes", "CoDel's target at 10 ms", "harm at 20 ms")
        - HARM.now.cell("causes", "nothing", "harm at 20 ms")
    ),
    "idle-20": lambda: 100 - HARM.now.cell("causes", "nothing", "link used"),
    "idle-80": lambda: 100 - HARM.now.cell("causes", "nothing", "harm at 80 ms > link used"),
    "pacing": lambda: abs(
        HARM.now.cell("pacing", "no pacing", "long flow, Mbps")
        - HARM.now.cell("pacing", "nothing", "long flow, Mbps")
    ),
    "linux-10": lambda: hosted("Linux", "cubic", "10 ms"),
    "linux-prague-20": lambda: hosted("Linux", "prague", "20 ms"),
    "split-near": split_off,
    "large-near": large_off,
    "large-prague-20": lambda: hosted(LARGE_PACKETS, "prague", "20 ms"),
    "most-80": lambda: most_harm("80 ms"),
    "most-160": lambda: most_harm("160 ms"),
    "cubic-itself": lambda: (
        HARM.now.cell("harm-matrix", "reno", "cubic") - HARM.now.cell("harm-matrix", "reno", "reno")
    ),
}
OF_SLOW_START: dict[str, Value] = {
    "drops-classic": SLOW_START.cell("dropped", BASE, "classic"),
    "drops-hystart": SLOW_START.cell("dropped", BASE, "hystart"),
    "drops-shallow": SLOW_START.cell("dropped", SHALLOW, "delay"),
    "far-rapid": SLOW_START.cell("until 15 MB", FAR, "rapid"),
    "far-resume": SLOW_START.cell("until 15 MB", FAR, "resume"),
    "far-classic": SLOW_START.cell("until 15 MB", FAR, "classic"),
    "left-2": SLOW_START.cell("left", BASE, "rapid"),
    "left-8": SLOW_START.cell("left", DEEP, "rapid"),
    "left-1": SLOW_START.cell("left", SHALLOW, "rapid"),
    "left-half": SLOW_START.cell("left", "50 Mbps, 40 ms, 0.5 BDP", "rapid"),
    "search-deep": SLOW_START.cell("reached", DEEP, "search"),
    "search-left": SLOW_START.cell("left", DEEP, "search"),
    "search-drops": SLOW_START.cell("dropped", BASE, "search"),
    "search-wifi": SLOW_START.cell("left", WIFI, "search"),
    "search-slower": lambda: (
        SLOW_START.now.cell("until 15 MB", WIFI, "search") / SLOW_START.now.cell("until 15 MB", WIFI, "classic")
    ),
    "search-early": SLOW_START.cell("exits", "50 Mbps, 40 ms, 2 BDP, 10% sent", "search"),
    "wifi-hystart": SLOW_START.cell("until 15 MB", BAD_WIFI, "hystart"),
    "wifi-classic": SLOW_START.cell("until 15 MB", BAD_WIFI, "classic"),
}
OF_STACKS: dict[str, Value] = {
    "holds": STACKS.count("checks", "answer", "holds"),
    "fails": STACKS.count("checks", "answer", "fails"),
    "open": STACKS.count("checks", "answer", "undecided"),
    "of": lambda: float(len(STACKS.now.texts("checks", "answer"))),
}
OF_HUNT: dict[str, Value] = {
    "phase": HUNT.cell("hunt", "c4-low-and-up", "shipped"),
}
OF_WIFI_COMPETE: dict[str, Value] = {
    "exits-c4": WIFI_COMPETE.cell("exits", "against c4", "no growth"),
    "exits-cubic": WIFI_COMPETE.cell("exits", "against cubic", "delay"),
    "exits-alone": WIFI_COMPETE.cell("exits", "alone", "delay"),
    "each-fails": WIFI_COMPETE.cell("causes", "each packet answered before the next is read", "do not hold"),
    "cubic-early": lambda: 100 * (1 - WIFI_COMPETE.now.cell("causes", "nothing", "cubic: median")),
    "exact-hold": lambda: float(
        sum(
            "were the published number exact: holds" in text
            for text in WIFI_COMPETE.now.texts("which", "evidence")
        )
    ),
}
OF_TRANSIENT: dict[str, Value] = {
    "reports": TRANSIENT.cell("causes", "reports once a round trip, as CCP, unpaced", "hold"),
    "reports-ccp": TRANSIENT.cell("causes", "reports once a round trip, unpaced, BBR without Startup", "hold"),
}
PAGES: dict[str, Mapping[str, Value]] = {
    FAIRNESS.page: OF_FAIRNESS,
    HARM.page: OF_HARM,
    SLOW_START.page: OF_SLOW_START,
    STACKS.page: OF_STACKS,
    HUNT.page: OF_HUNT,
    TRANSIENT.page: OF_TRANSIENT,
    WIFI_COMPETE.page: OF_WIFI_COMPETE,
}
