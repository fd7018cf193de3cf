"""Who plays the settings of a dossier: the candidate, the standards beside it, and other implementations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.engine.controllers.definition import file_of

STANDARDS = ("reno", "cubic")
"""RFC 9002 section 7 and RFC 9438: what RFC 9743 section 5.2.1 compares with."""
_REAL = "noq:"
MODEL, STACK = "simulated by the model", "a real QUIC stack in virtual time"


@dataclass(frozen=True)
class Player:
    """A controller on an endpoint."""

    controller: str

    @property
    def grade(self) -> str:
        """The grade of evidence: the endpoint that its trials have.

        >>> Player("bbr").grade, Player("noq:bbr3").grade
        ('simulated by the model', 'a real QUIC stack in virtual time')
        """
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
