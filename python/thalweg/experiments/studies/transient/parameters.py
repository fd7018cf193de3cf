"""The parameters of the study `transient`: the path, its steps, and the scenario of each cell.

Model: one bottleneck, drop-tail unless said otherwise, packets of 1500 bytes on the wire, capacity and delay with
truncated normal noise in every millisecond. The main flow starts at 0, which is a step of the bandwidth that it
may use from nothing to all; then the capacity, the round trip, or the number of flows change, once for each step.

Quantities are texts as in scenario files.

Source: SIGCOMM 2021 poster (doi 10.1145/3472716.3472861), section Experiments; buffers and noise of the capacity
are the defaults of the authors' tool.

The preset `paper` has what the authors' framework had, the Congestion Control Plane (CCP) over the Linux kernel:
their tool installs ccp-kernel and runs the programs of CCP over netlink (TPCCA, setup.sh and run_exp.py). Choice
by choice:

- Reno and CUBIC grow by what is acknowledged until the first loss: the classic slow start, `reno` and
  `cubic:start=classic`. CCP's datapath reports once a round trip by default, and the window jumps with each report
  (generic-cong-avoid, src/bin_helper.rs; slow start in the datapath is an option, `--ss_in_fold`). Hosts with
  `reports = "1 rtt"` do so; with them most of the poster's statements do not hold (`pages/causes/transient.py`),
  so that the preset has ideal hosts. CUBIC's constants are from RFC 9438: C 0.4, a window of 0.7 of the old
  one, fast convergence and the Reno-friendly region on (src/cubic.rs).
- The initial window is the datapath's, 10 segments in Linux; ours of 10 datagrams is as large.
- BBR is `bbr1`, BBRv1 by its draft. CCP's calls itself simplified and has no Startup;
  `pages/causes/transient.py` measures what that changes.
- The receiver acknowledges every second packet, without delay out of order, as Linux does after its first packets.

After these come today's controllers, with rows of their own.

Limits: the poster says that the delay is noisy, and not how much. The tool's default emulator of delays has
none, its other one 5 ms of round trip; 1 ms is ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import product

from thalweg.base.errors import RequestError
from thalweg.base.quantity import bits_per_second, seconds
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.runner.parameters import file_name, option
from thalweg.experiments.studies.transient.metric import SPAN_RTTS
from thalweg.realtime import LiveScenario
from thalweg.realtime.kernel import is_kernel

PAPER = "Transient performance, SIGCOMM 2021 posters, doi 10.1145/3472716.3472861"
MAIN = "main"
KINDS = ("rate", "rtt", "flow")
STEP_FORM = "AT:rate=RATE, AT:rtt=TIME or AT:flow=CONTROLLER, such as 20s:rate=24 Mbps"
TRIALS, LIVE_TRIALS = 100, 3
_PATH = "Path"
PUBLISHED = ("reno", "cubic:start=classic", "bbr1")
"""What stands for the poster's Reno, CUBIC and BBR."""
TODAY = ("reno", "cubic", "bbr1", "bbr", "c4", "prague")
"""The controllers of all other presets in virtual time."""
SAMPLES_PER_RTT = 2
"""Half a round trip is how much later bytes leave the path than they leave the bottleneck."""


@dataclass(frozen=True)
class Step:
    """A change of the path, or of who shares it."""

    at: str
    kind: str
    """rate, rtt or flow."""
    value: str
    """The new rate or round trip; the controller of the new flow, `same` for the main flow's."""

    @staticmethod
    def parse(text: str) -> Step:
        """A step as the command line has it. Raises RequestError.

        >>> Step.parse("20 s:rate=24 Mbps")
        Step(at='20 s', kind='rate', value='24 Mbps')
        """
        found = re.fullmatch(r"\s*([^:=]+?)\s*:\s*([a-z]+)\s*=\s*(.+?)\s*", text)
        if found is None or found[2] not in KINDS:
            raise RequestError(f"--step {text!r}: accepted: {STEP_FORM}")
        step = Step(found[1], found[2], found[3])
        seconds(step.at, f"--step {text!r}: time")
        if step.kind == "rate":
            if bits_per_second(step.value, f"--step {text!r}: rate") <= 0:
                raise RequestError(f"--step {text!r}: accepted: a rate above 0; there is no share of nothing")
        elif step.kind == "rtt":
            seconds(step.value, f"--step {text!r}: rtt")
        return step

    @property
    def at_s(self) -> float:
        """When, in seconds."""
        return seconds(self.at, "--step")

    @property
    def title(self) -> str:
        """For tables: `20 s: rate 24 Mbps`."""
        return f"{self.at}: {self.kind} {self.value}"


