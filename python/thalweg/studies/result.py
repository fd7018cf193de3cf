"""What every study yields: a table, and the published findings that it was set against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from thalweg import _native
from thalweg.host import host

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
    wall_s: float = 0.0
    core_s: float = 0.0
    version: str = field(default_factory=_native.version)
    host: dict[str, Any] = field(default_factory=host)
    started: str = field(default_factory=lambda: datetime.now().astimezone().isoformat(timespec="seconds"))

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(check.holds for check in self.checks)

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
        }


def _short(value: str | float | int | None) -> str | float | int | None:
    """Six significant digits; what is not finite is not a number in JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) < float("inf") else None
    return value
