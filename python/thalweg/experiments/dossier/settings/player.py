"""Who plays the settings of a dossier: the candidate, the standards beside it, and other implementations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.engine.controllers.definition import file_of
from thalweg.engine.scenario import Scenario
from thalweg.realtime import LiveScenario
from thalweg.realtime.kernel import is_kernel

STANDARDS = ("reno", "cubic")
"""RFC 9002 section 7 and RFC 9438: what RFC 9743 section 5.2.1 compares with."""
_REAL = "noq:"
MODEL, STACK = "simulated by the model", "a real QUIC stack in virtual time"
REAL_TIME = "the kernel's TCP in real time"


@dataclass(frozen=True)
class Player:
    """A controller on an endpoint."""

    controller: str

    @property
    def is_live(self) -> bool:
        """Whether its trials run in real time."""
        return is_kernel(self.controller)

    @property
    def grade(self) -> str:
        """The grade of evidence: the endpoint that its trials have.

        >>> Player("bbr").grade, Player("noq:bbr3").grade
        ('simulated by the model', 'a real QUIC stack in virtual time')
        >>> Player("kernel:bbr").grade
        "the kernel's TCP in real time"
        """
        if self.is_live:
            return REAL_TIME
        return STACK if self.controller.startswith(_REAL) else MODEL

    @property
    def keys(self) -> dict[str, object]:
        """Of its flows.

        >>> Player("noq:cubic").keys
        {'controller': 'noq:cubic', 'stack': 'quic'}
        """
        stack = {"stack": "quic"} if self.grade == STACK else {}
        # The scenarios of a dossier stand in its folder, and not where the file of a controller was named from.
        file = file_of(self.controller)
        name = self.controller if file is None else self.controller.replace(file, str(Path(file).resolve()), 1)
        return {"controller": name, **stack}

    def read(self, toml: str, name: str) -> Scenario | LiveScenario:
        """A scenario with its flows. Raises RequestError."""
        return (LiveScenario if self.is_live else Scenario).from_toml(toml, name)
