"""What every study yields: a table, and the published findings that it was set against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from thalweg import _native
from thalweg.host import host
from thalweg.quantity import text

Row = Mapping[str, str | float | int | None]
"""One row of a table: a number that does not apply is None."""


@dataclass(frozen=True)
class Check:
    """A published finding that a faithful experiment repeats; one that does not hold fails the study."""

    name: str
    source: str
    """Document and section."""
    holds: bool
    measured: str

    @property
    def answer(self) -> str:
        """Whether it holds, in words."""
        return _answer(self.holds)

    def document(self) -> dict[str, Any]:
        """This check as plain data."""
        return {"name": self.name, "source": self.source, "holds": self.holds, "measured": self.measured}


@dataclass(frozen=True)
class Finding:
    """A published statement that is shown beside what was measured, and decides nothing."""

    name: str
    source: str
    published: str
    measured: str
    holds: bool
    """Whether the trials say the same."""
    reason: str
    """Why they do, or do not."""

    @property
    def answer(self) -> str:
        """Whether it holds, in the words that checks have too."""
        return _answer(self.holds)

    def document(self) -> dict[str, Any]:
        """This finding as plain data."""
        return {
            "name": self.name,
            "source": self.source,
            "published": self.published,
            "measured": self.measured,
            "holds": self.holds,
            "reason": self.reason,
        }


def _answer(holds: bool) -> str:
    return "holds" if holds else "does not hold"


@dataclass
class StudyResult:
    """The outcome of a study."""

    study: str
    title: str
    source: str
    preset: str
    """Which of its experiments: the name of a set of parameters."""
    trials: int
    """Trials of each cell of the table."""
    seed: int
    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    live: list[dict[str, Any]] = field(default_factory=list)
    """What the emulator has to say of each trial in real time."""
    wall_s: float = 0.0
    core_s: float = 0.0
    version: str = field(default_factory=_native.version)
    host: dict[str, Any] = field(default_factory=host)
    started: str = field(default_factory=lambda: datetime.now().astimezone().isoformat(timespec="seconds"))

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(check.holds for check in self.checks)

    def add_live(self, name: str, seed: int, reports: Sequence[Mapping[str, Any]]) -> None:
        """Notes what the emulator has to say of the trials of a cell, which began with `seed`."""
        self.live += [{"cell": name, "seed": seed + number, **one} for number, one in enumerate(reports)]

    def honesty(self) -> list[str]:
        """How well trials in real time kept time, in words; nothing if there were none."""
        if not self.live:
            return []
        late = max(float(one["lateness_p999_s"]) for one in self.live)
        bad = [one for one in self.live if one["unfaithful"]]
        lines = [
            f"{len(self.live)} trials in real time; 99.9 % of the packets of the worst were late by at most "
            f"{text(late, 's')}; {len(bad)} unfaithful"
        ]
        return lines + [
            f"unfaithful: {one['cell']}, seed {one['seed']}: {'; '.join(one['unfaithful'])}" for one in bad
        ]

    def document(self) -> dict[str, Any]:
        """This result as JSON: what `--format json` prints."""
        return {
            "study": self.study,
            "preset": self.preset,
            "version": self.version,
            "host": self.host,
            "seed": self.seed,
            "trials": self.trials,
            "wall_s": round(self.wall_s, 3),
            "core_s": round(self.core_s, 3),
            "rows": [{name: _short(value) for name, value in row.items()} for row in self.rows],
            "checks": [check.document() for check in self.checks],
            "findings": [finding.document() for finding in self.findings],
            **({"live": self.live} if self.live else {}),
        }


def _short(value: str | float | int | None) -> str | float | int | None:
    """Six significant digits; what is not finite is not a number in JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) < float("inf") else None
    return value