START = Step("0 s", "flow", MAIN)
"""The first step: the main flow arrives."""


@dataclass(frozen=True)
class Cell:
    """One experiment: a buffer and a controller."""

    buffer: str
    controller: str

    @property
    def name(self) -> str:
        """For files and places of a page.

        >>> Cell("40 packets", "cubic:start=classic").name
        '40packets-cubic.start.classic'
        """
        return file_name(self.buffer, self.controller)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.controller}, buffer of {self.buffer}"


@dataclass(frozen=True)
class Parameters:
    """All that defines the experiment; the defaults are the poster's figure 2 and today's controllers."""

    rate: str = option("12 Mbps", metavar="RATE", help="Rate of the bottleneck [12 Mbps].", panel=_PATH)
    rtt: str = option("50 ms", metavar="TIME", help="Round trip without queues [50 ms].", panel=_PATH)
    buffers: tuple[str, ...] = option(
        ("40 packets", "100 packets"),
        "--buffer",
        metavar="SIZE",
        help="Buffer; may be repeated [40 packets, 100 packets].",
        panel=_PATH,
    )
    controllers: tuple[str, ...] = option(
        (*PUBLISHED, "cubic", "bbr", "c4", "prague"),
        "--controller",
        "-c",
        metavar="NAME",
        help=f"Controller; may be repeated [{', '.join(PUBLISHED)}, cubic, bbr, c4, prague].",
    )
    duration: str = option("60 s", metavar="TIME", help="Simulated length of a trial [60 s].", panel=_PATH)
    steps: tuple[Step, ...] = option(
        (),
        "--step",
        metavar="AT:KEY=VALUE",
        help="Step after the start at 0: 20s:rate=24 Mbps, 20s:rtt=100 ms, 20s:flow=cubic; may be repeated. "
        "With --series: only the time, 20 s.",
        read=Step.parse,
    )
    """After the start of the main flow, in the order of time."""
    rate_noise: str = option(
        "2 Mbps", metavar="RATE", help="Standard deviation of the capacity [2 Mbps].", panel=_PATH
    )
    delay_noise: str = option("1 ms", metavar="TIME", help="Standard deviation of the delay [1 ms].", panel=_PATH)
    queue: str = option(
        "drop-tail", metavar="MODEL", help="Discipline of the bottleneck [drop-tail].", panel=_PATH
    )

    def __post_init__(self) -> None:
        """Refuses what cannot be measured; raises RequestError."""
        seconds(self.rtt, "--rtt")
        end = seconds(self.duration, "--duration")
        bits_per_second(self.rate, "--rate")
        bits_per_second(self.rate_noise, "--rate-noise")
        seconds(self.delay_noise, "--delay-noise")
        if self.least_rtt_s < 1e-4:
            raise RequestError(f"--rtt {self.rtt!r}: accepted: at least 100 us")
        before_s, rtt_s = 0.0, seconds(self.rtt, "--rtt")
        for step in (*self.steps, None):
            option = f"--step {step.title!r}" if step else f"--duration {self.duration!r}"
            at_s = step.at_s if step else end
            needed = before_s + SPAN_RTTS * rtt_s
            if at_s < needed:
                needs = f"what comes before it takes {SPAN_RTTS} round trips to be measured"
                raise RequestError(f"{option}: accepted: from {needed:g} s on; {needs}")
            before_s = at_s
            rtt_s = seconds(step.value, "--rtt") if step and step.kind == "rtt" else rtt_s

    @property
    def trials(self) -> int:
        """In real time each trial costs its simulated time."""
        return LIVE_TRIALS if self.live_span_s(1) > 0 else TRIALS

    @property
    def is_published(self) -> bool:
        """Whether this is the poster's experiment in virtual time, with any controllers and length.

        Its statements are then judged. In real time there is time for only a few trials.
        """
        paper, free = PRESETS["paper"], {"controllers", "duration"}
        own = (parameter.name for parameter in fields(self) if parameter.name not in free)
        return self.live_span_s(1) == 0 and all(getattr(self, name) == getattr(paper, name) for name in own)

    @property
    def least_rtt_s(self) -> float:
        """The smallest round trip of the path: bins are that long."""
        changed = (step.value for step in self.steps if step.kind == "rtt")
        return min(seconds(text, "--rtt") for text in (self.rtt, *changed))

    @property
    def sample_s(self) -> float:
        """Length of the bins that the simulator records, a whole number of microseconds."""
        return round(self.least_rtt_s / SAMPLES_PER_RTT * 1e6) / 1e6

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """With the start of the main flow."""
        return (START, *self.steps)

    def cells(self) -> list[Cell]:
        """All experiments."""
        return [Cell(buffer, controller) for buffer, controller in product(self.buffers, self.controllers)]

    def live_span_s(self, trials: int) -> float:
        """Seconds that all trials in real time take."""
        cells = sum(is_kernel(cell.controller) for cell in self.cells())
        return cells * trials * seconds(self.duration, "--duration")

    def scenario(self, cell: Cell) -> Scenario | LiveScenario:
        """The scenario of one cell. Raises RequestError for a value that is not accepted."""
        is_noisy = bits_per_second(self.rate_noise, "--rate-noise") or seconds(self.delay_noise, "--delay-noise")
        noise = {"rate_sd": self.rate_noise, "delay_sd": self.delay_noise, "every": "1 ms"}
        flows = [_flow(MAIN, cell.controller, "0 s")]
        arrivals = [step for step in self.steps if step.kind == "flow"]
        for number, step in enumerate(arrivals, start=2):
            controller = cell.controller if step.value == "same" else step.value
            flows.append(_flow(f"flow-{number}", controller, step.at))
        keys: dict[str, object] = {
            "title": cell.title,
            "source": PAPER,
            "time_limit": self.duration,
            "sample": f"{round(self.sample_s * 1e6)} us",
            "path": {
                "rate": self.rate,
                "rtt": self.rtt,
                "buffer": cell.buffer,
                "queue": {"model": self.queue} if self.queue != "drop-tail" else None,
                "noise": noise if is_noisy else None,
            },
            "path.change": [{"at": step.at, step.kind: step.value} for step in self.steps if step.kind != "flow"]
            or None,
            # With 28 bytes of headers, 1500 on the wire; a single size of packets, so no discovery.
            "transport": {"initial_mtu": "1472 B"},
            "flow": flows,
        }
        made = LiveScenario if is_kernel(cell.controller) else Scenario
        return made.from_toml(scenario_text(keys), cell.name)


def _flow(name: str, controller: str, start: str) -> dict[str, object]:
    """A download that never ends: the trial runs until its time limit."""
    return {"name": name, "controller": controller, "start": start, "download": "100 GB", "background": True}


_PAPER = Parameters()
PRESETS = {
    "paper": _PAPER,
    # What the poster measured, with the kernel's TCP in real time, and next to it in virtual time.
    "live": replace(
        _PAPER,
        controllers=("kernel:reno", "reno", "kernel:cubic", "cubic", "kernel:bbr", "bbr1"),
        duration="20 s",
    ),
    "capacity": replace(
        _PAPER,
        controllers=TODAY,
        steps=(Step("20 s", "rate", "24 Mbps"), Step("40 s", "rate", "6 Mbps"), Step("60 s", "rate", "12 Mbps")),
        duration="80 s",
    ),
    "rtt": replace(_PAPER, controllers=TODAY, steps=(Step("20 s", "rtt", "100 ms"), Step("40 s", "rtt", "50 ms"))),
    "arrival": replace(
        _PAPER, controllers=TODAY, steps=(Step("20 s", "flow", "same"), Step("40 s", "flow", "same"))
    ),
}
