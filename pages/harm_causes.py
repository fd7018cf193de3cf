"""Causes of a long CUBIC flow's harm: changes the scenarios of ccafct one parameter at a time.

Measures the table of docs/evidence/studies/harm.md, and the harm of two long flows at all published RTTs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files

import numpy as np
import polars as pl

import thalweg
from pages.made import DOCS, fill, made, row
from thalweg.base.quantity import seconds
from thalweg.experiments.studies.harm.metric import geometric_mean, harm_less_is_better, observed_durations
from thalweg.experiments.studies.harm.published import LINES

TRIALS = 3
LIMIT_S = 290.0
ROUND_TRIPS = ("20 ms", "80 ms")
PUBLISHED_ROUND_TRIPS = ("10 ms", "20 ms", "40 ms", "80 ms", "160 ms")
ANOTHER = '[[flow]]\nname = "competitor-2"\ncontroller = "cubic"\ndownload = "100 GB"\nbackground = true\n'


@dataclass(frozen=True)
class Change:
    """One difference from the study."""

    name: str
    overrides: Mapping[str, str] = field(default_factory=dict)
    short: str = "cubic"
    long: str = "cubic"
    appended: str = ""
    """More of the scenario in which the short flows compete."""


CHANGES = (
    Change("nothing"),
    Change("short flows without ECN", short="cubic:ecn=off"),
    Change("no flow with ECN", short="cubic:ecn=off", long="cubic:ecn=off"),
    Change("no HyStart++", short="cubic:start=classic", long="cubic:start=classic"),
    Change("ACKs as the sender asks", {"transport.ack_frequency": "true"}),
    Change("an ACK for every packet", {"transport.ack_every": "1"}),
    Change("packets of 1448 B from the start", {"transport.initial_mtu": "1448 B"}),
    Change("an initial window of 30 kB", {"transport.initial_window": "30 kB"}),
    Change("bursts: paced packets up to 10 ms late", {"noise.wakeup": "10 ms"}),
    Change("CoDel's target at 10 ms", {"path.queue.target": "10 ms"}),
    Change("a buffer of 100 packets", {"path.buffer": "100 packets"}),
    Change("packets of 4344 B", {"transport.initial_mtu": "4344 B", "transport.initial_window": "14480 B"}),
    Change("two long flows", appended=ANOTHER),
)


PACING = (
    CHANGES[0],
    Change("no pacing", {"transport.pacing": "false"}),
    Change("no pacing, no HyStart++", {"transport.pacing": "false"}, "cubic:start=classic", "cubic:start=classic"),
    Change(
        "no pacing, packets of 4344 B",
        {
            "transport.pacing": "false",
            "transport.initial_mtu": "4344 B",
            "transport.initial_window": "14480 B",
        },
    ),
)
"""What the pacing of the transport does: Linux has none for CUBIC behind fq_codel."""


LINUX = {"flow.*.host": "linux", "path.splits": "false"}
"""What ccafct's namespaces have: segmentation offload, and queues that see a bundle as one packet."""
NO_ECN = "cubic:ecn=off"
HOSTS = (
    Change("ideal hosts"),
    Change("Linux", LINUX, NO_ECN),
    Change("Linux, bundles split before the queue", {"flow.*.host": "linux"}, NO_ECN),
    Change("Linux, paced", {**LINUX, "flow.*.host": '{ model = "linux", pacing = true }'}, NO_ECN),
    Change("Linux, no HyStart++", LINUX, "cubic:ecn=off,start=classic", "cubic:start=classic"),
    Change("Linux, CUBIC of Linux", LINUX, "cubic:ecn=off,variant=linux", "cubic:variant=linux"),
    Change(
        "ideal, unpaced, packets of 10 136 B",
        {
            "transport.initial_mtu": "10136 B",
            "transport.max_mtu": "10136 B",
            "transport.initial_window": "20272 B",
            "transport.pacing": "false",
        },
        NO_ECN,
    ),
)
"""Hosts, with short flows that do not ask for ECN, as ccafct's; at last seven segments that all take for one."""
CONSTANT = tuple(
    Change(
        f"Linux, bundles of {count}",
        {**LINUX, "flow.*.host": f'{{ model = "linux", bundle = "{count} packets" }}'},
        NO_ECN,
    )
    for count in (3, 7, 10)
)


