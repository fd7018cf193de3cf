"""Before and now side by side in real time, in pairs, until no comparison can become worse any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.outcome import FlowDescription
from thalweg.experiments.gate.baseline import value_of
from thalweg.experiments.gate.pairs import pairs_of
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import fewest
from thalweg.judging.thresholds import Thresholds
from thalweg.realtime import LiveScenario, Round, Timing, rounds
from thalweg.results.against.rivals import MAIN

LARGEST = 1000
"""Most pairs of each scenario: so many find a change that 57 % of pairs show in 92 % of cases (one metric)."""


@dataclass(frozen=True)
class Sides:
    """One scenario, before and now."""

    before: LiveScenario
    now: LiveScenario
    flow: FlowDescription
    """The flow that is judged."""

    @property
    def contestants(self) -> Sequence[LiveScenario]:
        """Before and now."""
        return [self.before, self.now]

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.now.description.name


@dataclass
class LiveGate:
    """The pairs of a suite."""

    sides: Sequence[Sides]
    metrics: Sequence[Pairs]
    pairs: int
    """Most pairs of each scenario."""
    left_out: int = 0
    """Pairs that lack a trial which was what its scenario describes."""
    interrupted: bool = False
    core_s: float = 0.0
    """Processor time of the trials that count."""

    @staticmethod
    def of(
        suite: Suite,
        only: list[str] | None,
        before: Sequence[tuple[str, str]],
        now: Sequence[tuple[str, str]],
        overrides: Sequence[tuple[str, str]],
        thresholds: Thresholds,
        pairs: int,
    ) -> LiveGate:
        """Reads the scenarios for both sides. Raises RequestError, also where so few pairs could tell nothing."""
        if pairs > LARGEST:
            raise RequestError(f"-n {pairs}: with --live, accepted: at most {LARGEST} pairs of each scenario")
        sides = [_sides(entry, before, now, overrides) for entry in suite.matching(only)]
        metrics = pairs_of({one.name: one.flow for one in sides}, thresholds, pairs)
        if not metrics:
            raise RequestError(f"{suite.name}: real time measures no metric that has a threshold")
        if pairs < (least := fewest(len(metrics))):
            raise RequestError(
                f"-n {pairs}: so few pairs could never tell that one of {len(metrics)} metrics is worse; "
                f"accepted: {least} or more, or fewer scenarios (--only) or metrics ([gate])"
            )
        return LiveGate(sides, metrics, pairs)

    def play(self, first: int, timing: Timing, report: Callable[[int], None]) -> None:
        """Plays pairs from the first seed on, until a Ctrl-C at most; `report` hears how many are finished."""

        def is_open(sides: Sides, left: int) -> bool:
            return any(one.can_become_worse(left) for one in self._of(sides))

        try:
            for played in rounds(self.sides, self.pairs, first, timing, is_open):
                self.left_out += not played.counts
                if played.counts:
                    self._add(played)
                report(played.number + 1)
        except KeyboardInterrupt:
            self.interrupted = True

    def _of(self, sides: Sides) -> list[Pairs]:
        return [one for one in self.metrics if one.scenario == sides.name]

    def _add(self, pair: Round[Sides]) -> None:
        """Has each metric take the values of before and now."""
        flow = str(pair.point.flow["name"])
        before, now = (pair.trials[place].trial.outcomes for place in (0, 1))
        self.core_s += before.core_s + now.core_s
        for one in self._of(pair.point):
            one.add(pair.seed, value_of(before, flow, one.measure), value_of(now, flow, one.measure))


def _sides(
    entry: Entry,
    before: Sequence[tuple[str, str]],
    now: Sequence[tuple[str, str]],
    overrides: Sequence[tuple[str, str]],
) -> Sides:
    """A scenario with the controllers of now, and with the controllers of before where they are named."""
    new = LiveScenario.from_entry(entry, overrides, now)
    try:
        old = LiveScenario.from_entry(entry, overrides, list({**dict(now), **dict(before)}.items()))
    except RequestError as error:  # what is wrong only with `-c` has been said of `new`
        message = str(error)
        for flow, _ in before:
            message = message.replace(f"--controller {flow}=", f"--before {flow}=")
        raise ScenarioError(message) from None
    flows = {str(flow["name"]): flow for flow in new.flows}
    flow = next((name for name in (MAIN, *dict(before)) if name in flows), next(iter(flows)))
    return Sides(old, new, flows[flow])
