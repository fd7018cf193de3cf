"""The parameters of the study `stacks`, and the scenario of each of its cells.

Model: every scenario of the suite `c4` with one flow runs three times: on the modelled endpoint as it is shipped
(`model`), on the modelled endpoint with flow-control windows as wide as the stack's (`wide`), and on the
stack (`quic`). Flows start up to one of the longest round trips late, the same in all three, so that trials meet
the changes of the path in all phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import seconds
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.runner.parameters import file_name, option

VARIANTS: dict[str, dict[str, str]] = {
    "model": {},
    "wide": {"transport.initial_max_stream_data": "128 MiB", "transport.initial_max_data": "1 GiB"},
    "quic": {"flow.*.stack": "quic"},
}
"""What each of the three sets in a scenario."""


@dataclass(frozen=True)
class Cell:
    """One scenario on one of the three."""

    scenario: str
    controller: str
    variant: str

    @property
    def name(self) -> str:
        """For files."""
        return file_name(self.scenario, self.controller, self.variant)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.scenario} ({self.variant})"


@dataclass(frozen=True)
class Parameters:
    """What is compared."""

    controllers: tuple[str, ...] = option(
        ("c4",), "--controller", "-c", metavar="NAME", help="Controller of the flow; may be repeated [c4]."
    )
    names: tuple[str, ...] = option(
        (),
        "--scenario",
        metavar="NAME",
        help="Scenario; may be repeated [all of the suite c4 with one flow].",
        read=lambda name: name.removeprefix("c4/"),
    )
    """Names of scenarios; all if there are none."""
    trials: ClassVar[int] = 100

    def __post_init__(self) -> None:
        """Refuses scenarios that are not of one flow; raises RequestError."""
        known = scenarios() if self.names else []
        for name in self.names:
            if name not in known:
                hint = did_you_mean(name, known)
                raise RequestError(f"--scenario {name!r}: not one of the suite c4 with one flow{hint}")

    def cells(self) -> Iterator[Cell]:
        """Every scenario on all stacks, with each controller."""
        for controller, name, variant in product(self.controllers, self.names or scenarios(), VARIANTS):
            yield Cell(name, controller, variant)

    def scenario(self, cell: Cell) -> Scenario:
        """The shipped scenario with what its stack sets. Raises RequestError."""
        shipped = Scenario.load(f"c4/{cell.scenario}")
        flow = str(shipped.flows[0]["name"])
        settings = {"noise.start": longest_rtt(shipped.toml), **VARIANTS[cell.variant]}
        return Scenario.load(f"c4/{cell.scenario}", settings, {flow: cell.controller})


def scenarios() -> list[str]:
    """The scenarios of one flow, in the order of the suite.

    >>> scenarios()[:2], "c4-short" in scenarios()
    (['simple-20mbps', 'simple-200mbps'], False)
    """
    suite = Suite.find("c4")
    return [entry.name for entry in suite.entries if len(Scenario.from_entry(entry).flows) == 1]


def longest_rtt(toml: str) -> str:
    """The longest round trip that the path of a scenario has at any time.

    >>> longest_rtt('path = { rtt = "30 ms", change = [{ rtt = "0.2 s" }, { rate = "1 Mbps" }] }')
    '0.2 s'
    """
    path = read_toml(toml, "scenario")["path"]
    rtts = [str(part["rtt"]) for part in (path, *path.get("change", [])) if "rtt" in part]
    return max(rtts, key=lambda rtt: seconds(rtt, "path.rtt"))
