"""Who plays the settings of a dossier: the candidate, the standards next to it, and other implementations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.engine.libraries import given
from thalweg.engine.scenario import Scenario
from thalweg.realtime import LiveScenario
from thalweg.realtime.kernel import is_kernel

STANDARDS = ("reno", "cubic")
"""RFC 9002 section 7 and RFC 9438: what RFC 9743 section 5.2.1 compares with."""
_MODELLED, _QUIC, _OF_QUIC = "model", "quic", "noq:"
MODEL, STACK = "simulated by the model", "a real stack in virtual time"
REAL_TIME = "the kernel's TCP in real time"


@dataclass(frozen=True)
class Player:
    """A controller on an endpoint."""

    controller: str
    stack: str = ""
    """What the key `stack` of its flows has; empty: the stack that its controller is of, or the model."""

    @staticmethod
    def on(stack: str, controller: str) -> Player:
        """A controller on the stack that a user names, if any: our controllers run on the model anyway.

        >>> Player.on("model", "cubic") == Player("cubic")
        True
        """
        is_usual = stack == _MODELLED and not controller.startswith(_OF_QUIC)
        return Player(controller, "" if is_usual else stack)

    @property
    def title(self) -> str:
        """For people.

        >>> Player("cubic").title, Player("cubic", "quic").title, Player("cubic", "./libquinn.so").title
        ('cubic', 'cubic on quic', 'cubic of libquinn.so')
        """
        if self.stack in ("", _MODELLED):
            return self.controller
        return f"{self.controller} {'on' if self.stack == _QUIC else 'of'} {Path(self.stack).name}"

    @property
    def is_live(self) -> bool:
        """Whether its trials run in real time."""
        return is_kernel(self.controller)

    @property
    def grade(self) -> str:
        """The grade of evidence: the endpoint that its trials have.

        >>> Player("bbr").grade, Player("noq:bbr3").grade
        ('simulated by the model', 'a real stack in virtual time')
        >>> Player("kernel:bbr").grade
        "the kernel's TCP in real time"
        """
        if self.is_live:
            return REAL_TIME
        return MODEL if self._endpoint == _MODELLED else STACK

    @property
    def _endpoint(self) -> str:
        return self.stack or (_QUIC if self.controller.startswith(_OF_QUIC) else _MODELLED)

    @property
    def keys(self) -> dict[str, object]:
        """The keys of its flows.

        >>> Player("noq:cubic").keys
        {'controller': 'noq:cubic', 'stack': 'quic'}
        """
        stack = {"stack": given(self._endpoint)} if self.grade == STACK else {}
        return {"controller": self.controller, **stack}

    def read(self, toml: str, name: str) -> Scenario | LiveScenario:
        """A scenario with its flows. Raises RequestError."""
        return (LiveScenario if self.is_live else Scenario).from_toml(toml, name)
