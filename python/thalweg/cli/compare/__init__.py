"""`thalweg compare`: stored results side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.files.document import in_words
from thalweg.base.files.stored import kind_in
from thalweg.base.quantity import percent
from thalweg.cli import ci
from thalweg.cli.compare.drawing import Drawing, Theme
from thalweg.cli.compare.plans import print_plan
from thalweg.cli.compare.studies import compare_stored
from thalweg.cli.compare.table import LETTERS, comparison_rows, comparison_table, headers, median_and_more
from thalweg.cli.console import complain, note, print_json, say, stdout
from thalweg.cli.options import Quiet, SuiteFormat
from thalweg.cli.status import FAILED, PASSED, REFUSED, undecided
from thalweg.cli.tables import criterion_text, markdown
from thalweg.experiments.comparison import sweep
from thalweg.experiments.comparison.stored import StoredStudy
from thalweg.results.comparison import (
    MARGIN,
    Failures,
    Row,
    compare_failures,
    compare_results,
    find_worse,
    missing,
    shared_seeds,
    traded,
)
from thalweg.results.suite_result import SuiteResult

_PANEL = "A picture"


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...", help="Folders of suites, of one study, of scores, or of one sweep; A is the base."
        ),
    ],
    margin: Annotated[
        float, typer.Option(min=0, max=100, metavar="PERCENT", help="Differences up to this do not count.")
    ] = 100 * MARGIN,
    fail_above: Annotated[
        str | None,
        typer.Option(
            "--fail-above",
            metavar="PERCENT",
            help='Exit status 1 if the trials show that something is worse by more, as in "5 %", or fails more '
            "often; of studies, that it differs by more.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            metavar="PERCENT",
            help='Say how many trials a difference of this size needs, as in "2 %"; A is enough.',
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the results: .html, .png, .svg or .pdf.", rich_help_panel=_PANEL
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="GLOB", help="Draw these scenarios; may be repeated.", rich_help_panel=_PANEL
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Draw this metric, such as completion; may be repeated.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTH", help="Width of the picture, letters included: 88mm.", rich_help_panel=_PANEL
        ),
    ] = None,
    theme: Annotated[
        Theme, typer.Option(help="Theme: screen, dark, or paper (black 8-point text).", rich_help_panel=_PANEL)
    ] = Theme.SCREEN,
    format_: Annotated[SuiteFormat, typer.Option("--format", help="Output format.")] = SuiteFormat.TABLE,
    quiet: Quiet = False,
) -> int:
    """Compare stored results, each with the first.

    Trials with the same seed see the same path and are compared in pairs where that tells more than comparing all
    with all. With `--fail-above`, the exit status is 1 where the trials show that something is worse by more, or
    that a criterion fails more often than in A, and 2 where there are too few trials to tell.

    With `--plan`, nothing is compared: it says how many trials a difference of that size needs, given how A's
    trials vary.

    `--plot` draws every trial, the median and its interval of each result, criterion by criterion.

    Example: `thalweg compare results/before results/after --fail-above "5 %"`
    """
    if plan is not None:
        _refuse_with_plan(results, fail_above, format_)
        return print_plan(results, _fraction("--plan", plan), margin / 100, format_)
    if not 2 <= len(results) <= len(LETTERS):
        given = "1 folder" if len(results) == 1 else f"{len(results)} folders"
        raise RequestError(f"{given}; accepted: 2 to {len(LETTERS)}, the base first")
    limit = None if fail_above is None else _fraction("--fail-above", fail_above)
    drawing = Drawing.read(plot, only, metric, size, theme)
    folders = [Path(folder) for folder in results]
    kinds = [kind_in(folder) for folder in folders]
    kind = kinds[0]
    for folder, other in zip(folders, kinds, strict=True):
        if other is not None and kind is not None and other != kind:
            raise RequestError(
                f"{folders[0]} holds {in_words(kind)}, which cannot be compared with the {other} in {folder}"
            )
    if kind in ("study", "sweep"):
        if drawing:
            raise RequestError(f"--plot draws results of suites and runs, and these are of a {kind}")
        load = StoredStudy.load if kind == "study" else sweep.load
        return compare_stored([load(folder) for folder in folders], margin / 100, limit, format_)
    return _results(results, margin / 100, limit, format_, drawing)


def _results(
    folders: Sequence[str], margin: float, limit: float | None, format_: SuiteFormat, drawing: Drawing | None
) -> int:
    loaded = [SuiteResult.load(folder) for folder in folders]
    if drawing:
        drawing.draw(loaded)
    base, others = loaded[0], loaded[1:]
    compared = [compare_results(base, other, margin) for other in others]
    for letter, other in zip(LETTERS[1:], others, strict=False):
        _warn_of_shared_seeds(base, other, letter)
    lacking = [
        f"{letter} lacks {', '.join(names)} of A"
        for letter, other in zip(LETTERS[1:], others, strict=False)
        if (names := missing(base, other))
    ]
    if format_ in ci.FORMATS:
        cases = _cases(loaded, MARGIN if limit is None else limit)
        say(ci.document(format_, f"compare with {folders[0]}", cases))
    elif format_ is SuiteFormat.JSON:
        print_json(_document(folders, loaded, compared))
    elif format_ is SuiteFormat.MARKDOWN:
        for letter, rows in zip(LETTERS[1:], compared, strict=False):
            say(markdown(headers(True, letter), comparison_rows(rows, True), left=3) + "\n")
            say(_summary(rows, margin))
    else:
        _print(folders, loaded, compared, margin)
    for name in lacking:
        complain(name, label="warning: " if limit is None else "error: ")
    if limit is None:
        return PASSED
    compared = [compare_results(base, other, limit, of_a=True) for other in others]
    status = _judge(compared, [compare_failures(base, other) for other in others], limit)
    return status or (REFUSED if lacking else PASSED)


def _cases(loaded: Sequence[SuiteResult], limit: float) -> list[ci.Case]:
    """Whether each criterion is worse than in A, by its median or by how often it fails."""
    base, others = loaded[0], loaded[1:]
    compared = [compare_results(base, other, limit, of_a=True) for other in others]
    counted = [compare_failures(base, other) for other in others]
    cases = []
    for letter, rows, worse in zip(LETTERS[1:], compared, find_worse(compared, counted), strict=False):
        often = {(one.scenario, criterion_text(one.a)): f"{_counts(one)}" for one in worse.failures}
        for row in rows:
            criterion = criterion_text(row.a)
            name = criterion if len(others) == 1 else f"{letter}: {criterion}"
            a, more = median_and_more(row)
            said = [f"worse than in A: {a}, {more}"] if row in worse.rows else []
            said += [told] if (told := often.get((row.scenario, criterion))) else []
            few = f"undecided whether it is worse by more than {percent(limit)}: not enough trials"
            skipped = few if row in worse.undecided and not said else None
            cases.append(ci.Case(row.scenario, name, "; ".join(said) or None, skipped))
    return cases


def _judge(compared: Sequence[Sequence[Row]], counted: Sequence[Sequence[Failures]], limit: float) -> int:
    """Says what is worse than in A by more than the limit, or fails more often, and returns the exit status."""
    found = find_worse(compared, counted)
    for letter, worse in zip(LETTERS[1:], found, strict=False):
        for row in worse.rows:
            a, more = median_and_more(row)
            complain(f"{letter}: {row.scenario}: {row.a.subject} {a}, {more}", label="worse: ")
        for one in worse.failures:
            complain(f"{letter}: {_counts(one)}", label=f"{one.b.answer}: ")
        for one in worse.changed:
            note(f"{letter}: {_counts(one)}: no more than chance allows (p = {one.p_more:.2g})")
    if any(worse.rows or worse.failures for worse in found):
        return FAILED
    if few := sum(len(worse.undecided) for worse in found):
        complain(undecided(few, sum(map(len, compared)), f"comparisons with a limit of {percent(limit)}"))
        return REFUSED
    return PASSED


def _counts(one: Failures) -> str:
    """How often a criterion fails on both sides."""
    passes = ", where it holds" if one.changed else ""
    counts = f"{one.b.failures} of {one.b.n} trials miss it, {one.a.failures} of {one.a.n} in A{passes}"
    return f"{one.scenario}: {criterion_text(one.a)}: {counts}"


def _document(
    folders: Sequence[str], loaded: Sequence[SuiteResult], compared: Sequence[Sequence[Row]]
) -> dict[str, object]:
    """Rows for two results; for more, also the rows of each against the first."""
    found = find_worse(compared, [compare_failures(loaded[0], other) for other in loaded[1:]])
    comparisons: list[dict[str, object]] = [
        {
            "b": folder,
            "shared_seeds": shared_seeds(loaded[0], other),
            "rows": [row.document() for row in rows],
            "traded": [one.document() for one in traded(rows, loaded[0], other)],
            "failures": [one.document() for one in worse.failures],
            "changed": [one.document() for one in worse.changed],
        }
        for folder, other, rows, worse in zip(folders[1:], loaded[1:], compared, found, strict=True)
    ]
    return {
        "a": folders[0],
        "versions": [result.version for result in loaded],
        **(comparisons[0] if len(comparisons) == 1 else {"comparisons": comparisons}),
    }


def _warn_of_shared_seeds(base: SuiteResult, other: SuiteResult, letter: str) -> None:
    if shared := shared_seeds(base, other):
        complain(
            f"A begins with seed {base.seed}, {letter} with seed {other.seed}, and {shared} trials have seeds of "
            "both: they are the same draws of the path, no new evidence; suites of this version share none",
            label="warning: ",
        )


def _print(
    folders: Sequence[str], loaded: Sequence[SuiteResult], compared: Sequence[Sequence[Row]], margin: float
) -> None:
    console = stdout()
    for letter, folder, result in zip(LETTERS, folders, loaded, strict=False):
        about = f"{result.controllers} ({result.started}, version {result.version})"
        console.print(f"{letter}: {folder}: {about}")
    for letter, rows, other in zip(LETTERS[1:], compared, loaded[1:], strict=False):
        console.print(comparison_table(rows, b=letter))
        for one in traded(rows, loaded[0], other):
            console.print(f"{one.scenario}: {one.text(letter)}")
        console.print(_summary(rows, margin))


def _summary(rows: Sequence[Row], margin: float) -> str:
    """How many differ, and which comparisons stand behind that."""
    differ = sum(row.answer in ("better", "worse") for row in rows)
    many = f"{differ} of {len(rows)} comparisons differ" if differ else "No comparison differs"
    parts = [f"{many} by more than {percent(margin)} (false discovery rate 5 %)."]
    if apart := sum(row.paired is None for row in rows):
        parts.append(f"{apart} have no seeds in common.")
    if useless := sum(row.paired is not None and not row.pairs_are_sharper for row in rows):
        parts.append(f"Pairing did not help in {useless}.")
    if any(row.words.startswith("alike to") for row in rows):
        parts.append("Alike to 2 %: these trials would have shown a difference of 2 %.")
    return " ".join(parts)


def _refuse_with_plan(results: Sequence[str], fail_above: str | None, format_: SuiteFormat) -> None:
    """Refuses what a plan cannot have. Raises RequestError."""
    if len(results) > 2:
        raise RequestError(f"--plan with {len(results)} folders; accepted: A, or A and B")
    if fail_above is not None:
        raise RequestError("--plan cannot be combined with --fail-above: it judges nothing")
    if format_ in ci.FORMATS:
        raise RequestError(f"--plan cannot be combined with --format {format_}; accepted: table, json, markdown")


def _fraction(option: str, text: str) -> float:
    """A percentage such as `5 %`. Raises RequestError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*%?\s*", text)
    if match is None or not math.isfinite(value := float(match[1])) or value > 1000:
        raise RequestError(f'{option} {text!r}: accepted: a percentage, such as "5 %"')
    return value / 100
