"""The parameters of the study `harm`, and the scenario that each of its cells runs.

Model: one bottleneck with one queue. Short flows arrive in an open loop (exponential gaps, log-normal lengths,
one connection each); against a competitor, one long download has been running for a head start, time enough
to leave slow start. Alone, the short flows begin at the same time of the trial, so that arrivals, lengths and
limits are the same in both. All flows start up to a round trip late, redrawn in each trial: hosts are not exact
to less, and trials in one phase of it would repeat each other.

Hosts are as in ccafct, whose namespaces have Linux with its segmentation offload: queues see each bundle as one
packet, and CUBIC is not paced.

Quantities are texts as in scenario files, and are checked there.

Source: ccafct (README.md; defaults from cmd/ccafct/main.go and client.go).

Limits: the competitor runs until the last short flow is done, where ccafct ends it 60 s after the last arrival
is due. The links carry their packets in both directions at the same rate, each with its own queue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import product

from thalweg.base.errors import RequestError
from thalweg.base.quantity import seconds
from thalweg.engine.catalogue import controllers
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.harm.published import CCAFCT
from thalweg.experiments.studies.runner.parameters import file_name, option
from thalweg.realtime import LiveScenario
from thalweg.realtime.kernel import is_kernel, simulated

SHORT, COMPETITOR = "short", "competitor"
"""Names of the flows. The draws of arrivals and lengths depend on the first."""
DEFAULT_BUFFER = "10240 packets"
"""The limit of fq_codel in Linux: the queue itself decides, long before."""
DROP_TAIL_BUFFER = "1 bdp"
IDEAL = "ideal"
PLAIN = {"model": "drop-tail"}
"""The queue of a path that names none."""
REPLICATIONS, LIVE_REPLICATIONS = 20, 2
MATRIX_RTTS = ("20 ms",)
LIVE_RTTS = ("20 ms", "80 ms")
_PATH, _WORK, _SIDES = "Path", "Short flows", "Who competes"


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    rtt: str
    controller: str
    """The controller of the short flows."""
    competitor: str | None
    """None: the short flows are alone."""

    @property
    def rtt_s(self) -> float:
        """The round-trip time in seconds. Raises RequestError."""
        return seconds(self.rtt, "--rtt")

    @property
    def alone(self) -> Cell:
        """The cell that this one is compared with."""
        return replace(self, competitor=None)

    @property
    def against_itself(self) -> Cell:
        """The cell in which the short flows compete with their own controller."""
        return replace(self, competitor=self.controller)

    @property
    def is_live(self) -> bool:
        """Whether the kernel sends, in real time."""
        return is_kernel(self.controller)

    @property
    def name(self) -> str:
        """For files and places of a page: letters, digits, points and dashes.

        >>> Cell("10 ms", "cubic", "bbr:ecn=on").name
        '10ms-cubic-bbr.ecn.on'
        """
        return file_name(self.rtt, self.controller, self.competitor or "alone")

    @property
    def title(self) -> str:
        """For people."""
        against = f"against {self.competitor}" if self.competitor else "alone"
        return f"Short {self.controller} flows {against}, {self.rtt}"


@dataclass(frozen=True)
class Parameters:
    """All that defines the experiment; the defaults are ccafct's."""

    rtts: tuple[str, ...] = option(
        ("10 ms", "20 ms", "40 ms", "80 ms", "160 ms"),
        "--rtt",
        metavar="TIME",
        help="Round-trip time; may be repeated [10, 20, 40, 80, 160 ms].",
        panel=_PATH,
    )
    rate: str = option("50 Mbps", metavar="RATE", help="Rate of the bottleneck [50 Mbps].", panel=_PATH)
    queue: str = option(
        "fq-codel:flows=1",
        metavar="MODEL:OPTION=VALUE,...",
        help="Queue discipline of the bottleneck [fq-codel:flows=1].",
        panel=_PATH,
    )
    """Model and options, as `fq-codel:flows=1,ecn=off`."""
    buffer: str | None = option(
        None, metavar="SIZE", help="Size of the queue [10240 packets; drop-tail: 1 bdp].", panel=_PATH
    )
    """None: DEFAULT_BUFFER, or DROP_TAIL_BUFFER for a queue that only drops from its tail."""
    host: str = option("linux", metavar="MODEL", help="Hosts of all flows in virtual time [linux].", panel=_PATH)
    """The queue sees the bundles of other hosts than ideal ones whole."""
    controllers: tuple[str, ...] = option(
        ("cubic",),
        "--controller",
        "-c",
        metavar="NAME",
        help="Controller of the short flows; may be repeated [cubic].",
        panel=_SIDES,
    )
    competitors: tuple[str, ...] = option(
        ("cubic", "prague"),
        "--competitor",
        metavar="NAME",
        help="Controller of the long flow; may be repeated [cubic, prague].",
        panel=_SIDES,
    )
    count: int = option(900, help="Short flows in each replication [900].", panel=_WORK, least=1, most=1_000_000)
    mean_gap: str = option(
        "200 ms", metavar="TIME", help="Mean time between arrivals of short flows [200 ms].", panel=_WORK
    )
    gap: str = option(
        "exponential",
        metavar="NAME",
        help="Distribution of the gaps: exponential or constant [exponential].",
        panel=_WORK,
    )
    p5: str = option("65536 B", metavar="BYTES", help="5th percentile of lengths [65536 B].", panel=_WORK)
    p95: str = option("2097152 B", metavar="BYTES", help="95th percentile of lengths [2097152 B].", panel=_WORK)
    head_start: str = option("20 s", metavar="TIME", help="Head start of the long flow [20 s].", panel=_SIDES)
    time_limit: str = option(
        "290 s",
        metavar="TIME",
        help="Simulated end of a replication, head start included [290 s].",
        panel=_WORK,
    )
    """From the start of the trial: the 270 s for which ccafct's client waits, and the head start."""

    def __post_init__(self) -> None:
        """Refuses forms of round-trip times that scenarios accept but this study cannot compute with."""
        for rtt in self.rtts:
            seconds(rtt, "--rtt")

    @property
    def trials(self) -> int:
        """As many as checks about P95 need, which 45 of 900 short flows decide; fewer in real time."""
        return LIVE_REPLICATIONS if any(cell.is_live for cell in self.cells()) else REPLICATIONS

    def cells(self) -> list[Cell]:
        """All rows, the short flows alone before their competitions.

        Kernel and simulator do not meet; each row of the kernel stands before the simulator's.

        >>> [cell.name for cell in Parameters(rtts=("10 ms",)).cells()]
        ['10ms-cubic-alone', '10ms-cubic-cubic', '10ms-cubic-prague']
        """
        sides = product(self.rtts, self.controllers, (None, *self.competitors))
        met = [Cell(*side) for side in sides if side[2] is None or is_kernel(side[1]) == is_kernel(side[2])]
        families = list(dict.fromkeys(map(simulated, self.controllers)))
        rivals = list(dict.fromkeys(map(simulated, self.competitors)))

        def place(cell: Cell) -> tuple[int, int, int]:
            rival = -1 if cell.competitor is None else rivals.index(simulated(cell.competitor))
            return self.rtts.index(cell.rtt), families.index(simulated(cell.controller)), rival

        return sorted(met, key=place)

    @property
    def is_published(self) -> bool:
        """Whether this is the published experiment."""
        return self == PRESETS["ccafct"]

    @property
    def as_published(self) -> bool:
        """Whether rows with published round-trip time and controllers can be compared with the published ones."""
        return not changed(self).keys() - {"rtts", "controllers", "competitors"}

    def live_span_s(self, replications: int) -> tuple[float, float | None]:
        """Seconds that all trials in real time take: if no short flow is late, and at the most."""
        cells = sum(cell.is_live for cell in self.cells()) * replications
        arrivals = (self.count - 1) * seconds(self.mean_gap, "--mean-gap")
        least, most = seconds(self.head_start, "--head-start") + arrivals, seconds(self.time_limit, "--time-limit")
        return cells * min(least, most), cells * most

    def scenario(self, cell: Cell) -> Scenario | LiveScenario:
        """The scenario of one cell. Raises RequestError for a value that is not accepted."""
        queue = parse_queue(self.queue)
        host = None if cell.is_live or self.host == IDEAL else self.host
        keys: dict[str, object] = {
            "title": cell.title,
            "source": CCAFCT,
            "time_limit": self.time_limit,
            "noise": {"start": cell.rtt},
            "path": {
                "rate": self.rate,
                "rtt": cell.rtt,
                "queue": None if queue == PLAIN else queue,
                "buffer": path_buffer(self),
                "splits": False if host else None,
            },
            "flow": [
                {
                    "name": SHORT,
                    "controller": cell.controller,
                    "host": host,
                    "start": self.head_start,
                    "requests": {
                        "count": self.count,
                        "mean_gap": self.mean_gap,
                        "gap": self.gap,
                        "p5": self.p5,
                        "p95": self.p95,
                    },
                },
                *([_long_flow(cell.competitor, host)] if cell.competitor else []),
            ],
        }
        made = LiveScenario if cell.is_live else Scenario
        return made.from_toml(scenario_text(keys), cell.name)


