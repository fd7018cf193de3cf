"""`thalweg gate --live`: before and now side by side in real time, in pairs, until the pairs tell."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from thalweg.base.quantity import text
from thalweg.cli.ci import Case
from thalweg.cli.console import Bar, complain, note, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.gate.outputs import Answers, Outputs
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.cli.options import bindings
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED, REFUSED, UNFAITHFUL
from thalweg.cli.tables import markdown
from thalweg.engine.catalogue import Suite
from thalweg.experiments.gate.live import LiveGate
from thalweg.judging.answer import Answer
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import ERROR
from thalweg.judging.thresholds import Thresholds
from thalweg.results.provenance import Provenance

PAIRS = 40
"""Most pairs of each scenario unless `-n` says otherwise."""
_HEADERS = ("scenario", "metric", "answer", "before", "now", "worse pairs", "threshold")
_LEFT = 3
_STYLES = {"worse": "bold red", "holds": "green"}


def gate_live(
    suite: Suite,
    only: list[str] | None,
    before: Sequence[str],
    controllers: Sequence[str],
    overrides: Sequence[tuple[str, str]],
    thresholds: Thresholds,
    pairs: int,
    first: int,
    options: LiveOptions,
    outputs: Outputs,
    again: str,
) -> int:
    """Plays pairs from the first seed on, and answers; `again` is the command."""
    begin, made = time.perf_counter(), Provenance(command=again)
    then, now = bindings(before, "--before"), bindings(controllers)
    found = LiveGate.of(suite, only, then, now, overrides, thresholds, pairs)
    with Bar() as bar:
        found.play(first, options.timing(), lambda done: bar.show("pairs", done, pairs))
    made.wall_s = time.perf_counter() - begin
    head = made.head("gate", suite.name, suite.title, suite.source, first, pairs, found.core_s)
    outputs.write(_answers(found.metrics, head))
    if found.left_out:
        count = "1 pair is" if found.left_out == 1 else f"{found.left_out} pairs are"
        note(f"{count} left out: a trial was not what its scenario describes; {ADVICE}")
    return INTERRUPTED if found.interrupted else _status(found.metrics)


def _answers(metrics: Sequence[Pairs], head: Mapping[str, Any]) -> Answers:
    scenarios = dict.fromkeys(one.scenario for one in metrics)
    cases = [_case([one for one in metrics if one.scenario == name]) for name in scenarios]

    def print_table() -> None:
        table = FittingTable(_HEADERS, _LEFT, ("threshold", "before"), grouped=True)
        for scenario, metric, answer, *rest in map(_row, metrics):
            table.add_row(scenario, metric, Text(answer, _STYLES.get(answer, "dim")), *rest)
        stdout().print(table)
        stdout().print(_summary(metrics))

    def complain_of_worse() -> None:
        for case in cases:
            if case.failure is not None:
                complain(f"{case.group}: {case.name}: {case.failure}", label="worse: ")

    document = {"live": True, "error": ERROR, "metrics": [one.document() for one in metrics]}
    return Answers(head, document, cases, _markdown(metrics, head["name"]), print_table, complain_of_worse)


def _status(metrics: Sequence[Pairs]) -> int:
    """Failed where something is worse; refused where too few pairs count to tell, unfaithful where none does."""
    if _with("worse", metrics):
        return FAILED
    if lacking := sum(one.lacks_pairs for one in metrics):
        complain(
            f"{lacking} of {len(metrics)} metrics are undecided: not enough pairs to tell whether they are worse"
        )
        return REFUSED if any(one.n for one in metrics) else UNFAITHFUL
    return PASSED


def _summary(metrics: Sequence[Pairs]) -> str:
    worse, rest = len(_with("worse", metrics)), len(_with("holds", metrics))
    pairs = max((one.n for one in metrics), default=0)
    return (
        f"{worse} of {len(metrics)} metrics are worse by more than their thresholds, {rest} are not, after at "
        f"most {pairs} pairs of a scenario (a gate finds something worse by chance in at most {100 * ERROR:g} % "
        "of cases)"
    )


def _markdown(metrics: Sequence[Pairs], title: str) -> str:
    lacking = any(one.lacks_pairs for one in metrics)
    word = "failed" if _with("worse", metrics) else "undecided" if lacking else "passed"
    table = markdown(_HEADERS, [_row(one) for one in metrics], left=_LEFT)
    return "\n\n".join([f"### Gate {title}, in real time: {word}", _summary(metrics), table]) + "\n\n"


def _with(answer: Answer, metrics: Sequence[Pairs]) -> list[Pairs]:
    return [one for one in metrics if one.answer == answer]


def _row(one: Pairs) -> list[str]:
    unit = one.measure.unit
    before, now = (text(value, unit) for value in one.medians)
    pairs, threshold = f"{one.worse_pairs} of {one.n}", one.threshold.words(unit)
    return [one.scenario, one.measure.name, one.answer, before, now, pairs, threshold]


def _case(metrics: Sequence[Pairs]) -> Case:
    """The case of one scenario: one cause makes many metrics worse, and is one failure."""
    first, worse = metrics[0], _with("worse", metrics)
    if worse:
        said = []
        for one in worse:
            _, name, _, before, now, pairs, threshold = _row(one)
            said.append(f"{name} {before} to {now}, by more than {threshold} in {pairs} pairs")
        return Case(first.scenario, first.flow, "; ".join(said))
    few = [one.measure.name for one in metrics if one.lacks_pairs]
    skipped = f"undecided: not enough pairs to tell whether worse: {', '.join(few)}" if few else None
    return Case(first.scenario, first.flow, skipped=skipped)
