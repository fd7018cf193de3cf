"""Sweeps: one scenario over a space of its keys, controllers and seeds, which runs only what is missing.

A plan (`plan.py`) names a scenario, axes (`axis.py`) and a design (`design.py`). Each of its points (`point.py`)
is a scenario with values set, and its trials are rows (`table.py`) of a store (`store.py`), which knows a trial by
what it is: the resolved scenario, the controllers, the seed and the engine. `run.py` plays what the store lacks,
`result.py` reads it back, and `medians.py` makes one row of each point.
"""

from __future__ import annotations

from thalweg.experiments.sweep.result import SweepResult
from thalweg.experiments.sweep.sweep import Sweep

__all__ = ["Sweep", "SweepResult"]
