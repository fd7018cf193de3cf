"""What `thalweg compare` prints: tables, Markdown, JSON, and the cases of services of CI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.base.quantity import percent
from thalweg.cli.ci import Case
from thalweg.cli.compare.table import (
    LETTERS,
    change_text,
    comparison_rows,
    comparison_table,
    headers,
    median_and_more,
    named,
)
from thalweg.cli.console import say, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.tables import criterion_text, markdown
from thalweg.experiments.comparison.pair import Found, Pair
from thalweg.judging.comparison.failures import Failures
from thalweg.judging.comparison.row import Row
from thalweg.judging.comparison.worse import find_worse

_ANSWERED = ("better", "worse", "differs")
_NUMBERS = ("row", "column", "A", "B", "change")
_NAMED = 3
"""How many things that a result lacks a message names."""


def document_of(pairs: Sequence[Pair]) -> dict[str, object]:
    """As JSON: the rows of two experiments; of more, the rows of each against the first."""
    found = find_worse([pair.rows for pair in pairs], [pair.failures for pair in pairs])
    comparisons: list[dict[str, object]] = [
        {
            "b": str(pair.b.folder),
            "shared_seeds": pair.shared_seeds,
            "rows": [row.document() for row in pair.rows],
            "traded": [one.document() for one in pair.traded],
            "failures": [one.document() for one in worse.failures],
            "changed": [one.document() for one in worse.changed],
            "numbers": [one.document() for one in pair.numbers],
            "lacking": pair.lacking,
        }
        for pair, worse in zip(pairs, found, strict=True)
    ]
    base = pairs[0].a
    return {
        "a": str(base.folder),
        "of": base.kind,
        "versions": [side.version for side in (base, *(pair.b for pair in pairs))],
        **(comparisons[0] if len(comparisons) == 1 else {"comparisons": comparisons}),
    }


def print_markdown(pairs: Sequence[Pair], margin: float) -> None:
    """The tables of a pull request."""
    for pair in pairs:
        rows = _shown(pair)
        if rows:
            say(markdown(headers(rows, pair.letter), comparison_rows(rows), left=3) + "\n")
        if numbers := _changed(pair, margin):
            say(markdown(_number_headers(pair), numbers, left=2) + "\n")
        say(_summary(pair, margin))


def print_tables(pairs: Sequence[Pair], margin: float) -> None:
    """For a terminal."""
    console = stdout()
    for letter, side in zip(LETTERS, (pairs[0].a, *(pair.b for pair in pairs)), strict=False):
        console.print(f"{letter}: {side.folder}: {side.about}")
    for pair in pairs:
        if rows := _shown(pair):
            console.print(comparison_table(rows, b=pair.letter))
        for one in pair.traded:
            console.print(f"{one.scenario}: {one.text(pair.letter)}")
        if numbers := _changed(pair, margin):
            console.print(plain_table(_number_headers(pair), numbers, left=2, droppable=()))
        console.print(_summary(pair, margin))


def cases_of(found: Found, *, is_only: bool) -> Iterator[Case]:
    """Whether each number is worse than in A, by its median or by how often it fails.

    `is_only`: no other experiment is compared, and its letter is left out.
    """
    worse, letter = found.worse, "" if is_only else f"{found.pair.letter}: "
    often = {(one.scenario, criterion_text(one.a)): counts(one) for one in worse.failures}
    differing, undecided = ({id(row) for row in rows} for rows in (worse.rows, worse.undecided))
    for row in found.rows:
        name = named(row.a)
        a, more = median_and_more(row, found.pair.letter)
        verb = "differs from" if row.better is None else "worse than in"
        said = [f"{verb} A: {a}, {more}"] if id(row) in differing else []
        said += [told] if (told := often.pop((row.scenario, name), None)) else []
        worse_than = "differs" if row.better is None else "is worse"
        few = f"undecided whether it {worse_than} by more than {percent(found.limit)}: not enough trials"
        skipped = few if id(row) in undecided and not said else None
        yield Case(row.scenario, f"{letter}{name}", "; ".join(said) or None, skipped)
    for (scenario, name), told in often.items():  # of a second criterion on what a row is about
        yield Case(scenario, f"{letter}{name}", told)
    for name in found.pair.lacking:
        yield Case(name, f"{letter}lacking", "what A has is missing")


def counts(one: Failures) -> str:
    """How often a criterion fails on both sides."""
    passes = ", where it holds" if one.changed else ""
    said = f"{one.b.failures} of {one.b.n} trials miss it, {one.a.failures} of {one.a.n} in A{passes}"
    return f"{one.scenario}: {criterion_text(one.a)}: {said}"


def lacks(pair: Pair) -> str:
    """What the other experiment lacks, in one line."""
    more = f" and {left} more" if (left := len(pair.lacking) - _NAMED) > 0 else ""
    return f"{pair.letter} lacks what A has: {'; '.join(pair.lacking[:_NAMED])}{more}"


def _shown(pair: Pair) -> list[Row]:
    """The rows of tables: where there are many, those that differ."""
    return [row for row in pair.rows if pair.a.is_short or row.answer in _ANSWERED]


def _number_headers(pair: Pair) -> list[str]:
    return [pair.letter if name == "B" else name for name in _NUMBERS]


def _changed(pair: Pair, margin: float) -> list[list[str]]:
    """The numbers of tables that differ by more than the margin, in the order of the study."""
    return [
        [one.row, one.column, _number(one.a), _number(one.b), change_text(one.change)]
        for one in pair.numbers
        if one.is_beyond(margin)
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _summary(pair: Pair, margin: float) -> str:
    """How many differ, and which comparisons stand behind that."""
    rows, beyond = pair.rows, f"by more than {percent(margin)}"
    differ = sum(row.answer in _ANSWERED for row in rows)
    many = f"{differ} of {len(rows)} comparisons differ" if differ else "No comparison differs"
    parts = [f"{many} {beyond} (false discovery rate 5 %)." if rows else "Nothing that both have was compared."]
    if apart := sum(row.paired is None for row in rows):
        parts.append(f"{apart} have no seeds in common.")
    if useless := sum(row.paired is not None and not row.pairs_are_sharper for row in rows):
        parts.append(f"Pairing did not help in {useless}.")
    if any(row.words.startswith("alike to") for row in _shown(pair)):
        parts.append("Alike to 2 %: these trials would have shown a difference of 2 %.")
    if pair.numbers:
        changed = sum(one.is_beyond(margin) for one in pair.numbers)
        parts.append(f"{changed} of {len(pair.numbers)} numbers of tables differ {beyond}, which proves nothing.")
    return " ".join(parts)
