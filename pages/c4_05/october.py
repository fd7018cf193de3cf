"""Which rule of October's code does what: its three switches alone and together; and trimming on a slow link."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from pages.c4_05.states import STATES, change
from pages.c4_05.trials import DRAFT_05
from pages.made import DOCS, fill, made, row
from thalweg.base.quantity import percent
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.laws import utilisation
from thalweg.experiments.studies.laws.experiment import TrialRecord

PAGE = DOCS / "evidence" / "c4-05.md"
RULES = {
    "debt": "drain=debt",
    "own alpha": "alpha_previous=own",
    "trim above 1 ms": "trim=above-1ms",
    "debt and own alpha": "drain=debt,alpha_previous=own",
    "all three": "drain=debt,alpha_previous=own,trim=above-1ms",
}
"""What October's code changes of draft-05, rule by rule; all three are its variant."""
WHERE = (
    "vs-cubic",
    "vs-cubic-lg",
    "vs-cubic-lg2",
    "ecn-cubic",
    "vs-bbr",
    "vs-bbr-lg",
    "vs-bbr-lg2",
    "bbloat-bbr",
    "low-and-up",
)
SLOW = DOCS / "evidence" / "c4-05" / "slow-link.toml"
SLOW_AT = (1e6, 0.01)
"""Rate and RTT of that file."""
SLOW_TRIALS = 6
ON_A_SLOW_LINK = {"draft-05": "c4", "no trim": "c4:trim=off", "draft-04": STATES["draft-04"]}


def rule_row(test: str, column: str) -> str:
    """A test, and what each rule changes."""
    return row(test, *(change(test, DRAFT_05, f"{DRAFT_05},{options}", column) for options in RULES.values()))


def rules_table(column: str) -> str:
    """All tests of WHERE."""
    lines = [rule_row(test, column) for test in WHERE]
    return "\n".join([row("test", *RULES), row(":--", *["--:"] * len(RULES)), *lines])


def slow_row(name: str) -> str:
    """What a version of C4 uses of the slow link, over our QUIC stack and on the modelled endpoint."""
    cells = []
    for stack in ("quic", "model"):
        scenario = Scenario.load(SLOW, {"flow.main.stack": stack}, controllers={"main": ON_A_SLOW_LINK[name]})
        outcomes = scenario.trials(SLOW_TRIALS)
        law = utilisation.experiment("c4", stack, SLOW_AT, SLOW_TRIALS)
        used = [law.numbers(TrialRecord(outcomes, index, None))["used"] for index in range(outcomes.n)]
        cells.append(percent(float(np.mean(used))))
    return row(name, *cells)


def slow_table() -> str:
    """All versions."""
    lines = [slow_row(name) for name in ON_A_SLOW_LINK]
    return "\n".join([row("C4", "QUIC stack", "modelled endpoint"), row(":--", "--:", "--:"), *lines])


def make() -> None:
    """The parts of the page that are of October's rules; about a minute of processor time."""
    fill(PAGE, "october", f"{rules_table('closed_s')}\n\n{made('c4-05-october')}")
    fill(PAGE, "october-rtt", rules_table("event_rtt_s"))
    fill(PAGE, "slow-link", slow_table())


def parts() -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """Each test, and the slow link."""

    def measure(test: str) -> list[str]:
        return [rule_row(test, column) for column in ("closed_s", "event_rtt_s")]

    slow = ("the slow link", lambda: [slow_row(name) for name in ON_A_SLOW_LINK])
    return [*((test, partial(measure, test)) for test in WHERE), slow]
