"""The two halves on which a controller is scored.

The open half is the scenarios of a suite, as they are. The held-back half has a variant of each: rate, RTT and
buffer of its path are drawn from ranges by a seed, so that nobody can fit a controller to it beforehand. It is
the same for every controller that is scored with that seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.quantity import between
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.scenario import Scenario

MAIN = "main"
"""The flow that is scored."""
RATE_BPS = (4e6, 80e6)
RTT_S = (0.01, 0.15)
BUFFER_BDP = (0.3, 6.0)
ATTEMPTS = 20


@dataclass(frozen=True)
class Variant:
    """A scenario of one of the halves, with the flows whose controller is bound."""

    name: str
    entry: Entry
    drawn: Mapping[str, str]
    """Keys that differ from the file of the scenario."""
    flows: tuple[str, ...]
    """The flows that get the controller: all that are not named after another one."""

    def bound(self, controller: str) -> Scenario:
        """The scenario with a controller. Raises RequestError."""
        try:
            return Scenario.from_entry(self.entry, [*self.drawn.items()], dict.fromkeys(self.flows, controller))
        except ScenarioError as error:
            # The user has named a controller, and no flow.
            said = str(error).removeprefix(f'controllers["{self.flows[0]}"]: ')
            raise RequestError(f"{controller}: {said}") from None


def halves(suite: Suite, seed: int) -> tuple[list[Variant], list[Variant]]:
    """The open half and the held-back half of a suite. Raises RequestError."""
    opened = [_variant_of(entry, entry.name, {}) for entry in suite.entries]
    drawn = [
        _variant_of(entry, f"{entry.name} ({', '.join(keys.values())})", keys)
        for entry, keys in _drawn(suite, seed)
    ]
    return opened, drawn


def _variant_of(entry: Entry, name: str, drawn: Mapping[str, str]) -> Variant:
    flows = [str(flow["name"]) for flow in Scenario.from_entry(entry).flows]
    if MAIN not in flows:
        raise RequestError(
            f"{entry.reference} has no flow {MAIN!r}; accepted: a suite in which each scenario has one"
        )
    competitors = {"cubic", "background"}
    return Variant(name, entry, drawn, tuple(flow for flow in flows if flow not in competitors))


def _drawn(suite: Suite, seed: int) -> Iterator[tuple[Entry, dict[str, str]]]:
    for entry in suite.entries:
        source = random.Random(f"thalweg/score/{seed}/{entry.name}")
        changes = "change" in read_toml(entry.read(), entry.name).get("path", {})
        for attempt in range(ATTEMPTS):
            keys = _variant_keys(source)
            # A path that changes keeps its rates, and with them its buffer.
            keys = {"path.rtt": keys["path.rtt"]} if changes else keys
            try:
                Scenario.from_entry(entry, [*keys.items()])
            except ScenarioError as error:
                # Some variants cannot be, such as one too slow for the time limit.
                if attempt + 1 == ATTEMPTS:
                    raise RequestError(f"{entry.reference} has no variant: {error}") from None
            else:
                yield entry, keys
                break


def _variant_keys(source: random.Random) -> dict[str, str]:
    rate, rtt, buffer = (between(*bounds, source.random()) for bounds in (RATE_BPS, RTT_S, BUFFER_BDP))
    return {
        "path.rate": f"{rate / 1e6:.3g} Mbps",
        "path.rtt": f"{rtt * 1e3:.3g} ms",
        "path.buffer": f"{buffer:.2g} bdp",
    }
