"""Verdicts and outcomes as tables, for a terminal or for Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from thalweg import _native
from thalweg.base.quantity import percent, text
from thalweg.cli.fitting import COMFORTABLE, FittingTable
from thalweg.engine.outcome import Outcomes
from thalweg.judging.answer import counted
from thalweg.judging.derived import NAMED
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.digits import supported
from thalweg.judging.statistics.interval import Interval
from thalweg.judging.statistics.repetition import has_rate
from thalweg.judging.verdict import Statistics, Verdict, without_offset
from thalweg.results import limited, measured
from thalweg.results.measured import Measurement
from thalweg.results.replay import replay_command
from thalweg.results.suite_result import SuiteResult

HEADERS = (
    "scenario",
    "answer",
    "criterion",
    "floor",
    "n",
    "min",
    "median",
    "p95",
    "worst",
    "failures",
    "worst trial",
)
_LEFT = 3
"""The first columns hold words, the others numbers."""
_DROPPABLE = ("n", "min", "p95", "floor", "failures", "worst trial")
"""What a narrow terminal goes without, the first one first."""
_ONE_LINE = 60
"""Columns of words that are not wrapped, so that a scenario takes one line."""
_STYLES = {"holds": "green", "fails": "bold red", "infeasible": "yellow"}


def _columns(*names: str) -> list[tuple[str, str, str]]:
    return [(NAMED[name].heading, NAMED[name].column, NAMED[name].unit) for name in names]


_OUTCOMES = (
    ("controller", "controller", ""),
    *_columns("completion", "rate"),
    ("sent", "packets_sent", ""),
    ("lost", "packets_lost", ""),
    ("dropped", "packets_dropped", ""),
    ("timeouts", "timeouts", ""),
    *_columns("min-rtt", "rtt", "max-rtt", "queue-delay"),
)
"""Heading, column and unit of each column of a table of flows; an absent column is left out."""
DROPPABLE_OF_STREAMS = (
    "p50 delay",
    "first frame",
    "skipped",
    "undelivered",
    "repair bytes",
    "p99 delay",
    "encoder share",
    "encoder rate",
    "mean delay",
    "max delay",
)
"""Columns of tables of streams of media, as `_DROPPABLE`."""
_DROPPABLE_OUTCOMES = (
    "timeouts",
    "max RTT",
    *DROPPABLE_OF_STREAMS,
    "dropped",
    "sent",
    "share",
    "min RTT",
    "RTT",
    "queue delay",
    "lost",
)
"""As `_DROPPABLE`."""


def criterion_text(statistics: Statistics) -> str:
    """A criterion in words: `main completion <= 5 s`, `main rate >= 10 Mbps in 95 %`."""
    sign = "<=" if statistics.side == "at_most" else ">="
    share = f" in {text(statistics.within, 'share')}" if statistics.within < 1 else ""
    return f"{statistics.subject} {sign} {text(statistics.bound, statistics.unit)}{share}"


def answer_text(statistics: Statistics) -> str:
    """The answer to a criterion; one that does not decide says so."""
    return f"{statistics.answer} (for info)" if statistics.informative else statistics.answer


def failures_text(statistics: Statistics) -> str:
    """Failures, and the failure rates that the trials do not exclude: `0 (up to 3.0 %)`.

    Where some may fail: `3, 5 allowed (0.8 % to 7.6 %)`. One trial, and a few outcomes that repeat each
    other, have no rate.
    """
    if statistics.n == 1:
        return str(statistics.failures)
    if not has_rate(statistics.effective_n, statistics.n):
        allowed = "" if statistics.within == 1 else f", {statistics.failures_allowed} allowed"
        return f"{statistics.failures}{allowed}"
    upper = percent(statistics.failure_rate_upper95)
    if statistics.within == 1:
        return f"{statistics.failures} (up to {upper})"
    lower = percent(statistics.failure_rate_lower95)
    return f"{statistics.failures}, {statistics.failures_allowed} allowed ({lower} to {upper})"


def number_text(statistics: Statistics) -> str:
    """The number of trials, and of different ones where they repeat each other: `100 (2 outcomes)`."""
    if statistics.effective_n == statistics.n:
        return str(statistics.n)
    return f"{statistics.n} ({statistics.effective_n} outcome{'' if statistics.effective_n == 1 else 's'})"


def verdict_rows(name: str, verdict: Verdict) -> list[list[str]]:
    """One row for each different criterion of a scenario, under HEADERS."""
    if not verdict.criteria:
        return [[name, "-", "no pass criteria", *["-"] * (len(HEADERS) - _LEFT)]]
    shown: dict[str, Statistics] = {}
    for statistics in verdict.criteria:
        # Two documents may set the same bound; the one that decides is shown.
        criterion = criterion_text(statistics)
        says_nothing = statistics.informative and any(
            _says_the_same(criterion, statistics) for criterion in verdict.criteria
        )
        if not says_nothing and (criterion not in shown or not statistics.informative):
            shown[criterion] = statistics
    return [
        [
            name,
            answer_text(statistics),
            criterion,
            text(statistics.floor, statistics.unit),
            number_text(statistics),
            text(statistics.min, statistics.unit),
            *_quantiles(statistics),
            text(statistics.worst, statistics.unit),
            failures_text(statistics),
            str(statistics.worst_trial),
        ]
        for criterion, statistics in shown.items()
    ]


def _quantiles(statistics: Statistics) -> Iterator[str]:
    quantiles = (statistics.median_interval, statistics.p95_interval)
    return (supported(of, statistics.unit, shown) for of, shown in zip(quantiles, statistics.digits, strict=True))


def _says_the_same(decides: Statistics, informs: Statistics) -> bool:
    """Whether one that decides sets the same bound to the other end of the same flow, with the same answer."""
    ends = {decides.metric, informs.metric} == {"completion", "closed"}
    alike = (decides.flow, decides.bound, decides.side) == (informs.flow, informs.bound, informs.side)
    return ends and alike and not decides.informative and decides.answer == informs.answer


def result_rows(result: SuiteResult) -> list[list[str]]:
    """One row for each criterion of each scenario."""
    asked = [(outcomes.scenario.name, outcomes.verdict()) for outcomes in result.outcomes]
    return [row for name, verdict in asked if verdict.criteria for row in verdict_rows(name, verdict)]


def brief_rows(result: SuiteResult) -> list[list[str]]:
    """Rows of the scenario that holds the criterion with the least room, and of each that does not hold."""
    asked = [(outcomes.scenario.name, _brief(outcomes)) for outcomes in result.outcomes]
    return [row for name, verdict in asked if verdict.criteria for row in verdict_rows(name, verdict)]


def _brief(outcomes: Outcomes) -> Verdict:
    verdict = outcomes.verdict()
    deciding = [statistics for statistics in verdict.criteria if not statistics.informative]
    kept = [statistics for statistics in deciding if statistics.answer != "holds"]
    return Verdict(tuple(kept or sorted(deciding, key=_room)[:1]))


def _room(statistics: Statistics) -> float:
    """How far the worst trial is on the good side of the bound, as a share of it; negative for less than none."""
    room = (statistics.bound - statistics.worst) / abs(statistics.bound or 1)
    return room if statistics.side == "at_most" else -room


def failures(result: SuiteResult) -> Iterator[str]:
    """Each scenario that fails, what in it does, and the command that shows its worst trial."""
    for outcomes in result.outcomes:
        verdict = outcomes.verdict()
        if verdict.answer == "fails":
            failed = [one for one in verdict.criteria if one.answer == "fails" and not one.informative]
            said = "; ".join(f"{criterion_text(one)} fails in {one.failures} of {one.n} trials" for one in failed)
            yield f"  {outcomes.scenario.name}: {said}"
            yield f"    {replay_command(result, outcomes)}"


def verdict_table(rows: Sequence[Sequence[str]], heading: str = HEADERS[0], brief: bool = False) -> FittingTable:
    """Rows under HEADERS for a terminal, the first of which may be another one; `brief`: of one line each."""
    droppable = (*_DROPPABLE, "median") if brief else _DROPPABLE
    comfortable = _ONE_LINE if brief else COMFORTABLE
    table = FittingTable((heading, *HEADERS[1:]), _LEFT, droppable, grouped=True, comfortable=comfortable)
    for name, answer, *rest in rows:
        table.add_row(name, Text(answer, _STYLES.get(answer, "dim")), *rest)
    return table


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = _LEFT) -> str:
    """A table in Markdown.

    >>> print(markdown(["a", "n"], [["x", "1"]], left=1))
    | a | n |
    | :-- | --: |
    | x | 1 |
    """
    marks = [":--" if column < left else "--:" for column in range(len(headers))]
    lines = [headers, marks, *([_native.visible(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(result: SuiteResult, trials: int, seed: str) -> str:
    """One line: how many hold and fail, what was run, with the seed in words, and what it took."""
    counts: Counter[str] = Counter(answer or "without criteria" for answer in result.answers())
    order = (*_STYLES, "without criteria")
    said = ", ".join(counted(counts[answer], answer) for answer in order if counts[answer])
    run = each(trials) if len(result.outcomes) > 1 else each(trials).removesuffix(" each")
    times = f"{text(result.wall_s, 's', 3)} ({text(result.core_s, 's', 3)} of processor time)"
    return f"{said or 'nothing finished'}; {run}, {seed}; {times}"


def each(trials: int) -> str:
    """How many trials each scenario has.

    >>> each(1), each(20)
    ('1 trial each', '20 trials each')
    """
    return f"{trials} trial{'s' if trials != 1 else ''} each"


def flow_table(outcomes: Outcomes) -> FittingTable:
    """Outcomes of each flow of one trial, with the times that its verdict takes."""
    flows = without_offset(outcomes.flows, outcomes.scenario.starts_s)
    shown = [(heading, column, unit) for heading, column, unit in _OUTCOMES if column in flows.columns]
    headers = ("flow", *(heading for heading, _, _ in shown))
    table = FittingTable(headers, 2, [name for name in _DROPPABLE_OUTCOMES if name in headers])
    for row in flows.iter_rows(named=True):
        cells = [_cell(row[column], unit) for _, column, unit in shown]
        table.add_row(str(row["flow"]), *cells)
    return table


def measured_tables(outcomes: Outcomes) -> Iterator[FittingTable | str]:
    """What was measured, criteria or not: flows, links and streams of media; medians, if there are trials."""
    if outcomes.n > 1:
        yield f"medians of {outcomes.n} trials"
        yield _measured(measured.flows(outcomes), measured.FLOW)
    else:
        yield flow_table(outcomes)
    yield from limited.unusual(outcomes)
    yield _measured(measured.links(outcomes), measured.LINK)
    yield from stream_tables(outcomes)


def stream_tables(outcomes: Outcomes) -> Iterator[FittingTable]:
    """The table of the streams of media, if there are some; medians, if there are trials."""
    if streams := measured.streams(outcomes):
        yield _measured(streams, measured.STREAM)


def measured_side_by_side(sides: Sequence[tuple[str, Outcomes]]) -> Iterator[FittingTable | str]:
    """What was measured with each choice of controllers, which has a label: medians, if there are trials."""
    if sides[0][1].n > 1:
        yield f"medians of {sides[0][1].n} trials"
    kinds = ((measured.flows, measured.FLOW), (measured.links, measured.LINK), (measured.streams, measured.STREAM))
    for measure, metrics in kinds:
        rows = [(label, row) for label, outcomes in sides for row in measure(outcomes)]
        for _, row in rows:
            row.names.pop("controller", None)  # the label says it
        # What is measured alike stands together, in the order of the scenario.
        alike = list(dict.fromkeys(tuple(row.names.values()) for _, row in rows))
        rows.sort(key=lambda row: alike.index(tuple(row[1].names.values())))
        if rows:
            yield _measured(
                [Measurement({**row.names, "with": label}, row.values) for label, row in rows], metrics
            )
        if measure is measured.flows:
            yield from (f"{label}: {text}" for label, outcomes in sides for text in limited.unusual(outcomes))


def _measured(rows: Sequence[Measurement], metrics: Sequence[Measure]) -> FittingTable:
    shown = [metric for metric in metrics if any(metric.column in row.values for row in rows)]
    names = tuple(rows[0].names) if rows else ()
    headers = (*names, *(metric.heading for metric in shown))
    table = FittingTable(headers, len(names), [name for name in _DROPPABLE_OUTCOMES if name in headers])
    for row in rows:
        cells = [_median(row.values.get(metric.column), metric.unit) for metric in shown]
        table.add_row(*row.names.values(), *cells)
    return table


def _median(median: Interval | None, unit: str) -> str:
    if median is None:
        return "-"
    return supported(median, unit)


def _cell(value: object, unit: str) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "-"
    if unit and isinstance(value, (int, float)):
        return text(float(value), unit)
    return str(value)
