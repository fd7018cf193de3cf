"""`thalweg gate --live`: before and now side by side in real time, in pairs, until the pairs tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from thalweg.base.errors import RequestError
from thalweg.base.files.whole_file import whole_file
from thalweg.base.quantity import text
from thalweg.cli import ci
from thalweg.cli.ci import Case
from thalweg.cli.console import Bar, complain, note, print_json, say, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.cli.options import SuiteFormat, bindings
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED, REFUSED, UNFAITHFUL
from thalweg.cli.tables import markdown
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.outcome import FlowDescription
from thalweg.judging.statistics.sequential import ERROR, fewest
from thalweg.judging.thresholds import Thresholds
from thalweg.realtime import LiveScenario, Timing, faithful, is_faithful
from thalweg.results.against.rivals import MAIN
from thalweg.results.gate.baseline import value_of
from thalweg.results.gate.pairs import Comparison, comparisons, of

PAIRS = 40
"""Most pairs of each scenario unless `-n` says otherwise."""
_HEADERS = ("scenario", "metric", "answer", "before", "now", "worse pairs", "threshold")
_LEFT = 3
_STYLES = {"worse": "bold red", "not worse": "green"}


@dataclass(frozen=True)
class Outputs:
    """Where answers go."""

    format_: SuiteFormat
    junit: Path | None
    markdown: Path | None


@dataclass(frozen=True)
class Side:
    """One scenario, before and now."""

    before: LiveScenario
    now: LiveScenario
    flow: FlowDescription
    """That is judged."""

    @property
    def name(self) -> str:
        """Of the scenario."""
        return self.now.description.name


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
) -> int:
    """Plays pairs until no comparison can become worse any more, and answers. `first`: the first seed."""
    sides = [_side(entry, bindings(before), bindings(controllers), overrides) for entry in suite.matching(only)]
    compared = comparisons({side.name: side.flow for side in sides}, thresholds)
    if not compared:
        raise RequestError(f"{suite.name}: real time measures no metric that has a threshold")
    if pairs < (least := fewest(len(compared))):
        raise RequestError(
            f"-n {pairs}: no {pairs} pairs could tell that one of {len(compared)} metrics is worse; accepted: "
            f"{least} or more, or fewer scenarios (--only) or metrics ([gate])"
        )
    timing = options.timing()
    left_out, interrupted = 0, False
    with Bar() as bar:
        try:
            for number in range(pairs):
                for side in sides:
                    own = [one for one in compared if one.scenario == side.name]
                    if any(one.test.can_become_worse(pairs - number) for one in own):
                        left_out += not _pair(side, own, first + number, number % 2 == 1, timing)
                bar.show("pairs", number + 1, pairs)
                if not any(one.test.can_become_worse(pairs - number - 1) for one in compared):
                    break
        except KeyboardInterrupt:
            interrupted = True
    _tell(compared, suite.name, outputs)
    if left_out:
        note(f"{left_out} pairs are left out: a trial was not what its scenario describes; {ADVICE}")
    return INTERRUPTED if interrupted else _status(compared)


def _side(
    entry: Entry,
    before: Sequence[tuple[str, str]],
    now: Sequence[tuple[str, str]],
    overrides: Sequence[tuple[str, str]],
) -> Side:
    """A scenario with the controllers of now, and with those of before where they are named."""
    new = LiveScenario.from_entry(entry, overrides, now)
    old = LiveScenario.from_entry(entry, overrides, list({**dict(now), **dict(before)}.items()))
    flows = {str(flow["name"]): flow for flow in new.flows}
    judged = next((name for name in (MAIN, *dict(before)) if name in flows), next(iter(flows)))
    return Side(old, new, flows[judged])


def _pair(side: Side, compared: Sequence[Comparison], seed: int, now_first: bool, timing: Timing) -> bool:
    """Plays before and now, in an order that alternates; returns whether the pair counts."""
    flow = str(side.flow["name"])
    values: dict[bool, list[float]] = {}
    for is_now in (True, False) if now_first else (False, True):
        done = faithful(side.now if is_now else side.before, seed, timing)
        if not is_faithful(done.report):
            return False
        values[is_now] = [value_of(done.trial.outcomes, flow, one.measure) for one in compared]
    for one, before, now in zip(compared, values[False], values[True], strict=True):
        one.add(seed, before, now)
    return True


def _tell(compared: Sequence[Comparison], title: str, outputs: Outputs) -> None:
    cases = [_case(one) for one in compared]
    if outputs.format_ is SuiteFormat.JSON:
        print_json({"suite": title, "live": True, "error": ERROR, "metrics": [one.document() for one in compared]})
    elif outputs.format_ is SuiteFormat.MARKDOWN:
        say(_markdown(compared, title), end="")
    elif outputs.format_ in ci.FORMATS:
        say(ci.document(outputs.format_, f"gate {title}", cases))
    else:
        table = FittingTable(_HEADERS, _LEFT, ("threshold", "before"), grouped=True)
        for scenario, metric, answer, *rest in map(_row, compared):
            table.add_row(scenario, metric, Text(answer, _STYLES.get(answer, "dim")), *rest)
        stdout().print(table)
        stdout().print(_summary(compared))
    for case in cases:
        if case.failure is not None:
            complain(f"{case.group}: {case.name}: {case.failure}", label="worse: ")
    if outputs.junit:
        with whole_file(outputs.junit) as partial:
            document = ci.document(SuiteFormat.JUNIT, f"gate {title}", cases)
            partial.write_text(document + "\n", encoding="utf-8")
    if outputs.markdown:
        try:
            with outputs.markdown.open("a", encoding="utf-8") as file:
                file.write(_markdown(compared, title))
        except OSError as error:
            raise RequestError(f"cannot write {outputs.markdown}: {error.strerror}") from None


def _status(compared: Sequence[Comparison]) -> int:
    """Failed where something is worse; refused where too few pairs count to tell, unfaithful where none does."""
    if of("worse", compared):
        return FAILED
    if lacking := sum(one.test.lacks_pairs for one in compared):
        complain(f"{lacking} of {len(compared)} metrics have not enough pairs to tell whether they are worse")
        return REFUSED if any(one.test.n for one in compared) else UNFAITHFUL
    return PASSED


def _summary(compared: Sequence[Comparison]) -> str:
    worse, rest = len(of("worse", compared)), len(of("not worse", compared))
    pairs = max((one.test.n for one in compared), default=0)
    return (
        f"{worse} of {len(compared)} metrics are worse by more than their thresholds, {rest} are not, after at "
        f"most {pairs} pairs of a scenario (a gate finds something worse by chance in at most {100 * ERROR:g} % "
        "of cases)"
    )


def _markdown(compared: Sequence[Comparison], title: str) -> str:
    lacking = any(one.test.lacks_pairs for one in compared)
    word = "failed" if of("worse", compared) else "undecided" if lacking else "passed"
    table = markdown(_HEADERS, [_row(one) for one in compared], left=_LEFT)
    return "\n\n".join([f"### Gate {title}, in real time: {word}", _summary(compared), table]) + "\n\n"


def _row(one: Comparison) -> list[str]:
    unit = one.measure.unit
    before, now = (text(value, unit) for value in one.medians)
    pairs, threshold = f"{one.test.worse} of {one.test.n}", one.threshold.words(unit)
    answer = "not told apart" if one.decision == "undecided" else one.decision
    return [one.scenario, one.measure.name, answer, before, now, pairs, threshold]


def _case(one: Comparison) -> Case:
    name = f"{one.flow} {one.measure.name}"
    if one.decision == "worse":
        _, _, _, before, now, pairs, threshold = _row(one)
        return Case(one.scenario, name, f"{before} to {now}, by more than {threshold} in {pairs} pairs")
    few = "not enough pairs to tell whether it is worse" if one.test.lacks_pairs else None
    return Case(one.scenario, name, skipped=few)