def _long_flow(controller: str, host: str | None) -> dict[str, object]:
    flow = {"name": COMPETITOR, "controller": controller, "host": host}
    return {**flow, "download": "100 GB", "background": True}


def _presets() -> dict[str, Parameters]:
    """Sets of parameters with a name.

    `live` runs the kernel's TCP in real time next to the simulator: fewer and shorter replications, and a queue
    that drops for both, since the kernel's TCP does not ask for ECN by default (`tcp_ecn = 2`).
    `ccafct` is the published table; `ccafct-test` its short rehearsal (`ccafct -t`: two round-trip times,
    five seconds, no head start); `matrix` takes every controller that means to share as an equal, on ideal
    hosts: it compares controllers, not an experiment.
    """
    # Others do not mean to share as equals; `noq:...` steer flows of the QUIC stack only.
    equals = [str(controller["name"]) for controller in controllers() if controller["purpose"] == "Internet"]
    everyone = tuple(name for name in equals if ":" not in name)
    published = Parameters()
    return {
        "ccafct": published,
        "ccafct-test": replace(published, rtts=("10 ms", "20 ms"), count=25, head_start="0 s"),
        "live": replace(
            published,
            rtts=LIVE_RTTS,
            queue="fq-codel:flows=1,ecn=off",
            controllers=("kernel:cubic", "cubic"),
            competitors=("kernel:cubic", "cubic", "kernel:bbr", "bbr1"),
            count=100,
            head_start="10 s",
        ),
        "matrix": replace(published, rtts=MATRIX_RTTS, controllers=everyone, competitors=everyone, host=IDEAL),
    }


