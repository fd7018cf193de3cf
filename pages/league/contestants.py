"""Who plays: a controller of a stack, a column of a table, and the options that put it in the place of `main`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pages.made import ROOT

FOLDER = ROOT / "target" / "stacks"
SLOW = "aioquic"
"""Python: it plays one trial of each scenario, and none that is too long."""


@dataclass(frozen=True)
class Contestant:
    """A controller of a stack."""

    title: str
    """The title of its column."""
    stack: str
    """`model`, `quic`, or the name of a library in target/stacks."""
    controller: str

    @property
    def is_library(self) -> bool:
        """Whether others wrote the stack."""
        return self.stack not in ("model", "quic")

    @property
    def is_slow(self) -> bool:
        """Whether it plays less."""
        return self.stack == SLOW

    @property
    def repeats(self) -> bool:
        """Whether the same seed has the same trial: BBR of quinn draws from the system."""
        return (self.stack, self.controller) != ("quinn", "bbr")

    @property
    def library(self) -> Path:
        """Where its library is built."""
        return FOLDER / f"lib{self.stack}.so"

    @property
    def carried_by(self) -> str:
        """The value of the key `stack`, for programs."""
        return str(self.library) if self.is_library else self.stack

    def options(self, flows: tuple[str, ...]) -> list[str]:
        """Options of `thalweg run` in the root of the repository, for these flows."""
        words = [word for flow in flows for word in ("-c", f"{flow}={self.controller}")]
        stack = str(self.library.relative_to(ROOT)) if self.is_library else self.stack
        if stack != "model":
            words += [word for flow in flows for word in ("--set", f"flow.{flow}.stack={stack}")]
        return words


FAMILIES = {
    "CUBIC": (
        Contestant("model", "model", "cubic"),
        Contestant("ours on noq", "quic", "cubic"),
        Contestant("noq", "quic", "noq:cubic"),
        Contestant("quinn", "quinn", "cubic"),
        Contestant("ngtcp2", "ngtcp2", "cubic"),
        Contestant("quiche", "quiche", "cubic"),
        Contestant("aioquic", "aioquic", "cubic"),
        Contestant("smoltcp", "smoltcp", "cubic"),
    ),
    "Reno": (
        Contestant("model", "model", "reno"),
        Contestant("ours on noq", "quic", "reno"),
        Contestant("noq", "quic", "noq:newreno"),
        Contestant("quinn", "quinn", "new-reno"),
        Contestant("ngtcp2", "ngtcp2", "reno"),
        Contestant("quiche", "quiche", "reno"),
        Contestant("aioquic", "aioquic", "reno"),
        Contestant("smoltcp", "smoltcp", "reno"),
    ),
    "BBR": (
        Contestant("model", "model", "bbr"),
        Contestant("ours on noq", "quic", "bbr"),
        Contestant("quinn", "quinn", "bbr"),
        Contestant("ngtcp2", "ngtcp2", "bbr"),
        Contestant("ngtcp2 v2", "ngtcp2", "bbr2"),
        Contestant("quiche v2", "quiche", "bbr2"),
    ),
}
"""The columns of each family. aioquic and smoltcp have no BBR, and no seed repeats the trial of noq."""


def missing() -> list[str]:
    """The libraries that are not built."""
    libraries = (one for family in FAMILIES.values() for one in family if one.is_library)
    return sorted({one.stack for one in libraries if not one.library.exists()})
