"""The result of a study: a table, and the published findings it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg.base.quantity import text
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED, Answer
from thalweg.realtime.report import reasons
from thalweg.results.provenance import Provenance

Row = Mapping[str, str | float | int | None]
"""One row of a table: a number that does not apply is None."""


class _Judgement:
    """What is judged by trials."""

    answer: Answer

    @property
    def holds(self) -> bool:
        """Whether the trials confirm it."""
        return self.answer == HOLDS

    def document(self) -> dict[str, Any]:
        """This as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Check(_Judgement):
    """A published finding that a faithful experiment repeats; one that fails, fails the study."""

    name: str
    source: str
    """Document and section."""
    answer: Answer
    """By its interval and its margin, see `statistics.claims`."""
    measured: str


@dataclass(frozen=True)
class Finding(_Judgement):
    """A published statement that is shown next to what was measured, and decides nothing."""

    name: str
    source: str
    published: str
    measured: str
    answer: Answer
    """Whether the trials say the same, judged as checks are."""
    reason: str
    """Why they do, or do not."""


@dataclass
class StudyResult(Provenance):
    """The outcome of a study."""

    study: str
    title: str
    source: str
    preset: str
    """Which of its experiments: the name of a set of parameters."""
    trials: int
    """Trials of each cell of the table."""
    seed: int
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was run, for people: title of a block -> parameter -> value."""
    settings: dict[str, str] = field(default_factory=dict)
    """Every parameter by its name, as it was."""
    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What else the table says, in a sentence each: how many cells differ by more than chance."""
    live: list[dict[str, Any]] = field(default_factory=list)
    """What the emulator has to say about each trial in real time."""
    core_s: float = 0.0

    @property
    def fails(self) -> bool:
        """Whether some check fails."""
        return any(check.answer == FAILS for check in self.checks)

    @property
    def undecided(self) -> int:
        """How many checks need more trials."""
        return sum(check.answer == UNDECIDED for check in self.checks)

    def add_live(self, name: str, seed: int, reports: Sequence[Mapping[str, Any]]) -> None:
        """Notes what the emulator has to say about the trials of a cell, which began with `seed`."""
        self.live += [{"cell": name, "seed": seed + number, **report} for number, report in enumerate(reports)]

    def is_faithful(self) -> bool:
        """Whether all trials in real time, if there were any, were what their scenarios describe."""
        return not any(report["unfaithful"] for report in self.live)

    def unfaithful_cells(self) -> list[str]:
        """The cells of which no trial in real time was what its scenario describes: their rows say nothing.

        >>> result = StudyResult("a", "A", "", "default", 2, 1)
        >>> result.add_live("x", 1, [{"unfaithful": []}, {"unfaithful": ["late"]}])
        >>> result.add_live("y", 1, [{"unfaithful": ["late"]}, {"unfaithful": ["late"]}])
        >>> result.is_faithful(), result.unfaithful_cells()
        (False, ['y'])
        """
        good = {str(report["cell"]) for report in self.live if not report["unfaithful"]}
        return [cell for cell in dict.fromkeys(str(report["cell"]) for report in self.live) if cell not in good]

    def honesty(self) -> list[str]:
        """How well trials in real time kept time, in words; nothing if there were none."""
        if not self.live:
            return []
        late = max(float(report["lateness_p999_s"]) for report in self.live)
        bad = [report for report in self.live if report["unfaithful"]]
        lines = [
            f"{len(self.live)} trials in real time; 99.9 % of the packets of the worst were late by at most "
            f"{text(late, 's')}; {len(bad)} unfaithful"
        ]
        return lines + [
            f"unfaithful: {report['cell']}, seed {report['seed']}: {'; '.join(reasons(report))}" for report in bad
        ]

    def document(self) -> dict[str, Any]:
        """This result as JSON: what `--format json` prints."""
        return {
            **self.head("study", self.study, self.title, self.source, self.seed, self.trials, self.core_s),
            "preset": self.preset,
            **({"parameters": self.parameters} if self.parameters else {}),
            "settings": self.settings,
            "rows": [{name: _short(value) for name, value in row.items()} for row in self.rows],
            "checks": [check.document() for check in self.checks],
            "findings": [finding.document() for finding in self.findings],
            "notes": self.notes,
            **({"live": self.live} if self.live else {}),
        }


def _short(value: str | float | int | None) -> str | float | int | None:
    """Six significant digits; what is not finite is not a number in JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) < float("inf") else None
    return value
