"""The runs of a bench: sides in turn under each condition, until the intervals are narrow or a limit is reached.

**Rounds.** A round plays each side once under each condition that is not decided, with one seed: the path draws
the same for all. The order of the sides alternates, so that a machine that becomes slower favours none.

**What counts.** A trial in which the emulator was late is thrown away and played again, at most `retry` times; a
round that has none in time is left out, and counted.

**What fails.** All conditions are read for all sides before the first round. A program that fails later ends the
bench, which keeps what was measured until then.

**Taken.** Where a condition has a neighbour, CUBIC of the kernel plays the main flow too. What a side takes is how
much less the neighbour gets beside it than beside that, as a share (Ware, Mukerjee, Seshan and Sherry, Beyond
Jain's Fairness Index, HotNets 2019).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from thalweg.base.errors import RealTimeError, RequestError
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import Entry
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.bench.side import Side
from thalweg.experiments.bench.stack_file import UNSUPPORTED, Room
from thalweg.judging.measures import MEASURES
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.sequential import median_interval
from thalweg.judging.thresholds import DEFAULTS, Thresholds
from thalweg.realtime import LiveScenario, Recording, Timing, faithful, is_faithful
from thalweg.realtime.kernel import kernel_controllers
from thalweg.realtime.report import reasons
from thalweg.results.gate.baseline import value_of

_COMPARED = ("rate", "completion", "loss", "queue-delay")
"""Metrics of the main flow. What may be 0, and so has a least threshold, has a difference, others a ratio."""
REFERENCE = Side("kernel:cubic", controller="kernel:cubic")
"""Beside which is measured what a side takes from a neighbour."""


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
        """Beside which is measured what others take: a side, if one is the kernel's CUBIC itself."""
        alike = (side for side in self.sides if side.controller == REFERENCE.controller)
        return next(alike, REFERENCE)


@dataclass
class Condition:
    """What was measured under one condition."""

    name: str
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
    def effects(self) -> list[Pairs]:
        """All comparisons."""
        return [effect for condition in self.conditions for effect in condition.effects]


def run_bench(plan: Plan, timing: Timing, on_progress: Callable[[str, int], None]) -> Bench:
    """Plays rounds until all conditions are decided. `on_progress` hears a condition and the round.

    Raises RequestError, also if a program fails before anything was measured. After a later failure, or Ctrl-C,
    the answer has what was measured until then.
    """
    conditions = [_condition(plan, entry) for entry in plan.entries]
    found = Bench(plan.sides, conditions, {side.name: {} for side in plan.sides})
    with TemporaryDirectory(prefix="thalweg-bench-") as folder:
        for entry, condition in zip(plan.entries, conditions, strict=True):
            for number, side in enumerate(_players(plan, condition)):
                _check(side.scenario(entry, plan.overrides, Room(Path(folder) / str(number))), entry)
        try:
            for number in range(plan.rounds):
                for entry, condition in zip(plan.entries, conditions, strict=True):
                    if not condition.is_decided(plan.width):
                        on_progress(condition.name, number + 1)
                        _round(plan, entry, condition, number, timing, Path(folder), found)
        except KeyboardInterrupt:
            found.interrupted = True
        except RealTimeError as error:
            if not any(effect.n for effect in found.effects):
                raise
            found.failure = str(error)
    return found


def _check(scenario: LiveScenario, entry: Entry) -> None:
    """Refuses what the emulator would refuse. Raises RequestError."""
    if len(read_toml(scenario.toml, entry.source_name).get("link", ())) > 1:
        raise RequestError(
            f"{entry.reference}: real time requires a path with one hop: a [path], or a single [[link]]"
        )


def _condition(plan: Plan, entry: Entry) -> Condition:
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
    return Condition(entry.name, effects, neighbour)


def _round(
    plan: Plan, entry: Entry, condition: Condition, number: int, timing: Timing, folder: Path, found: Bench
) -> None:
    seed, sides = plan.seed + number, _players(plan, condition)
    played: dict[Side, Outcomes] = {}
    for side in sides if number % 2 == 0 else reversed(sides):
        outcomes, attempts = _trial(plan, side, entry, seed, timing, folder / str(sides.index(side)))
        condition.repeated += attempts - (outcomes is not None)
        if outcomes is None:
            condition.left_out += 1
            return
        played[side] = outcomes
    for effect in condition.effects:
        values = [value_of(played[side], effect.flow, effect.measure) for side in plan.sides]
        effect.add(seed, values[0], values[1] if len(values) > 1 else None)
    for side in plan.sides:
        found.outcomes[side.name].setdefault(condition.name, []).append(played[side])
    if condition.neighbour and plan.reference in played:
        rates = {side: value_of(played[side], condition.neighbour, MEASURES["rate"]) for side in played}
        # Of nothing there is no share: such a round is left out.
        if rates[plan.reference] > 0:
            for side in plan.sides:
                condition.taken.setdefault(side.name, []).append(1 - rates[side] / rates[plan.reference])


def _players(plan: Plan, condition: Condition) -> list[Side]:
    """Who plays under a condition: the sides, and the reference where there is a neighbour."""
    is_measured = condition.neighbour and "cubic" in kernel_controllers()
    return [*plan.sides, REFERENCE] if is_measured and plan.reference not in plan.sides else [*plan.sides]


def _trial(
    plan: Plan, side: Side, entry: Entry, seed: int, timing: Timing, folder: Path
) -> tuple[Outcomes | None, int]:
    """One trial of a side, if one was in time, and how many were played."""
    room = Room(folder)
    recording, place = Recording(), None
    if plan.out:
        place = plan.out / entry.name / f"{_file_name(side.name)}-{seed}"
        place.mkdir(parents=True, exist_ok=True)
        recording = Recording(logs=place, capture=place / "packets.pcapng")
    try:
        for attempt in range(1, timing.retry + 2):
            # Anew each time, which empties what the one before has left.
            scenario = side.scenario(entry, plan.overrides, room)
            done = faithful(scenario, seed, replace(timing, retry=0), recording)
            if is_faithful(done.report):
                break
            why = "; ".join(reasons(done.report))
            timing.heard(f"{side.name}, {entry.name}, seed {seed}, attempt {attempt}: {why}")
    except RealTimeError as error:
        raise RealTimeError(
            f"{side.name}, {entry.name}, seed {seed}: {error}{_unsupported(side, error)}"
        ) from None
    if place and room.qlog.is_dir():
        for file in _files(room.qlog):
            kept = place / "qlog" / file.relative_to(room.qlog)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, kept)
    outcomes = done.trial.outcomes if is_faithful(done.report) else None
    return outcomes, attempt


def _unsupported(side: Side, error: RealTimeError) -> str:
    """What the status of an endpoint means that follows the contract of the interop runner."""
    if side.stack is None or side.stack.contract is None or f"status {UNSUPPORTED}" not in str(error):
        return ""
    return (
        f" (by the contract, status {UNSUPPORTED} says that the test case "
        f'"{side.stack.testcase}" is not supported; by a shell, that a command was not found)'
    )


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _file_name(name: str) -> str:
    """A name as files have it."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
