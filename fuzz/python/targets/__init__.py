"""The targets: one file each, with the generation and execution of cases; `TARGET` is its class."""

from __future__ import annotations

from random import Random
from typing import Protocol

from mutations import Step


class Target(Protocol):
    """A target, made from the folder of its sandbox and the guard of it."""

    def make(self, chance: Random) -> list[Step]:
        """A new case."""

    def play(self, case: list[Step]) -> str:
        """Runs a case; returns `played`, `refused` or `stopped`. Raises Broken, or any other exception."""
