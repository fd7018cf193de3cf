"""The command that plays one trial of a gate again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """What a gate was given that its trials depend on, in the words of the command line."""

    scenarios: Mapping[str, str]
    """The argument of `thalweg run` for each name."""
    controllers: Sequence[str]
    """The texts of `-c`; a scenario takes the texts for the flows that it has."""
    settings: Sequence[str]
    stack: str | None
    allow_unseeded: bool
    flows: Mapping[str, Sequence[str]]
    """The flows of each scenario."""

    def replay(self, scenario: str, seed: int) -> str:
        """The command for one trial, which writes its figure and its qlog."""
        words = ["thalweg", "run", self.scenarios[scenario], "--seed", str(seed)]
        for text in self.controllers:
            if text.partition("=")[0].strip() in self.flows[scenario]:
                words += ["-c", text]
        for text in self.settings:
            words += ["--set", text]
        words += ["--stack", self.stack] if self.stack else []
        words += ["--allow-unseeded"] if self.allow_unseeded else []
        return shlex.join([*words, "--plot", "worst.html", "--trace", "worst.sqlog"])
