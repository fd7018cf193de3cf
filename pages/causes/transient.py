"""Why statements of the poster hold or not: the preset `paper` of `transient`, changed in one thing at a time.

Measures the table of causes of docs/evidence/studies/transient.md: for each change all seven statements, by the
median of their ratio of areas and whether they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pages.causes.ccp_bbr import CcpBbr
from pages.made import DOCS, fill, made, row
from thalweg.engine.controllers.resolver import Given
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.transient.checks import LARGE, SMALL, Areas, judgements
from thalweg.experiments.studies.transient.measure import measure, ranked, runs
from thalweg.experiments.studies.transient.parameters import MAIN, Cell, Parameters
from thalweg.experiments.studies.transient.roles import BBR, CUBIC, RENO, Role
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED

TRIALS = 100
LENGTH = "10 s"
"""The length of a trial: every reaction is over by then, and an area ends with its reaction."""
STATEMENTS = (
    "small: Reno better than BBR",
    "small: CUBIC better than BBR",
    "small: BBR has a long tail",
    "Reno worse in the larger",
    "CUBIC worse in the larger",
    "larger: BBR better than Reno",
    "larger: BBR better than CUBIC",
)
"""In the order of `judgements`."""
_WORDS = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "open"}


@dataclass(frozen=True)
class Change:
    """One difference from the preset."""

    name: str
    controllers: Mapping[Role, Given] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


CCP = '{ model = "linux", reports = "1 rtt" }'
CHANGES = (
    Change("nothing"),
    Change("CUBIC leaves slow start by HyStart++, as shipped", {CUBIC: "cubic"}),
    Change("BBR without Startup, as in CCP", {BBR: CcpBbr}),
    Change("BBRv3", {BBR: "bbr"}),
    Change("an ACK for every packet", overrides={"transport.ack_every": "1"}),
    Change("Linux hosts", overrides={"flow.*.host": '"linux"'}),
    Change(
        "reports once a round trip, paced",
        overrides={"flow.*.host": '{ model = "ideal", reports = "1 rtt" }'},
    ),
    Change("reports once a round trip, as CCP, unpaced", overrides={"flow.*.host": CCP}),
    Change(
        "reports once a round trip, unpaced, BBR without Startup",
        {BBR: CcpBbr},
        overrides={"flow.*.host": CCP},
    ),
    Change("rules of picoquic", overrides={"transport.rules": '"picoquic"'}),
    Change(
        "rules of picoquic, ACKs for every second packet",
        overrides={"transport.rules": '"picoquic"', "transport.ack_frequency": "false"},
    ),
    Change("no noise of the delay", parameters={"delay_noise": "0 ms"}),
    Change("noise of the delay of 2.5 ms", parameters={"delay_noise": "2.5 ms"}),
    Change("no noise of the capacity", parameters={"rate_noise": "0 Mbps"}),
)
PLAYED: Mapping[Role, Given] = {RENO: "reno", CUBIC: "cubic:start=classic", BBR: "bbr1"}


def areas(change: Change, trials: int = TRIALS) -> Areas:
    """The areas of the three roles with both buffers."""
    parameters = replace(Parameters(), duration=LENGTH, **change.parameters)
    found = {}
    for role, controller in {**PLAYED, **change.controllers}.items():
        for buffer in (SMALL, LARGE):
            text = parameters.scenario(Cell(buffer, "reno")).toml
            scenario = Scenario.from_toml(text, role, overrides=change.overrides, controllers={MAIN: controller})
            found[Cell(buffer, role)] = ranked(measure(parameters, runs(scenario.trials(trials)))[0].reactions)
    return found


def line(change: Change, trials: int = TRIALS) -> str:
    """The row of a change."""
    players: Mapping[Role, str] = {role: role for role in PLAYED}
    told = [(answer, measured) for _, answer, measured in judgements(areas(change, trials), players)]
    held = sum(answer == HOLDS for answer, _ in told)
    cells = [f"{_WORDS[answer]}, {_ratio(measured)}" for answer, measured in told]
    return row(change.name, f"{held} of {len(told)}", *cells)


def _ratio(measured: str) -> str:
    """The ratios of a statement, without their intervals."""
    told = measured.rpartition(": ")[2] if "; " not in measured else measured.rpartition("; ")[2]
    return " and ".join(part.split(" (")[0].split()[-1] for part in told.split("), "))


def make() -> None:
    """Measures the table."""
    lines = [row("changed", "hold", *STATEMENTS), row(":--", *["--:"] * (len(STATEMENTS) + 1))]
    lines += [line(change) for change in CHANGES]
    fill(
        DOCS / "evidence" / "studies" / "transient.md", "causes", "\n".join([*lines, "", made("transient-causes")])
    )
