"""Which of the poster's three controllers another controller stands for.

The poster speaks of Reno, CUBIC and BBR. A variant such as `cubic:start=classic` stands for its algorithm, and
every version of BBR for BBR. C4, Prague and controllers in files stand for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

Role = Literal["reno", "cubic", "bbr"]

RENO: Final = "reno"
CUBIC: Final = "cubic"
BBR: Final = "bbr"
LOSS_BASED: tuple[Role, ...] = (RENO, CUBIC)

_ALGORITHMS: Mapping[str, Role] = {
    "reno": RENO,
    "cubic": CUBIC,
    "bbr": BBR,
    "bbr1": BBR,
}


def role(controller: str) -> Role | None:
    """The role of a controller, by its name without options; None if it has none.

    >>> role("cubic:start=classic"), role("bbr1"), role("prague"), role("./bbr.py:Bbr")
    ('cubic', 'bbr', None, None)
    """
    return _ALGORITHMS.get(controller.partition(":")[0])


def cast(controllers: Iterable[str]) -> dict[Role, list[str]]:
    """The controllers of each role, in the given order: the first one decides the checks.

    >>> cast(["reno", "cubic:start=classic", "bbr1", "cubic", "bbr", "c4"])
    {'reno': ['reno'], 'cubic': ['cubic:start=classic', 'cubic'], 'bbr': ['bbr1', 'bbr']}
    """
    found: dict[Role, list[str]] = {}
    for controller in dict.fromkeys(controllers):
        if (part := role(controller)) is not None:
            found.setdefault(part, []).append(controller)
    return found