def times(outcomes: thalweg.Outcomes) -> list[float]:
    """Geometric mean of the completion times of the short flows, of each trial."""
    requests = outcomes.requests
    return [
        geometric_mean(
            observed_durations(of_trial["start_s"].to_numpy(), of_trial["completion_s"].to_numpy(), LIMIT_S)
        )
        for _, of_trial in requests.group_by("trial", maintain_order=True)
    ]


def measure(change: Change, rtt: str, trials: int) -> Iterable[str]:
    """The cells of one round-trip time: harm, rate of the long flows, use of the link."""
    overrides = {"path.rtt": rtt, **change.overrides}
    alone = thalweg.Scenario.load("ccafct/alone", overrides=overrides, controllers={"short": change.short})
    text = files("thalweg").joinpath("suites/ccafct/against-cubic.toml").read_text() + change.appended
    controllers = {"short": change.short, "competitor": change.long}
    pair = thalweg.Scenario.from_toml(text, name="beside", overrides=overrides, controllers=controllers)
    outcomes = pair.trials(trials)
    pairs = zip(times(alone.trials(trials)), times(outcomes), strict=True)
    harm = np.mean([harm_less_is_better(solo, competing) for solo, competing in pairs])
    long_flows = outcomes.flows.filter(pl.col("flow").str.starts_with("competitor"))
    used = outcomes.links.filter(pl.col("link") == "down")["utilisation"].to_numpy().mean()
    yield f"{harm:.3f}"
    yield f"{long_flows['mean_rate_bps'].to_numpy().sum() / trials / 1e6:.1f}"
    yield f"{100 * used:.0f} %"


def hosts_table() -> list[str]:
    """Harm by CUBIC and by Prague at all published round-trip times, of TRIALS trials."""
    lines = [
        row("hosts", "competitor", *PUBLISHED_ROUND_TRIPS),
        row(":--", ":--", *["--:"] * len(PUBLISHED_ROUND_TRIPS)),
    ]
    for competitor in ("cubic", "prague"):
        harms = [LINES[seconds(rtt, "rtt"), competitor].geomean_harm for rtt in PUBLISHED_ROUND_TRIPS]
        lines.append(row("published", competitor, *(f"{harm:.3f}" for harm in harms)))
        for change in (*HOSTS, *CONSTANT) if competitor == "cubic" else HOSTS:
            if competitor == "cubic":
                of_rival = change
            elif change.long == "cubic":
                of_rival = replace(change, long=competitor)
            else:
                continue  # a matter of CUBIC's
            measured = [next(iter(measure(of_rival, rtt, TRIALS))) for rtt in PUBLISHED_ROUND_TRIPS]
            lines.append(row(change.name, competitor, *measured))
    return lines


def table(changes: Iterable[Change]) -> list[str]:
    """The lines of a table, of TRIALS trials."""
    head = ["harm at {}", "long flow, Mbps", "link used"]
    cells = ["changed", *(cell.format(rtt) for rtt in ROUND_TRIPS for cell in head)]
    lines = [row(*cells), row(":--", *["--:"] * (len(cells) - 1))]
    for change in changes:
        measured = [cell for rtt in ROUND_TRIPS for cell in measure(change, rtt, TRIALS)]
        lines.append(row(change.name, *measured))
    return lines


def make() -> None:
    """Measures the table of causes."""
    lines = table(CHANGES)
    harms = [next(iter(measure(CHANGES[-1], rtt, TRIALS))) for rtt in PUBLISHED_ROUND_TRIPS]
    lines.append(f"\n{CHANGES[-1].name} at {', '.join(PUBLISHED_ROUND_TRIPS)}: {', '.join(harms)}.")
    fill(DOCS / "evidence" / "studies" / "harm.md", "causes", "\n".join([*lines, "", made("harm-causes")]))


def make_hosts() -> None:
    """Measures the table of hosts."""
    fill(DOCS / "evidence" / "studies" / "harm.md", "hosts", "\n".join([*hosts_table(), "", made("harm-hosts")]))


def make_pacing() -> None:
    """Measures the table without pacing."""
    fill(DOCS / "evidence" / "studies" / "harm.md", "pacing", "\n".join([*table(PACING), "", made("harm-pacing")]))
