"""Who plays the settings of a dossier: the candidate, the standards beside it, and other implementations."""

from __future__ import annotations

from dataclasses import dataclass

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
        return {"controller": self.controller, **stack}