def path_buffer(parameters: Parameters) -> str:
    """Limit of the queue of the bottleneck: as given, or the default of its model."""
    model = parse_queue(parameters.queue)["model"]
    return parameters.buffer or (DROP_TAIL_BUFFER if model == "drop-tail" else DEFAULT_BUFFER)


def parse_queue(text: str) -> dict[str, str | int | bool]:
    """The queue given as `model:option=value,...`, under the keys of a scenario.

    A switch by itself means `=on`. Which models and options there are, the scenario knows.

    >>> parse_queue("fq-codel:flows=1,target=5 ms,ecn=off")
    {'model': 'fq-codel', 'flows': 1, 'target': '5 ms', 'ecn': False}
    """
    model, _, rest = text.partition(":")
    keys: dict[str, str | int | bool] = {"model": model.strip()}
    for option_ in filter(None, (part.strip() for part in rest.split(","))):
        name, equals, value = (part.strip() for part in option_.partition("="))
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or (equals and not value):
            raise RequestError(f"queue {text!r}: expected MODEL or MODEL:OPTION=VALUE,..., as fq-codel:flows=1")
        keys[name] = _value(value or "on")
    return keys


def _value(text: str) -> str | int | bool:
    if text in ("on", "true", "off", "false"):
        return text in ("on", "true")
    return int(text) if re.fullmatch(r"[0-9]+", text) else text


def changed(parameters: Parameters) -> dict[str, tuple[object, object]]:
    """Differences from the published experiment: name -> published value, this value.

    >>> changed(Parameters(rate="20 Mbps"))
    {'rate': ('50 Mbps', '20 Mbps')}
    """
    published = Parameters()
    pairs = {
        parameter.name: (getattr(published, parameter.name), getattr(parameters, parameter.name))
        for parameter in fields(Parameters)
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


PRESETS = _presets()
