"""The parameters of the study `fairness`, and the scenario of each of its cells.

Model: two or more long downloads over one bottleneck. The first flow has a round trip of `rtt`; the second one,
of a pair, `rtt_ratio` times that, by a separate access link that is too fast to matter. The second flow starts
`gap` after the first: pairs are ordered, so the matrix holds both start orders. `buffer` is a multiple of the rate
times `rtt`, the shorter round trip.

Every flow starts up to one of the longer round trips late, redrawn in each trial: which packets of a flow meet
the full queue decides how far it comes, so that trials that start within a millisecond repeat one phase of it.

Quantities are texts as in scenario files, which check them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

from thalweg.base.errors import RequestError
from thalweg.base.quantity import bits_per_second, seconds
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.experiments.studies.runner.parameters import file_name, option

BOTTLENECK = "bottleneck"
SAMPLE_S = 0.1
_SHARE_OF_BOTTLENECK = 0.5
"""The bottleneck's part of the shorter round trip; the access links have the rest."""


_ACCESS_RATE = "10 Gbps"
"""Wide, but not wider: a link may hold what it takes in during its delay, and a thousand of them are to fit into
the limit on packets of a scenario."""


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    controllers: tuple[str, ...]
    """In the order of their starts."""
    buffer_bdp: float = 1.0
    rtt_ratio: float = 1.0
    queue: str = "drop-tail"

    @property
    def name(self) -> str:
        """For files and places of a page.

        >>> Cell(("cubic", "bbr")).name
        'cubic-bbr-1bdp-1x-drop-tail'
        """
        count = [f"{len(self.controllers)}x"] if self.is_intra else []
        who = self.controllers[:1] if self.is_intra else self.controllers
        rest = (f"{self.buffer_bdp:g}bdp", f"{self.rtt_ratio:g}x", self.queue)
        return "".join(count) + file_name(*who, *rest)

    @property
    def title(self) -> str:
        """Its title is its name."""
        return self.name

    @property
    def is_intra(self) -> bool:
        """Whether it has more than two flows, of one controller."""
        return len(self.controllers) > 2


