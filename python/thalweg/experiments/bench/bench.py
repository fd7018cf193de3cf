"""The runs of a bench: sides in turn under each condition, until the intervals are narrow or a limit is reached.

**Rounds.** The executor of real time (`thalweg.realtime.executor`) plays each side once under each condition that
is not decided. A round that lacks a trial in time is left out, and counted.

**What fails.** All conditions are read for all sides before the first round. A program that fails later ends the
bench, which keeps what was measured until then.

**Taken.** Where a condition has a neighbour, CUBIC of the kernel plays the main flow too. What a side takes is how
much less the neighbour gets next to it than next to the reference, as a share (Ware, Mukerjee, Seshan and Sherry,
Beyond Jain's Fairness Index, HotNets 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from thalweg.base.errors import RealTimeError, RequestError
from thalweg.engine.catalogue import Entry
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.bench.contestant import Contestant
from thalweg.experiments.bench.side import Side
from thalweg.experiments.bench.stack_file import Room
from thalweg.experiments.gate.baseline import value_of
from thalweg.judging.measures import MEASURES
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.sequential import median_interval
from thalweg.judging.thresholds import DEFAULTS, Thresholds
from thalweg.realtime import Round, Timing, is_faithful, rounds
from thalweg.realtime.kernel import kernel_controllers

_COMPARED = ("rate", "completion", "loss", "queue-delay")
"""Metrics of the main flow. What may be 0, and so has a least threshold, has a difference, others a ratio."""
REFERENCE = Side("kernel:cubic", controller="kernel:cubic")
"""What a side takes from a neighbour is measured against this controller."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    entries: Sequence[Entry]
    sides: Sequence[Side]
    """One or two."""
    thresholds: Thresholds
    overrides: Sequence[tuple[str, str]] = ()
    rounds: int = 20
    """At most."""
    width: float = 0.05
    """An interval is narrow enough if half of it is at most such a share."""
    seed: int = 1
    out: Path | None = None
    """A folder for packets, logs and qlog of each trial."""

    def __post_init__(self) -> None:
        """Refuses sides that cannot be told apart in the folder. Raises RequestError."""
        taken: dict[str, str] = {}
        for side in dict.fromkeys((*self.sides, self.reference)) if self.out else ():
            name = _file_name(side.name)
            if name in taken:
                raise RequestError(
                    f"--out: {taken[name]!r} and {side.name!r} would have the same folders; accepted: names that "
                    "differ in letters or digits"
                )
            taken[name] = side.name

    @property
    def reference(self) -> Side:
        """What others take is measured against this: a side, if one is the kernel's CUBIC itself."""
        alike = (side for side in self.sides if side.controller == REFERENCE.controller)
        return next(alike, REFERENCE)


@dataclass
class Condition:
    """What was measured under one condition."""

    name: str
    contestants: list[Contestant]
    """The sides, and the reference if it plays as well."""
    effects: list[Pairs]
    neighbour: str | None
    """The flow from which sides take, if there is one."""
    taken: dict[str, list[float]] = field(default_factory=dict)
    """The values of each side, by round."""
    left_out: int = 0
    """Rounds in which a side had no trial in time."""
    repeated: int = 0
    """Trials that were thrown away."""

    @property
    def rounds(self) -> int:
        """Rounds that count."""
        return self.effects[0].n

    def is_decided(self, width: float) -> bool:
        """Whether the interval of the goodput is narrow enough."""
        return self.effects[0].width <= width

    def taken_by(self, side: str) -> Interval:
        """How much less the neighbour gets, as a share."""
        return median_interval(self.taken.get(side, []))


@dataclass
class Bench:
    """The answers of a bench."""

    sides: Sequence[Side]
    conditions: list[Condition]
    outcomes: dict[str, dict[str, list[Outcomes]]]
    """The outcomes of each side, for each condition."""
    interrupted: bool = False
    failure: str | None = None
    """Why it ended early, if a program failed."""

    @property
    def core_s(self) -> float:
        """Processor time of the trials that count."""
        return sum(one.core_s for side in self.outcomes.values() for played in side.values() for one in played)

    @property
    def effects(self) -> list[Pairs]:
        """All comparisons."""
        return [effect for condition in self.conditions for effect in condition.effects]


def run_bench(plan: Plan, timing: Timing, on_progress: Callable[[str, int], None]) -> Bench:
    """Plays rounds until all conditions are decided. `on_progress` hears a condition and the round.

    Raises RequestError, also if a program fails before anything was measured. After a later failure, or Ctrl-C,
    the answer has what was measured until then.
    """
    with TemporaryDirectory(prefix="thalweg-bench-") as folder:
        conditions = [_condition(plan, entry, Path(folder)) for entry in plan.entries]
        found = Bench(plan.sides, conditions, {side.name: {} for side in plan.sides})
        for condition in conditions:
            for contestant in condition.contestants:
                contestant.check()

        def is_open(condition: Condition, left: int) -> bool:
            undecided = not condition.is_decided(plan.width)
            if undecided:
                on_progress(condition.name, plan.rounds - left + 1)
            return undecided

        try:
            for played in rounds(conditions, plan.rounds, plan.seed, timing, is_open):
                _take(plan, played, found)
        except KeyboardInterrupt:
            found.interrupted = True
        except RealTimeError as error:
            if not any(effect.n for effect in found.effects):
                raise
            found.failure = str(error)
    return found


def _condition(plan: Plan, entry: Entry, folder: Path) -> Condition:
    main, *others = Scenario.path_flows(entry, plan.overrides)
    flow = str(main["name"])
    metrics = [(flow, name) for name in _COMPARED]
    neighbour = str(others[0]["name"]) if others else None
    if neighbour:
        metrics.append((neighbour, "rate"))
    effects = [
        Pairs(entry.name, of, MEASURES[name], plan.thresholds.get(name, DEFAULTS[name]), not DEFAULTS[name].least)
        for of, name in metrics
    ]
    contestants = []
    for number, side in enumerate(_players(plan, neighbour)):
        kept = plan.out and plan.out / entry.name / _file_name(side.name)
        contestants.append(Contestant(side, entry, plan.overrides, Room(folder / str(number)), kept))
    return Condition(entry.name, contestants, effects, neighbour)


def _take(plan: Plan, done: Round[Condition], found: Bench) -> None:
    """Adds a round to what was found."""
    condition, trials = done.point, done.trials
    condition.repeated += sum(one.report["attempts"] - is_faithful(one.report) for one in trials.values())
    if not done.counts:
        condition.left_out += 1
        return
    played = {condition.contestants[place].side: one.trial.outcomes for place, one in trials.items()}
    for effect in condition.effects:
        values = [value_of(played[side], effect.flow, effect.measure) for side in plan.sides]
        effect.add(done.seed, values[0], values[1] if len(values) > 1 else None)
    for side in plan.sides:
        found.outcomes[side.name].setdefault(condition.name, []).append(played[side])
    if condition.neighbour and plan.reference in played:
        rates = {side: value_of(played[side], condition.neighbour, MEASURES["rate"]) for side in played}
        # Of nothing there is no share: such a round is left out.
        if rates[plan.reference] > 0:
            for side in plan.sides:
                condition.taken.setdefault(side.name, []).append(1 - rates[side] / rates[plan.reference])


def _players(plan: Plan, neighbour: str | None) -> list[Side]:
    """Who plays under a condition: the sides, and the reference where there is a neighbour."""
    is_measured = neighbour and "cubic" in kernel_controllers()
    return [*plan.sides, REFERENCE] if is_measured and plan.reference not in plan.sides else [*plan.sides]


def _file_name(name: str) -> str:
    """A name as files have it."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
