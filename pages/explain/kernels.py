"""Captures of TCP of the kernel through our emulator, in real time: a part of docs/evidence/explain.md.

A transfer takes as long as it takes, and a busy machine delays packets: a command of its own makes it, and no
check measures it again.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

import numpy as np

from pages.explain.make import PAGE
from pages.explain.paths import Made, make
from pages.made import fill, made, row
from thalweg.base.quantity import percent
from thalweg.experiments.explain.file import limits_and_who
from thalweg.foreign.inference.path import path
from thalweg.foreign.reading import read
from thalweg.realtime.report import is_faithful
from thalweg.realtime.trial import LiveScenario, Recording

FAMILIES = {"cubic": "cubic", "reno": "reno", "bbr": "bbr1"}
"""The kernel's controllers, and ours of the same family: its BBR is the first one (Linux 6)."""
SEEDS = range(20_000, 20_008)
TRANSFER_S = 9
_SIDES = {"right": "sender", "left": "receiver"}
"""Interfaces of the capture: the server, which sends, is on the right."""
_ATTEMPTS = 3


@dataclass(frozen=True)
class Explained:
    """What a capture says of one transfer."""

    controller: str
    side: str
    families: frozenset[str]
    """Families of the candidates that are named; empty where none is."""
    capacity: float | None
    rtt: float
    """Relative errors; None where the capacity was not seen."""
    cause: str
    """What limited the sender longest."""
    is_sound: bool
    """Whether the emulator kept time."""

    @property
    def is_right(self) -> bool:
        """Whether its family is among those that are named."""
        return FAMILIES[self.controller] in self.families


def make_kernels() -> None:
    """Plays, captures and explains all transfers."""
    found = [one for seed in SEEDS for name in FAMILIES for one in explained(name, seed)]
    lines = [
        row(
            "controller",
            "capture at the",
            "transfers",
            "named",
            "right of these",
            "one name",
            "limited longest by",
        )
    ]
    lines.append(row(":--", ":--", "--:", "--:", "--:", "--:", ":--"))
    for name in FAMILIES:
        for side in _SIDES.values():
            lines.append(_row(name, side, [one for one in found if (one.controller, one.side) == (name, side)]))
    late = sum(not one.is_sound for one in found) // len(_SIDES)
    said = (
        f"{made('explain-kernels')} {_path(found)} The emulator was late in {late} of {len(found) // len(_SIDES)} "
        "transfers, by the bound of its report."
    )
    fill(PAGE, "kernels", "\n".join([*lines, "", *_mistakes(found), *wrap(said, 105)]))


def explained(name: str, seed: int) -> Iterator[Explained]:
    """One transfer, from both sides."""
    of = make("wired", seed, f"kernel:{name}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "packets.pcapng"
        is_sound = _play(of, file)
        for view in read(file):
            interface = view.name.rpartition(" at ")[2]
            held, who = limits_and_who(view)
            known = path(view)
            assert held is not None, "a sender"
            assert known.base_rtt_s is not None, "acknowledgements"
            is_seen = known.is_capacity_seen and known.capacity_bps is not None
            yield Explained(
                name,
                _SIDES[interface],
                frozenset(one.partition(":")[0] for one in who.named),
                known.capacity_bps / of.rate_bps - 1 if is_seen and known.capacity_bps else None,
                known.base_rtt_s / of.rtt_s - 1,
                max(held.shares, key=lambda cause: held.shares[cause]),
                is_sound,
            )


def _play(of: Made, file: Path) -> bool:
    """Captures a transfer, again if the emulator was late; whether it was not in the end."""
    scenario = LiveScenario.from_toml(of.text.replace('"12.0 s"', f'"{TRANSFER_S} s"'), of.kind)
    return any(is_faithful(scenario.run(realtime=True, recording=Recording(capture=file)).report)
               for _ in range(_ATTEMPTS))  # fmt: skip


def _row(name: str, side: str, of: list[Explained]) -> str:
    answers = [one for one in of if one.families]
    right = sum(one.is_right for one in answers)
    causes = Counter(one.cause for one in of)
    said = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    alone = sum(one.is_right and len(one.families) == 1 for one in answers)
    shares = [len(answers) / len(of), right / max(1, len(answers)), alone / max(1, len(answers))]
    return row(name, side, str(len(of)), *map(percent, shares), said)


def _mistakes(found: list[Explained]) -> list[str]:
    wrong = Counter(
        (one.controller, " or ".join(sorted(one.families))) for one in found if one.families and not one.is_right
    )
    if not wrong:
        return []
    head = [row("wrong: the kernel's", "is named", "times"), row(":--", "--:", "--:")]
    return [*head, *(row(truth, said, str(count)) for (truth, said), count in wrong.most_common()), ""]


def _path(found: list[Explained]) -> str:
    parts = []
    capacities = np.abs([one.capacity for one in found if one.capacity is not None])
    for what, errors in (("capacity", capacities), ("base RTT", np.abs([one.rtt for one in found]))):
        middle, high = np.quantile(errors, (0.5, 0.9))
        parts.append(f"{what} {middle * 100:.2f} % in the median and {high * 100:.2f} % for nine of ten")
    return f"The error of the {'; of the '.join(parts)} ({len(capacities)} of {len(found)} saw the capacity)."