@dataclass(frozen=True)
class Parameters:
    """The varied parameters: a matrix of all pairs at the first value of each list, one for each further value."""

    controllers: tuple[str, ...] = option(
        ("c4", "cubic", "bbr", "bbr1", "reno", "prague"),
        "--controller",
        "-c",
        metavar="NAME",
        help="Controller; may be repeated [c4 cubic bbr bbr1 reno prague].",
    )
    buffers_bdp: tuple[float, ...] = option(
        (1.0, 0.5, 2.0, 4.0, 8.0),
        "--buffer",
        metavar="BDP",
        help="Buffer; may be repeated, the first is the base [1, 0.5, 2, 4, 8].",
    )
    rtt_ratios: tuple[float, ...] = option(
        (1.0, 2.0, 4.0, 8.0),
        "--rtt-ratio",
        metavar="X",
        help="RTT of the second flow over the first [1, 2, 4, 8].",
    )
    queues: tuple[str, ...] = option(
        ("drop-tail", "codel", "fq-codel", "dualpi2"),
        "--queue",
        metavar="MODEL",
        help="Queue discipline; may be repeated [drop-tail, codel, fq-codel, dualpi2].",
    )
    flows: tuple[int, ...] = option(
        (2, 5, 10, 20, 50, 100), metavar="N", help="Flows of one controller; repeatable [2 5 10 20 50 100]."
    )
    """2 are in the matrix."""
    rate: str = option("20 Mbps", metavar="RATE", help="Rate of the bottleneck [20 Mbps].")
    rtt: str = option("40 ms", metavar="TIME", help="RTT of the first flow [40 ms].")
    gap: str = option("5 s", metavar="TIME", help="Time from the start of the first flow to the second [5 s].")
    duration: str = option("30 s", metavar="TIME", help="Measured time, from the start of the last flow [30 s].")
    trials: ClassVar[int] = 20
    """Shares vary by tens of percent from trial to trial."""

    def __post_init__(self) -> None:
        """Refuses what cannot be measured; raises RequestError."""
        for name, values in (("--buffer", self.buffers_bdp), ("--rtt-ratio", self.rtt_ratios)):
            for value in values:
                if not 0.01 <= value <= 1000:
                    raise RequestError(f"{name} {value:g}: accepted: 0.01 to 1000")
        if min(self.rtt_ratios) < 1:
            raise RequestError(f"--rtt-ratio {min(self.rtt_ratios):g}: accepted: 1 or more")
        for count in self.flows:
            if not 2 <= count <= 999:  # each has an access link, and there is the bottleneck
                raise RequestError(f"--flows {count}: accepted: 2 to 999")
        if seconds(self.duration, "--duration") < 20:
            raise RequestError(f"--duration {self.duration!r}: accepted: 20 s or more, a bin of Jain's index")
        if len(self.controllers) < 1 or not self.buffers_bdp or not self.rtt_ratios or not self.queues:
            raise RequestError("nothing to run: accepted: at least one controller, buffer, RTT ratio and queue")

    @property
    def capacity_bps(self) -> float:
        """The capacity of the bottleneck."""
        return bits_per_second(self.rate, "--rate")

    @property
    def gap_s(self) -> float:
        """Between the starts of a pair."""
        return seconds(self.gap, "--gap")

    def offset_s(self, cell: Cell) -> float:
        """The most by which flows start late: the longest round trip."""
        return seconds(self.rtt, "--rtt") * cell.rtt_ratio

    def begin_s(self, cell: Cell) -> float:
        """When all flows have started in every trial, with the bin in which the last one may."""
        started_s = (0.0 if cell.is_intra else self.gap_s) + self.offset_s(cell)
        return math.ceil(started_s / SAMPLE_S - 1e-9) * SAMPLE_S

    def end_s(self, cell: Cell) -> float:
        """When the trial ends."""
        return self.begin_s(cell) + seconds(self.duration, "--duration")

    def cells(self) -> Iterator[Cell]:
        """All cells, each once."""
        base = Cell(("",), self.buffers_bdp[0], self.rtt_ratios[0], self.queues[0])
        conditions = [base]
        conditions += [replace(base, buffer_bdp=value) for value in self.buffers_bdp[1:]]
        conditions += [replace(base, rtt_ratio=value) for value in self.rtt_ratios[1:]]
        conditions += [replace(base, queue=value) for value in self.queues[1:]]
        for condition in conditions:
            for pair in product(self.controllers, repeat=2):
                yield replace(condition, controllers=pair)
        for count in self.flows:
            for controller in self.controllers if count > 2 else ():
                yield replace(base, controllers=(controller,) * count, rtt_ratio=1.0)

    def scenario(self, cell: Cell) -> Scenario:
        """The scenario of one cell. Raises RequestError.

        >>> flows = Parameters().scenario(Cell(("cubic", "bbr"), rtt_ratio=4)).flows
        >>> [(flow["name"], flow["controller"], flow["start_s"]) for flow in flows]
        [('first', 'cubic', 0.0), ('second', 'bbr', 5.0)]
        """
        rtt_s = seconds(self.rtt, "--rtt")
        shared_s = rtt_s * _SHARE_OF_BOTTLENECK
        buffer = max(3000, round(cell.buffer_bdp * self.capacity_bps * rtt_s / 8))
        names = ("first", "second") if not cell.is_intra else [f"f{i}" for i in range(len(cell.controllers))]
        second = 1 if not cell.is_intra else None
        links: list[dict[str, object]] = [
            {
                "name": BOTTLENECK,
                "rate": self.rate,
                "rtt": nanoseconds(shared_s),
                "buffer": f"{buffer} B",
                "queue": {"model": cell.queue},
            }
        ]
        flows: list[dict[str, object]] = []
        for index, (name, controller) in enumerate(zip(names, cell.controllers, strict=True)):
            access = f"access-of-{name}"
            own_s = rtt_s * (cell.rtt_ratio if index == second else 1.0) - shared_s
            links.append({"name": access, "rate": _ACCESS_RATE, "rtt": nanoseconds(own_s), "buffer": "10 MB"})
            flows.append(
                {
                    "name": name,
                    "controller": controller,
                    "start": nanoseconds(self.gap_s if index == second else 0.0),
                    "download": "1000 GB",
                    "background": True,
                    "route": [access, BOTTLENECK],
                }
            )
        keys = {
            "title": cell.name,
            "sample": f"{SAMPLE_S * 1e3:g} ms",
            "time_limit": nanoseconds(self.end_s(cell)),
            "noise": {"start": nanoseconds(self.offset_s(cell))},
            "link": links,
            "flow": flows,
        }
        return Scenario.from_toml(scenario_text(keys), cell.name)
