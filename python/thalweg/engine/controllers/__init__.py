"""Controllers in Python: the base class, what handlers are given, and how files and classes become controllers.

    class Mine(thalweg.Controller):
        def __init__(self, init, beta: float = 0.7):
            self.beta, self.window = beta, init.initial_window

        def on_ack(self, event, path):
            self.window += event.newly_acked * path.mtu / self.window

        def on_lost(self, event, path):
            self.window = max(self.window * self.beta, 2 * path.mtu)

Units: seconds, bytes, bits per second. Limits: a trial runs handlers on one thread; many trials run in processes
of their own, if the class can be loaded from a file there.
"""

from thalweg._native import (
    Ack,
    EcnCounts,
    FakeTransport,
    Init,
    Lost,
    Path,
    RateSample,
    Report,
    RttSample,
    Sent,
    Snapshot,
    SpuriousLoss,
    Timeout,
)
from thalweg.engine.controllers.controller import Controller

__all__ = [
    "Ack",
    "Controller",
    "EcnCounts",
    "FakeTransport",
    "Init",
    "Lost",
    "Path",
    "RateSample",
    "Report",
    "RttSample",
    "Sent",
    "Snapshot",
    "SpuriousLoss",
    "Timeout",
]
