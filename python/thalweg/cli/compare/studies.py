"""Stored studies side by side, and what their trials tell."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.base.errors import RequestError
from thalweg.base.quantity import percent
from thalweg.cli import status
from thalweg.cli.ci import FORMATS
from thalweg.cli.compare.table import LETTERS, change_text
from thalweg.cli.console import complain, print_json, say, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.options import SuiteFormat
from thalweg.cli.status import FAILED, PASSED, REFUSED
from thalweg.cli.tables import markdown
from thalweg.experiments.comparison.stored import (
    Difference,
    Measure,
    StoredStudy,
    compare_studies,
    compare_trials,
    lost,
    missing_rows,
    undecided,
)

_STUDY_HEADERS = ("row", "column", "A", "B", "change")


def compare_stored(
    studies: Sequence[StoredStudy], margin: float, limit: float | None, format_: SuiteFormat
) -> int:
    """Prints the numbers of studies and what their trials tell, and returns the exit status."""
    if format_ in FORMATS:
        raise RequestError(f"--format {format_} is for results; accepted for studies: table, json, markdown")
    base, others = studies[0], studies[1:]
    compared = [compare_studies(base, other) for other in others]
    bare = [str(study.folder) for study in studies if study.samples is None]
    judged = None if bare else compare_trials(base, others, margin if limit is None else limit)
    lettered = list(zip(LETTERS[1:], compared, strict=False))
    if format_ is SuiteFormat.JSON:
        documents = [
            {
                "b": str(other.folder),
                "rows": [row.document() for row in rows],
                "trials": None if judged is None else [one.document() for one in judged[number]],
            }
            for number, (other, rows) in enumerate(zip(others, compared, strict=True))
        ]
        print_json({"a": str(base.folder), "study": base.name, "comparisons": documents})
    else:
        if format_ is SuiteFormat.TABLE:
            for letter, study in zip(LETTERS, studies, strict=False):
                stdout().print(f"{letter}: {study.folder} ({study.name}, version {study.version})")
        for letter, rows in lettered:
            _print_study(letter, rows, margin, format_)
        if judged is not None:
            count, differ = sum(map(len, judged)), sum(one.differs for each in judged for one in each)
            beyond = percent(margin if limit is None else limit)
            words = f"by their trials {differ} of {count} medians differ by more than {beyond}"
            say(f"{words}, at most 5 % of them by chance")
    if limit is None:
        return PASSED
    if bare:
        complain(
            f"{', '.join(bare)}: no trials are stored (trials.parquet), and numbers without them do not tell a "
            "difference from chance; accepted for --fail-above: studies that this version stored with their trials"
        )
    answer = _judge(judged or [])
    lacking = [
        _lacks(letter, what, names)
        for letter, other in zip(LETTERS[1:], others, strict=False)
        for what, names in (
            ("rows", missing_rows(base, other)),
            ("measures", [] if bare else lost(base, other)),
        )
    ]
    return answer or (REFUSED if bare or any(lacking) else PASSED)


def _judge(judged: Sequence[Sequence[Measure]]) -> int:
    """Says what differs, and returns the exit status of what the trials tell."""
    for letter, measures in zip(LETTERS[1:], judged, strict=False):
        for one in measures:
            if one.differs:
                found = one.comparison
                change = f"{one.name} {_number(found.a)} to {_number(found.b)} ({change_text(found.change)})"
                complain(f"{letter}: {one.cell}: {change}", label="differs: ")
    if any(one.differs for measures in judged for one in measures):
        return FAILED
    if few := undecided(judged):
        complain(status.undecided(few, sum(map(len, judged)), "medians"))
        return REFUSED
    return PASSED


def _lacks(letter: str, what: str, names: Sequence[str]) -> bool:
    """Says what of A another study lacks, and whether it does."""
    if names:
        complain(f"{letter} lacks {len(names)} {what} of A: {names[0]}{', ...' if len(names) > 1 else ''}")
    return bool(names)


def _print_study(letter: str, rows: Sequence[Difference], margin: float, format_: SuiteFormat) -> None:
    """What differs by more than the margin, the rows in the order of the study."""
    names = tuple(name if name != "B" else letter for name in _STUDY_HEADERS)
    shown = [
        [row.row, row.column, _number(row.a), _number(row.b), change_text(row.change)]
        for row in rows
        if row.is_beyond(margin)
    ]
    alike = f"{len(rows) - len(shown)} of {len(rows)} numbers differ by at most {percent(margin)}"
    if format_ is SuiteFormat.MARKDOWN:
        say(markdown(names, shown, left=2) + f"\n\n{alike}")
        return
    if shown:
        stdout().print(plain_table(names, shown, left=2, droppable=()))
    stdout().print(f"{alike}; these numbers differ by chance too: trials and checks tell")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
