"""A policy as a controller: it sees and decides what an agent does, and goes wherever a controller goes.

    class Mine(thalweg.gym.Policy):
        features = ("rtt_ratio", "loss_ratio")

        def act(self, observation):
            return -0.5 if observation[1] > 0 else 0.1

Limits: a policy decides only from reports. Its trial equals an environment in which an agent takes the same
actions: the two have the same trace hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from thalweg._native import Init, Interface, Path, Report
from thalweg.base.errors import RequestError
from thalweg.engine.controllers.controller import Controller
from thalweg.gym.task import ACT, INTERVAL, OBSERVE, words


class Policy(Controller):
    """Decides by `act` at each report. Name what it sees and decides as for the environment that it learnt in."""

    report_every: ClassVar[str | None] = INTERVAL
    """The `interval` of the environment."""
    features: ClassVar[Sequence[str] | str] = OBSERVE
    """The `observe` of the environment."""
    actions: ClassVar[Sequence[str] | str] = ACT
    """The `act` of the environment."""
    senders_only: ClassVar[bool] = True

    def __init__(self, init: Init) -> None:
        """Starts with the initial window of the transport. Constructors with options have to call it."""
        self.window = float(init.initial_window)
        try:
            self._interface = Interface(words("features", self.features), words("actions", self.actions), [])
        except ValueError as error:
            raise RequestError(str(error)) from None

    def act(self, observation: Sequence[float]) -> float | Sequence[float]:
        """The action at a report: a number, or one for each of `actions`."""
        raise NotImplementedError(f"{type(self).__name__} has no act; accepted: act(self, observation)")

    def on_report(self, report: Report, path: Path) -> None:
        """Decides."""
        seen = self._interface.observation(report, path, self.window, self.pacing)
        action: Any = self.act(seen)
        actions = action if hasattr(action, "__len__") else (action,)
        self.window, self.pacing = self._interface.decision(actions, path, self.window, self.pacing)
