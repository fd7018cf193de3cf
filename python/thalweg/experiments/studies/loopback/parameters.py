"""The parameters of the study `loopback`: its variants, and how much each of their runs moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from thalweg.base.errors import RequestError
from thalweg.base.quantity import seconds, text
from thalweg.base.quantity import size as bytes_of
from thalweg.experiments.studies.runner.parameters import option

VARIANTS = {
    "c4-before": "c4:variant=draft-04,rtt_floor=off,submillisecond_bonus=0",
    "c4-floor": "c4:variant=draft-04,submillisecond_bonus=0",
    "c4-1/32": "c4:variant=draft-04,submillisecond_bonus=1/32",
    "c4-3/64": "c4:variant=draft-04",
    "c4-1/16": "c4:variant=draft-04,submillisecond_bonus=1/16",
    "cubic": "cubic",
    "bbr": "bbr",
}
"""What the study compares: name in its table, and controller. Its source is about the C4 of draft -04."""

LARGEST = 10**11
"""Bytes of a run."""


@dataclass(frozen=True)
class Cell:
    """One variant."""

    name: str
    controller: str

    @property
    def title(self) -> str:
        """Its title is its name."""
        return self.name


@dataclass(frozen=True)
class Parameters:
    """What each run moves: as much as takes some time, or a size that is the same for all."""

    length: str | None = option(
        None, metavar="TIME", help="Duration of a run [3s]; with --size, its limit [120s]."
    )
    size: str | None = option(
        None, metavar="BYTES", help="Bytes of each run, such as 10GB in the blog, instead of a duration."
    )
    load: int = option(0, metavar="N", help="Processes that compete for the processor [0].", least=0, most=256)
    trials: ClassVar[int] = 10

    def __post_init__(self) -> None:
        """Refuses what takes no time or too much; raises RequestError."""
        if self.size is not None and not 100_000 <= self.most <= LARGEST:
            raise RequestError(f"--size {self.size!r}: expected 100kB to 100GB")
        if not 0.01 <= self.run_s <= 600:
            raise RequestError(f"--length {self.length!r}: expected 10ms to 600s")

    @property
    def run_s(self) -> float:
        """How long a run takes, or may take."""
        return seconds(self.length or ("3s" if self.size is None else "120s"), "--length")

    @property
    def most(self) -> int:
        """Bytes that a run moves at the most."""
        return LARGEST if self.size is None else bytes_of(self.size, "--size")

    def in_words(self) -> str:
        """What a run is, in words."""
        run = f"{self.run_s:g} s a run"
        if self.size is not None:
            run = f"{text(self.most, 'B')} a run, at most {self.run_s:g} s"
        return run + (f", {self.load} busy processes" if self.load else "")

    def cells(self) -> Iterator[Cell]:
        """All variants."""
        return (Cell(*variant) for variant in VARIANTS.items())
