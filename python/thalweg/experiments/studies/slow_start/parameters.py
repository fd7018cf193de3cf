"""The parameters of the study `slow-start`, and the scenario of each of its cells.

Model: one download by itself on a path with one bottleneck. The base is the first value of each list; each further
value varies one condition. Slow start multiplies its window each round trip, so how far it overshoots depends on
where between two multiples the path lies. Each path therefore runs at `phases` rates, evenly spaced on the scale
of logarithms from its rate up to twice that; a row is about all of them.

With `application`, the sender has no more than that share of the rate: a chunk of data each 100 ms.

The start `resume` remembers what an earlier connection would have: the bandwidth-delay product and the RTT of
the path.

Quantities are texts as in scenario files, which check them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from thalweg.base.errors import RequestError
from thalweg.base.quantity import bits_per_second, seconds
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.experiments.studies.runner.parameters import file_name, option

STARTS = ("classic", "hystart", "delay", "search", "rapid", "resume")
PAYLOAD = 1440 / 1468
"""The payload in what the bottleneck transmits; windows count UDP payload without IP and UDP headers."""
_LEAST_BYTES = 16_000_000
"""A little more than 1500 x 10^4."""
_FILLS = 6
"""Bytes of a download over what path and buffer hold: the last round trip of classic slow start sends up to twice
that, and all before it as much."""
_CHUNKS_PER_S = 10


@dataclass(frozen=True)
class Cell:
    """One path and one start, at one rate."""

    controller: str
    start: str
    rate: str
    rtt: str
    buffer_bdp: float
    jitter: str
    application: float
    phase: int = 0

    @property
    def name(self) -> str:
        """For files and places of a page.

        >>> Cell("cubic", "search", "50 Mbps", "40 ms", 2, "0 ms", 0).name
        'cubic-search-50Mbps-40ms-2bdp-0ms-0-0'
        """
        path = f"{self.rate}-{self.rtt}-{self.buffer_bdp:g}bdp-{self.jitter}-{self.application:g}-{self.phase}"
        return file_name(self.controller, self.start, path)

    @property
    def title(self) -> str:
        """Its title is its name."""
        return self.name

    @property
    def condition(self) -> str:
        """The path, for people: what all starts are set side by side on.

        >>> Cell("cubic", "rapid", "50 Mbps", "40 ms", 2, "7 ms", 0).condition
        '50 Mbps, 40 ms, 2 BDP, 7 ms Wi-Fi'
        """
        parts = [self.rate, self.rtt, f"{self.buffer_bdp:g} BDP"]
        parts += [f"{self.jitter} Wi-Fi"] if self.jittered else []
        parts += [f"{100 * self.application:g}% sent"] if self.application else []
        return ", ".join(parts)

    @property
    def jittered(self) -> bool:
        """Whether the path delays packets at random."""
        return seconds(self.jitter, "--jitter") > 0

    @property
    def rtt_s(self) -> float:
        """The round-trip time of the path without a queue."""
        return seconds(self.rtt, "--rtt")


@dataclass(frozen=True)
class Parameters:
    """The varied parameters."""

    starts: tuple[str, ...] = option(
        STARTS, "--start", metavar="NAME", help=f"Slow start; may be repeated [{' '.join(STARTS)}]."
    )
    controllers: tuple[str, ...] = option(
        ("cubic",), "--controller", "-c", metavar="NAME", help="cubic, reno, or both, with other options [cubic]."
    )
    rates: tuple[str, ...] = option(
        ("50 Mbps", "5 Mbps", "200 Mbps"),
        "--rate",
        metavar="RATE",
        help="Rate; repeatable [50 Mbps, 5 Mbps, 200 Mbps].",
    )
    rtts: tuple[str, ...] = option(
        ("40 ms", "10 ms", "150 ms", "600 ms"),
        "--rtt",
        metavar="TIME",
        help="RTT; repeatable [40 ms, 10 ms, 150 ms, 600 ms].",
    )
    buffers_bdp: tuple[float, ...] = option(
        (2.0, 0.5, 1.0, 8.0),
        "--buffer",
        metavar="BDP",
        help="Buffer; repeatable, the first is the base [2, 0.5, 1, 8].",
    )
    jitters: tuple[str, ...] = option(
        ("0 ms", "2 ms", "7 ms"), "--jitter", metavar="TIME", help="Mean of Wi-Fi jitter [0 ms, 2 ms, 7 ms]."
    )
    applications: tuple[float, ...] = option(
        (0.0, 0.1),
        "--application",
        metavar="SHARE",
        help="Fraction of the rate that the sender has data for; 0: all [0, 0.1].",
    )
    phases: int = option(5, metavar="N", help="Rates of each path, from one to twice it [5].", least=1, most=100)
    trials: ClassVar[int] = 4
    """Trials of each phase. Without jitter, trials of a phase hardly differ."""

    def __post_init__(self) -> None:
        """Refuses what cannot be measured; raises RequestError."""
        for start in self.starts:
            if start not in STARTS:
                raise RequestError(f"--start {start!r}: accepted: {', '.join(STARTS)}")
        for controller in self.controllers:
            if controller.split(":")[0] not in ("cubic", "reno"):
                raise RequestError(f"--controller {controller!r}: accepted: cubic and reno, with options")
        for buffer in self.buffers_bdp:
            if not 0.01 <= buffer <= 1000:
                raise RequestError(f"--buffer {buffer:g}: accepted: 0.01 to 1000")
        for share in self.applications:
            if not 0 <= share <= 10:
                raise RequestError(f"--application {share:g}: accepted: 0 to 10")
        if not 1 <= self.phases <= 100:
            raise RequestError(f"--phases {self.phases}: accepted: 1 to 100")
        lists = (
            self.starts,
            self.controllers,
            self.rates,
            self.rtts,
            self.buffers_bdp,
            self.jitters,
            self.applications,
        )
        if not all(lists):
            raise RequestError("nothing to run: accepted: at least one value of each option")

    def cells(self) -> Iterator[Cell]:
        """All cells, each once: the base, and each further value."""
        base = Cell(
            "", "", self.rates[0], self.rtts[0], self.buffers_bdp[0], self.jitters[0], self.applications[0]
        )
        paths = [base]
        paths += [replace(base, rate=value) for value in self.rates[1:]]
        paths += [replace(base, rtt=value) for value in self.rtts[1:]]
        paths += [replace(base, buffer_bdp=value) for value in self.buffers_bdp[1:]]
        paths += [replace(base, jitter=value) for value in self.jitters[1:]]
        paths += [replace(base, application=value) for value in self.applications[1:]]
        for path in paths:
            for controller in self.controllers:
                for start in self.starts:
                    for phase in range(self.phases):
                        yield replace(path, controller=controller, start=start, phase=phase)

    def rate_bps(self, cell: Cell) -> float:
        """The rate of the bottleneck, in the phase of the cell."""
        rate_bps = bits_per_second(cell.rate, "--rate")
        if not rate_bps:
            raise RequestError(f"--rate {cell.rate}: it never transmits a packet; accepted: a rate above 0")
        return float(rate_bps * 2 ** (cell.phase / self.phases))

    def pipe_bytes(self, cell: Cell) -> float:
        """The bandwidth-delay product, as windows count it."""
        return self.rate_bps(cell) * cell.rtt_s / 8 * PAYLOAD

    def full_bytes(self, cell: Cell) -> float:
        """What path and buffer hold together, as windows count it."""
        return self.pipe_bytes(cell) * (1 + cell.buffer_bdp)

    def scenario(self, cell: Cell) -> Scenario:
        """The scenario of one cell. Raises RequestError.

        >>> cell = Cell("cubic", "rapid", "50 Mbps", "40 ms", 2, "0 ms", 0)
        >>> Parameters().scenario(cell).flows[0]["controller"]
        'cubic:start=rapid'
        """
        rate_bps = self.rate_bps(cell)
        download = round(max(_LEAST_BYTES, _FILLS * self.full_bytes(cell)))
        span_s = download * 8 / rate_bps / min(cell.application or 1, 1)
        flow: dict[str, object] = {
            "name": "main",
            "controller": f"{cell.controller}{',' if ':' in cell.controller else ':'}start={cell.start}",
            "seed": {"window": f"{round(self.pipe_bytes(cell))} B", "rtt": cell.rtt},
        }
        if cell.application:
            chunk = round(rate_bps * cell.application / 8 / _CHUNKS_PER_S * PAYLOAD)
            media = {
                "name": "chunks",
                "per_second": _CHUNKS_PER_S,
                "frame": f"{chunk} B",
                "duration": nanoseconds(span_s),
            }
            flow["media"] = [media]
        else:
            flow["download"] = f"{download} B"
        path: dict[str, object] = {
            "rate": f"{round(rate_bps)} bps",
            "rtt": cell.rtt,
            "buffer": f"{cell.buffer_bdp:g} bdp",
            "jitter": {"model": "wifi", "mean": cell.jitter} if cell.jittered else None,
        }
        keys = {
            "title": cell.name,
            # Long enough for a start that has left far too early.
            "time_limit": nanoseconds(4 * span_s + 30 + 100 * cell.rtt_s),
            "path": path,
            # Flow control is not what this is about.
            "transport": {"initial_max_data": "1 GB", "initial_max_stream_data": "1 GB"},
            "flow": [flow],
        }
        return Scenario.from_toml(scenario_text(keys), cell.name)
