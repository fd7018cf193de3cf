"""The parameters of the study `wifi-compete`, and the scenario of each of its cells.

Model: 10 Mbps in both directions, 2 ms of round trip, Wi-Fi jitter of 7 ms on average in each direction, a
buffer of 80 ms, packets counted by their UDP payload. The main flow downloads 4 MB. Alone, it starts at 0;
in a pair, it starts at 1 s against a background download of 10 MB that began at 0.

Every trial draws its own jitter. With a `jitter_seed`, all trials share one jitter sequence and differ by
only starts and wake-ups of the senders: that is how the runs of the paper were made.

Endpoints follow the peer's rules (docs/reference/transport.md), whole: `rules = "picoquic"`, and `mtu_fallback`,
by which senders return to the initial MTU at a probe timeout or when more than ten full packets are lost in a row,
as the peer's stack does on a path that it takes for narrower. The competitors are the peer's controllers
(`published.PEERS`).

Source: "Handling of competition with Wi-Fi jitter" (C4 repository, commit ffec621, 2025).

Limits: the shared sequence is one of ours, not the paper's: random generators differ. A sequence is drawn
packet by packet, so trials that share it part ways when they send different packets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

from thalweg.base.errors import RequestError
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.runner.parameters import option
from thalweg_c4_history.published import (
    ACCEPTANCE_S,
    ALONE,
    COMPETITORS,
    HEAD_START_S,
    PAPER,
    PEERS,
    SHARED_MEDIAN_S,
    VARIANTS,
)

MAIN, BACKGROUND = "main", "background"


class Cell(NamedTuple):
    """One row of the table."""

    variant: str
    competitor: str

    @property
    def name(self) -> str:
        """For files and places of a page."""
        return f"{self.variant}-{self.competitor}"

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.variant} {self.competitor}"

    @property
    def is_pair(self) -> bool:
        """Whether there is a background."""
        return self.competitor != ALONE


@dataclass(frozen=True)
class Parameters:
    """The paper's experiment, which has nothing to choose but its jitter."""

    shared_jitter: bool = option(False, help="One jitter sequence for all trials, as in the paper.")
    jitter_seed: int | None = option(
        None, help="Number of the sequence of --shared-jitter [1].", least=0, most=2**63 - 1
    )
    trials: ClassVar[int] = 1000
    """As many as tell medians 10 % apart on such paths."""

    def __post_init__(self) -> None:
        """Refuses half of what a shared sequence needs; raises RequestError."""
        if self.jitter_seed is not None and not self.shared_jitter:
            raise RequestError("--jitter-seed requires --shared-jitter, whose sequence it chooses")

    @property
    def published_s(self) -> Mapping[tuple[str, str], float]:
        """The median end times of the re-measurement with such jitter."""
        return SHARED_MEDIAN_S if self.shared_jitter else ACCEPTANCE_S

    def cells(self) -> Iterator[Cell]:
        """All variants alone and against all competitors."""
        return (Cell(*both) for both in product(VARIANTS, COMPETITORS))

    def scenario(self, cell: Cell) -> Scenario:
        """The scenario of one cell."""
        sequence = 1 if self.jitter_seed is None else self.jitter_seed
        return scenario(*cell, sequence if self.shared_jitter else None)


def scenario(variant: str, competitor: str, jitter_seed: int | None = None) -> Scenario:
    """The scenario of one cell.

    >>> [flow["controller"] for flow in scenario("v2", "c4").flows]
    ['c4:variant=v2', 'c4:variant=v2']
    """
    cell, main = Cell(variant, competitor), VARIANTS[variant]
    start = f"{HEAD_START_S:g} s" if cell.is_pair else "0 s"
    flows = [{"name": MAIN, "controller": main, "download": "4 MB", "start": start}]
    if cell.is_pair:
        flows.append({"name": BACKGROUND, "controller": PEERS.get(competitor, main), "download": "10 MB"})
    keys = {
        "title": f"Bad Wi-Fi: {variant} {f'against {competitor}' if cell.is_pair else 'alone'}",
        "source": PAPER,
        "overhead": "0 B",
        "path": {
            "rate": "10 Mbps",
            "rtt": "2 ms",
            "buffer": "80 ms",
            "jitter": {"model": "wifi", "mean": "7 ms"},
        },
        "noise": {"jitter_seed": jitter_seed} if jitter_seed is not None else None,
        "transport": {"rules": "picoquic", "mtu_fallback": True},
        "flow": flows,
        # Asks nothing: it ends the trial when the main flow has closed.
        "pass": [{"flow": MAIN, "metric": "closed", "at_most": "300 s", "informative": True}],
    }
    return Scenario.from_toml(scenario_text(keys), cell.name)
