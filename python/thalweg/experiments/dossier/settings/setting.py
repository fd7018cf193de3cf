"""What a setting is: a scenario for any player, and the criteria that its numbers answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from thalweg.base.quantity import bits_per_second, seconds
from thalweg.experiments.dossier.settings.player import Player

Profile = Literal["quick", "default", "full"]
PROFILES: tuple[Profile, ...] = ("quick", "default", "full")
"""Each has the settings of those before it."""
Keys = dict[str, object]
LONG = "1000 GB"
"""A download that does not end."""


@dataclass(frozen=True)
class Question:
    """A criterion, and the number that answers it in a setting, where the limits have that number."""

    criterion: str
    number: str


@dataclass(frozen=True)
class Span:
    """A part of a trial, after a change."""

    change_s: float
    begin_s: float
    end_s: float
    rtt_s: float
    """Round-trip time of the path without its queue."""


@dataclass(frozen=True)
class Setting:
    """A scenario that every player plays."""

    name: str
    """For files: letters, digits, points and dashes."""
    title: str
    environment: str
    """The section of RFC 9743."""
    keys: Callable[[Player], Keys]
    """Keys of the scenario."""
    questions: Sequence[Question]
    profile: Profile = "default"
    """The smallest profile that has it."""
    also: bool = False
    """Whether other implementations of the candidate play it too: in real time only without a span."""
    model_only: bool = False
    """Whether it needs the endpoints of the model."""
    span: Span | None = None
    """The time in which it counts the packets that the sender sends, by the trace; None: numbers of the trial."""


def path(rate: str, rtt: str, buffer: str = "1 bdp", **more: object) -> Keys:
    """The table of a path. A buffer of 1 BDP that holds fewer than ten packets is one of ten packets."""
    bdp = bits_per_second(rate, "rate") * seconds(rtt, "rtt") / 8
    if buffer == "1 bdp" and bdp < _LEAST_BUFFER:
        buffer = f"{_LEAST_BUFFER} B"
    return {"rate": rate, "rtt": rtt, "buffer": buffer, **more}


def flow(name: str, player: Player | str, **keys: object) -> Keys:
    """A long download in the background, or another workload if `keys` has one."""
    own = player.keys if isinstance(player, Player) else {"controller": player}
    load = {} if "requests" in keys or "media" in keys else {"download": LONG}
    return {"name": name, **own, "background": True, **load, **keys}


def scenario(
    title: str, span: str, path: Mapping[str, object], flows: Sequence[Keys], can_starve: bool = True
) -> Keys:
    """The keys of a scenario, with the criteria that make it record what the numbers need.

    Flows with pauses, such as requests and calls, cannot starve each other.
    """
    start_s = min(1e-3, 0.05 * seconds(str(path["rtt"]), "rtt")) if path else 1e-3
    needed = [{"flow": one["name"], "metric": "p95-queue-delay", "at_most": "1000 s"} for one in flows[:_WATCHED]]
    if can_starve and 1 < len(flows) <= _WATCHED:
        needed += [{"flow": one["name"], "metric": "starvation", "at_most": "1000 s"} for one in flows]
    noise = {"noise": {"start": f"{round(start_s * 1e9)} ns"}}
    table = {"path": dict(path)} if path else {}
    return {"title": title, "time_limit": span, **noise, **table, "flow": flows, "pass": needed}


_LEAST_BUFFER = 15_000
_WATCHED = 12
"""Most flows whose waits are recorded."""
