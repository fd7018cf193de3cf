"""What a gate found, in a terminal, as Markdown, and as cases for services of CI."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from rich.text import Text

from thalweg.base.quantity import text
from thalweg.cli.ci import Case
from thalweg.cli.compare.table import change_text, median_and_more
from thalweg.cli.console import complain, note, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.gate.replays import Given
from thalweg.cli.tables import markdown
from thalweg.experiments.gate.judgement import Judgement, ScenarioChange
from thalweg.judging.comparison.row import Row
from thalweg.judging.statistics.digits import bracketed, supported
from thalweg.judging.thresholds import Thresholds

_HEADERS = ("scenario", "metric", "answer", "baseline", "change", "difference [95 %]", "threshold", "of")
_LEFT = 3
_DROPPABLE = ("of", "threshold", "baseline", "change")
"""What a narrow terminal goes without, the first one first."""
IDENTICAL = "identical"
"""The name of a case in which no metric failed."""
_STYLES = {"worse": "bold red", "better": "green", "identical": "green"}


def print_judgement(judgement: Judgement) -> None:
    """The table and the sentence, in a terminal."""
    console = stdout()
    table = FittingTable(_HEADERS, _LEFT, _DROPPABLE, grouped=True)
    for scenario, metric, answer, *rest in _rows(judgement):
        table.add_row(scenario, metric, Text(answer, _STYLES.get(answer.split(",")[0], "dim")), *rest)
    console.print(table)
    console.print(summary(judgement))


def as_markdown(judgement: Judgement, title: str, given: Given, strict: bool) -> str:
    """A heading, the sentence, the table, and what failed with its replay; it ends with a line."""
    failed = [
        f"- **{case.group}: {case.name}**: {case.failure}\n\n      {case.detail}"
        for case in cases_of(judgement, given, strict)
        if case.failure is not None
    ]
    word = "failed" if failed else "undecided" if judgement.lacking else "passed"
    parts = [f"### Gate {title}: {word}", summary(judgement), *failed]
    return "\n\n".join([*parts, markdown(_HEADERS, list(_rows(judgement)), left=_LEFT)]) + "\n\n"


def cases_of(judgement: Judgement, given: Given, strict: bool) -> list[Case]:
    """A case for each scenario: one cause makes many metrics worse, and is one failure."""
    return [_case(one, judgement.thresholds, given, strict) for one in judgement.scenarios]


def _case(one: ScenarioChange, thresholds: Thresholds, given: Given, strict: bool) -> Case:
    if not one.n_changed:
        return Case(one.scenario, IDENTICAL)
    differ = f"{one.n_changed} of {len(one.identical)} trials differ from the baseline"
    if worse := [row for row in one.rows if row.answer == "worse"]:
        said = [_told(worse[0], thresholds), *([differ] if strict else [])]
        if len(worse) > 1:
            said.append(f"also worse: {', '.join(map(_briefly, worse[1:]))}")
        said.append(_worst(worse[0]))
        worst = worse[0].worst_seed
        detail = "" if worst is None else given.replay(one.scenario, worst)
        return Case(one.scenario, f"{one.flow} {worse[0].a.metric}", "; ".join(said), detail=detail)
    if strict:
        return Case(one.scenario, IDENTICAL, differ, detail=given.replay(one.scenario, _first_changed(one)))
    few = [row.a.metric for row in one.rows if row.lacks_trials]
    skipped = f"undecided: not enough trials to tell whether worse: {', '.join(few)}" if few else None
    return Case(one.scenario, one.flow, skipped=skipped)


def complain_of(judgement: Judgement, given: Given, strict: bool) -> None:
    """Says what is worse or, with `strict`, differs, and how to see it; what is better is a note."""
    for case in cases_of(judgement, given, strict):
        if case.failure is not None:
            label = "changed: " if case.name == IDENTICAL else "worse: "
            named = case.group if case.name == IDENTICAL else f"{case.group}: {case.name}"
            complain(f"{named}: {case.failure}\n  replay: {case.detail}", label=label)
    names = {one.controllers for one in judgement.scenarios if one.controllers[0] != one.controllers[1]}
    for then, now in sorted(names):
        note(f"the controller is {now}, in the baseline {then}")
    if (better := judgement.of("better")) and not judgement.of("worse"):
        named = "1 metric is" if len(better) == 1 else f"{len(better)} metrics are"
        note(f"{named} better than the baseline: keep that with --accept")


def summary(judgement: Judgement) -> str:
    """One line: how many trials are identical to the baseline's, and what the others tell.

    >>> summary(Judgement([], {}))
    '0 of 0 trials are identical to the baseline'
    """
    said = f"{judgement.n - judgement.n_changed} of {judgement.n} trials are identical to the baseline"
    if not judgement.compared:
        return said
    worse, better = len(judgement.of("worse")), len(judgement.of("better"))
    compared = f"{judgement.compared} metric{'' if judgement.compared == 1 else 's'}"
    return (
        f"{said}; {compared} of changed scenarios: {worse} worse and {better} better by more than the threshold "
        "(a gate finds something worse by chance in at most 5 % of cases)"
    )


def _rows(judgement: Judgement) -> Iterator[list[str]]:
    for one in judgement.scenarios:
        if not one.n_changed:
            yield [one.scenario, "all", "identical", *["-"] * 5]
        elif not one.rows:
            yield [one.scenario, "all", f"{one.n_changed} of {len(one.identical)} trials differ", *["-"] * 5]
        for row in one.rows:
            unit = row.a.unit
            yield [
                one.scenario,
                row.a.metric,
                row.answer,
                supported(row.a.median_interval, unit),
                change_text(row.change),
                bracketed(row.sharper.interval, unit),
                judgement.thresholds[row.a.metric].words(unit),
                "pairs" if row.pairs_are_sharper else "all with all",
            ]


def _told(row: Row, thresholds: Thresholds) -> str:
    baseline, more = median_and_more(row, "this version", "the baseline")
    return f"{baseline}, now {more}; threshold {thresholds[row.a.metric].words(row.a.unit)}"


def _briefly(row: Row) -> str:
    share = "" if row.change is None else f" ({change_text(row.change)})"
    return f"{row.a.metric}{share}"


def _worst(row: Row) -> str:
    worst = pl.col("seed") == row.worst_seed
    then, now = (text(side.values.filter(worst)["value"].item(), row.a.unit) for side in (row.a, row.b))
    return f"the worst trial has seed {row.worst_seed}, {then} to {now}"


def _first_changed(one: ScenarioChange) -> int:
    """The seed of the first trial that differs."""
    return one.seeds[list(one.identical).index(False)]
