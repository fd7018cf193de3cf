"""Hunts: the worst scenario of a space, found by a search and then made small.

A plan (`plan.py`) names a scenario, what varies (`elements.py`, and the axes of a sweep) and what is to be as bad
as possible (`objective.py`). `search.py` asks for scenarios, `judge.py` for their trials, `shrink.py` makes the
worst smaller (`size.py`, `smaller.py`), and `hunt.py` leads from one to the next to a find (`find.py`).
"""

from __future__ import annotations

from thalweg.experiments.hunt.find import Find
from thalweg.experiments.hunt.hunt import Hunt

__all__ = ["Find", "Hunt"]
