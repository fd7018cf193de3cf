"""The presets: their experiments, trials, and the points that they omit for their cost.

A trial of the modelled endpoint takes about a microsecond of processor time for each packet, one of the real
stack ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from thalweg.base.errors import RequestError
from thalweg.base.quantity import text
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.laws import bbr_cycle, persistent, queues, timeout, utilisation, window
from thalweg.experiments.studies.laws.experiment import Experiment
from thalweg.experiments.studies.laws.utilisation import Point
from thalweg.experiments.studies.runner.parameters import option

CONTROLLERS = ("c4", "cubic", "bbr", "bbr1", "reno", "prague")
STACKS = ("model", "quic")
PACKET_S = {"model": 1e-6, "quic": 1e-5}
"""Processor time of a packet."""
_RATES_BPS = (1e6, 10e6, 100e6, 1e9, 10e9)
_RTTS_S = (0.0001, 0.001, 0.01, 0.1, 0.6)
GRID: tuple[Point, ...] = tuple((rate, rtt) for rate in _RATES_BPS for rtt in _RTTS_S)


@dataclass(frozen=True)
class Parameters:
    """What is run."""

    controllers: tuple[str, ...] = option(
        CONTROLLERS,
        "--controller",
        "-c",
        metavar="NAME",
        help="For utilisation, FQ-CoDel and timeouts; may be repeated [c4 cubic bbr bbr1 reno prague].",
    )
    stacks: tuple[str, ...] = option(
        STACKS, "--stack", metavar="NAME", help="model or quic; may be repeated [both]."
    )
    points: tuple[Point, ...] = GRID
    """Points of the utilisation."""
    windows: dict[str, tuple[tuple[float, float, int], ...]] = field(
        default_factory=lambda: {
            "model": ((1e-2, 0.1, 200), (3e-3, 0.1, 150), (1e-3, 0.1, 100), (1e-4, 0.1, 60), (1e-3, 0.01, 100)),
            "quic": ((1e-2, 0.1, 200), (3e-3, 0.1, 150), (1e-3, 0.1, 100)),
        }
    )
    """Windows of each stack: loss rate, RTT in seconds, losses in a trial."""
    trials: int = 6
    window_trials: int = 20
    most_core_s: float = 3.0
    """A point of the utilisation whose trial takes longer is left out, and named."""
    complete_to_bps: float = 0.0
    """Up to this rate no point is left out."""
    trace_stacks: tuple[str, ...] = STACKS
    """Stacks whose queues and BBR cycle are traced, if `stacks` has them."""
    queue_s: float = 20.0
    """Length of a trial of the queues."""
    cycle_s: float = 40.0
    """The length of a trial of BBR's cycle."""

    def __post_init__(self) -> None:
        """Refuses stacks that there are not; raises RequestError."""
        for stack in self.stacks:
            if stack not in STACKS:
                raise RequestError(f"--stack {stack!r}: accepted: {', '.join(STACKS)}")
        # The modelled endpoint comes first.
        object.__setattr__(self, "stacks", tuple(stack for stack in STACKS if stack in self.stacks))

    def is_left_out(self, point: Point, stack: str) -> bool:
        """Whether a point costs too much on a stack."""
        rate_bps, _ = point
        return rate_bps > self.complete_to_bps and utilisation.packets(point) * PACKET_S[stack] > self.most_core_s

    def cells(self) -> Iterator[Experiment]:
        """All experiments."""
        for stack in self.stacks:
            yield from window.experiments(self.windows[stack], (stack,), self.window_trials)
        for stack in self.stacks:
            chosen = [point for point in self.points if not self.is_left_out(point, stack)]
            yield from utilisation.experiments(chosen, self.controllers, (stack,), self.trials)
        traced = tuple(stack for stack in self.stacks if stack in self.trace_stacks)
        yield from queues.experiments(self.controllers, traced, self.trials, self.queue_s)
        yield from timeout.experiments(self.controllers, self.stacks, self.trials)
        yield from persistent.experiments(self.controllers, self.stacks, self.trials)
        yield from bbr_cycle.experiments(traced, self.trials, self.cycle_s)

    def scenario(self, experiment: Experiment) -> Scenario:
        """The scenario of the experiment. Raises RequestError."""
        return experiment.scenario()

    def notes(self) -> list[str]:
        """Omitted parts, and their cost."""
        found = []
        for stack in self.stacks:
            points = [point for point in self.points if self.is_left_out(point, stack)]
            if points:
                costs = [
                    f"{text(rate, 'bps')}, {text(rtt, 's')} "
                    f"({utilisation.packets((rate, rtt)) * PACKET_S[stack]:.0f} s)"
                    for rate, rtt in points
                ]
                found.append(
                    f"Utilisation on {stack}: left out for their cost, processor time of one trial in brackets: "
                    + "; ".join(costs)
                )
        return found


PRESETS: dict[str, Parameters] = {
    "full": Parameters(),
    "gigabit": Parameters(complete_to_bps=1e9),
    "complete": Parameters(most_core_s=float("inf")),
    "quick": Parameters(
        points=((10e6, 0.01),),
        windows={"model": ((1e-2, 0.1, 100), (1e-3, 0.1, 60)), "quic": ((2e-3, 0.1, 60),)},
        window_trials=10,
        trace_stacks=("model",),
        queue_s=10.0,
        cycle_s=22.0,
    ),
}
"""`gigabit` is `full` with every point up to 1 Gbps, `complete` with every point of the grid."""
