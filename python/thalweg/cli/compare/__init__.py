"""`thalweg compare`: stored results side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.files.document import in_words
from thalweg.base.files.stored import kind_in
from thalweg.base.quantity import percent
from thalweg.cli import ci
from thalweg.cli.compare.drawing import Drawing, Theme
from thalweg.cli.compare.outputs import cases_of, counts, document_of, lacks, print_markdown, print_tables
from thalweg.cli.compare.plans import print_plan
from thalweg.cli.compare.table import LETTERS, median_and_more
from thalweg.cli.console import complain, note, print_json, say
from thalweg.cli.options import Quiet, SuiteFormat
from thalweg.cli.status import FAILED, PASSED, REFUSED, undecided
from thalweg.experiments.comparison import LOADERS, Side
from thalweg.experiments.comparison.pair import Found, Pair, find
from thalweg.judging.comparison.row import MARGIN

_PANEL = "A picture"


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT",
            help="Folders of suites, of one study, of scores, or of one sweep; the first, A, is the base.",
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
            "often; where neither end is better, that it differs by more.",
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
        _refuse_with_plan(
            results, {"--fail-above": fail_above, "--plot": plot, "--only": only, "--metric": metric}, format_
        )
        return print_plan(_load(results), _fraction("--plan", plan), margin / 100, format_)
    if not 2 <= len(results) <= len(LETTERS):
        given = "1 folder" if len(results) == 1 else f"{len(results)} folders"
        raise RequestError(f"{given}; accepted: 2 to {len(LETTERS)}, the base first")
    limit = None if fail_above is None else _fraction("--fail-above", fail_above)
    drawing = Drawing.read(plot, only, metric, size, theme)
    sides = _load(results)
    if drawing:
        drawing.draw(sides)
    pairs = [Pair.of(sides[0], b, letter, margin / 100) for letter, b in zip(LETTERS[1:], sides[1:], strict=False)]
    for pair in pairs:
        _warn_of_shared_seeds(pair)
    is_for_ci = format_ in ci.FORMATS
    found = find(pairs, margin / 100 if limit is None else limit) if is_for_ci or limit is not None else []
    if is_for_ci:
        cases = [case for one in found for case in cases_of(one, is_only=len(pairs) == 1)]
        say(ci.document(format_, f"compare with {results[0]}", cases))
    elif format_ is SuiteFormat.JSON:
        print_json(document_of(pairs))
    else:
        (print_markdown if format_ is SuiteFormat.MARKDOWN else print_tables)(pairs, margin / 100)
    for pair in (pair for pair in pairs if pair.lacking):
        complain(lacks(pair), label="warning: " if limit is None else "error: ")
    bare = [str(side.folder) for side in sides if not side.has_trials]
    if bare and found:
        complain(
            f"{', '.join(bare)}: no trials are stored (trials.parquet), and numbers without them do not tell a "
            "difference from chance; accepted here: studies that this version stored with their trials"
        )
        return REFUSED
    if limit is None:
        return PASSED
    lacks_some = any(pair.lacking or not pair.rows for pair in pairs)
    return _judge(found, limit) or (REFUSED if lacks_some else PASSED)


def _load(folders: Sequence[str]) -> list[Side]:
    """The experiments in these folders, which are of one kind. Raises RequestError."""
    kinds = [kind_in(Path(folder)) for folder in folders]
    usual = next((kind for kind in kinds if kind is not None and kind in LOADERS), "suite")
    loaders = [LOADERS.get(kind or usual, LOADERS[usual]) for kind in kinds]
    sides = [load(Path(folder)) for load, folder in zip(loaders, folders, strict=True)]
    first = sides[0]
    for side in sides:
        if side.kind != first.kind:
            raise RequestError(
                f"{first.folder} holds {in_words(first.kind)}, which cannot be compared with the {side.kind} in "
                f"{side.folder}"
            )
    return sides


def _judge(found: Sequence[Found], limit: float) -> int:
    """Says what is worse than in A by more than the limit, or fails more often, and returns the exit status."""
    for letter, worse in ((one.pair.letter, one.worse) for one in found):
        for row in worse.rows:
            a, more = median_and_more(row, letter)
            answer = "differs" if row.better is None else "worse"
            complain(f"{letter}: {row.scenario}: {row.a.subject} {a}, {more}", label=f"{answer}: ")
        for one in worse.failures:
            complain(f"{letter}: {counts(one)}", label=f"{one.b.answer}: ")
        for one in worse.changed:
            note(f"{letter}: {counts(one)}: no more than chance allows (p = {one.p_more:.2g})")
    if any(one.worse.rows or one.worse.failures for one in found):
        return FAILED
    if few := sum(len(one.worse.undecided) for one in found):
        compared = sum(len(one.rows) for one in found)
        complain(undecided(few, compared, f"comparisons with a limit of {percent(limit)}"))
        return REFUSED
    return PASSED


def _warn_of_shared_seeds(pair: Pair) -> None:
    if shared := pair.shared_seeds:
        complain(
            f"A begins with seed {pair.a.seed}, {pair.letter} with seed {pair.b.seed}, and {shared} trials have "
            "seeds of both: they are the same draws of the path, no new evidence; sets of seeds share none",
            label="warning: ",
        )


def _refuse_with_plan(results: Sequence[str], others: Mapping[str, object], format_: SuiteFormat) -> None:
    """Refuses what a plan cannot have. Raises RequestError."""
    if len(results) > 2:
        raise RequestError(f"--plan with {len(results)} folders; accepted: A, or A and B")
    for option, given in others.items():
        if given:
            raise RequestError(f"--plan cannot be combined with {option}: it compares and draws nothing")
    if format_ in ci.FORMATS:
        raise RequestError(f"--plan cannot be combined with --format {format_}; accepted: table, json, markdown")


def _fraction(option: str, text: str) -> float:
    """A percentage such as `5 %`. Raises RequestError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*%?\s*", text)
    if match is None or not math.isfinite(value := float(match[1])) or value > 1000:
        raise RequestError(f'{option} {text!r}: accepted: a percentage, such as "5 %"')
    return value / 100
