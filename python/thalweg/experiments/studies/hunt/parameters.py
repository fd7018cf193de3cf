"""The parameters of the study `hunt`: which worst cases, published by others or found here, are hunted for.

Each case has a plan (`plans/`), the space in which it is looked for, and a scenario of the suite `worst-cases`, to
which a find of that plan shrank. A bound says what counts as found. Sources name no numbers for these spaces, so
the bounds are ours: a tenth of all packets lost; half of an equal share missing, which is one to three between two
flows, where RFC 8868 draws its line; half of CUBIC's rate; and for low-and-up 7 % over the floor, where the time
of the draft takes 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.toml import read_toml
from thalweg.engine.scenario import Scenario
from thalweg.experiments.hunt.plan import LARGEST_BUDGET, HuntPlan, hunt_of
from thalweg.experiments.studies.runner.parameters import option
from thalweg.experiments.sweep.plan_file import PlanFile

PLANS = Path(__file__).parent / "plans"
SUITE = "worst-cases"


@dataclass(frozen=True)
class Cell:
    """One worst case."""

    name: str
    what: str
    source: str
    plan: str
    bound: float
    """From which value of the objective on it is found."""
    controller: str | None = None
    """The controller of all flows, where it is not the plan's."""
    is_published: bool = True
    """By others; what is known only from here can be found, but not found again."""

    @property
    def title(self) -> str:
        """For people."""
        return self.name

    def read(self) -> HuntPlan:
        """The plan of the hunt."""
        file = PLANS / f"{self.plan}.toml"
        text = file.read_text(encoding="utf-8")
        document = read_toml(text, str(file))
        if self.controller:
            document["controllers"] = {flow["name"]: self.controller for flow in document["scenario"]["flow"]}
        return hunt_of(document, PlanFile(str(file), text), PLANS)


_ARUN = "Arun et al., Starvation in End-to-End Congestion Control, SIGCOMM 2022"
_STARVES = "a flow with jitter of its own starves next to one without"
CASES = (
    Cell(
        "bbr1-shallow",
        "BBRv1 overruns a shallow buffer",
        "Hock et al., Experimental Evaluation of BBR Congestion Control, ICNP 2017; RFC 9743 section 5.1.3",
        "bbr1-shallow",
        0.1,
    ),
    Cell("bbr1-starvation", f"BBRv1: {_STARVES}", _ARUN, "starvation", 0.5, "bbr1"),
    Cell("bbr-starvation", f"BBRv3: {_STARVES}", _ARUN, "starvation", 0.5, "bbr"),
    Cell("c4-starvation", f"C4: {_STARVES}", _ARUN, "starvation", 0.5),
    Cell(
        "bbr1-stall",
        "BBRv1 stays far too slow after losses and RTT steps",
        "Ray and Seshan, CC-Fuzz, HotNets 2022",
        "bbr-stall",
        2.0,
    ),
    Cell(
        "c4-low-and-up",
        "C4 takes longer if the capacity doubles in another phase of its probes",
        "ours: docs/evidence/verdicts.md",
        "c4-low-and-up",
        1.07,
        is_published=False,
    ),
)
NAMES = tuple(case.name for case in CASES)


@dataclass(frozen=True)
class Parameters:
    """Cases, and hunts for each."""

    cases: tuple[str, ...] = option(
        NAMES, "--case", metavar="NAME", help=f"Case; may be repeated [{' '.join(NAMES)}]."
    )
    hunts: int = option(
        6, metavar="N", help="Hunts for each case, with different search seeds [6].", least=1, most=100
    )
    budget: int = option(
        0, metavar="N", help="Scenarios of each hunt; 0: as in the plan of the case [0].", least=0, most=10**6
    )
    trials: ClassVar[int] = 20
    """Trials of the shipped scenario of each case."""

    def __post_init__(self) -> None:
        """Refuses what cannot be hunted; raises RequestError."""
        for name in self.cases:
            if name not in NAMES:
                raise RequestError(f"--case {name!r}: there is no such case{did_you_mean(name, NAMES)}")
        if not self.cases:
            raise RequestError("nothing to hunt: accepted: at least one --case")
        if not 1 <= self.hunts <= 100:
            raise RequestError(f"--hunts {self.hunts}: accepted: 1 to 100")
        if not 0 <= self.budget <= LARGEST_BUDGET:
            raise RequestError(f"--budget {self.budget}: accepted: 1 to {LARGEST_BUDGET}, or 0")

    def cells(self) -> Iterator[Cell]:
        """The cases, in their order."""
        return (case for case in CASES if case.name in self.cases)

    def plan(self, cell: Cell, search_seed: int) -> HuntPlan:
        """The plan of one hunt."""
        plan = cell.read()
        return replace(plan, budget=self.budget or plan.budget, search_seed=search_seed)

    def scenario(self, cell: Cell) -> Scenario:
        """The shipped scenario of a case."""
        return Scenario.load(f"{SUITE}/{cell.name}")
