"""`thalweg gate --live`: before and now side by side in real time, in pairs, until the pairs tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.quantity import text
from thalweg.cli.ci import Case
from thalweg.cli.console import Bar, complain, note, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.gate.outputs import Answers, Outputs
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.cli.options import bindings
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED, REFUSED, UNFAITHFUL
from thalweg.cli.tables import markdown
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.outcome import FlowDescription
from thalweg.judging.answer import Answer
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import ERROR, fewest
from thalweg.judging.thresholds import Thresholds
from thalweg.realtime import LiveScenario, Round, rounds
from thalweg.results.against.rivals import MAIN
from thalweg.results.gate.baseline import value_of
from thalweg.results.gate.pairs import pairs_of

PAIRS = 40
"""Most pairs of each scenario unless `-n` says otherwise."""
LARGEST = 1000
"""What `-n` may be at most: so many find a change that 57 % of pairs show in 92 % of cases (one metric)."""
_HEADERS = ("scenario", "metric", "answer", "before", "now", "worse pairs", "threshold")
_LEFT = 3
_STYLES = {"worse": "bold red", "holds": "green"}


@dataclass(frozen=True)
class Side:
    """One scenario, before and now."""

    before: LiveScenario
    now: LiveScenario
    flow: FlowDescription
    """The flow that is judged."""

    @property
    def contestants(self) -> Sequence[LiveScenario]:
        """Before and now."""
        return [self.before, self.now]

    @property
    def name(self) -> str:
        """The name of the scenario."""
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
    if pairs > LARGEST:
        raise RequestError(f"-n {pairs}: with --live, accepted: at most {LARGEST} pairs of each scenario")
    then, now = bindings(before, "--before"), bindings(controllers)
    sides = [_side(entry, then, now, overrides) for entry in suite.matching(only)]
    metrics = pairs_of({side.name: side.flow for side in sides}, thresholds, pairs)
    if not metrics:
        raise RequestError(f"{suite.name}: real time measures no metric that has a threshold")
    if pairs < (least := fewest(len(metrics))):
        raise RequestError(
            f"-n {pairs}: so few pairs could never tell that one of {len(metrics)} metrics is worse; accepted: "
            f"{least} or more, or fewer scenarios (--only) or metrics ([gate])"
        )
    timing = options.timing()
    left_out, interrupted = 0, False

    def own(side: Side) -> list[Pairs]:
        return [one for one in metrics if one.scenario == side.name]

    def is_open(side: Side, left: int) -> bool:
        return any(one.can_become_worse(left) for one in own(side))

    with Bar() as bar:
        try:
            for played in rounds(sides, pairs, first, timing, is_open):
                left_out += not played.counts
                if played.counts:
                    _add(played, own(played.point))
                bar.show("pairs", played.number + 1, pairs)
        except KeyboardInterrupt:
            interrupted = True
    outputs.write(_answers(metrics, suite.name))
    if left_out:
        count = "1 pair is" if left_out == 1 else f"{left_out} pairs are"
        note(f"{count} left out: a trial was not what its scenario describes; {ADVICE}")
    return INTERRUPTED if interrupted else _status(metrics)


def _side(
    entry: Entry,
    before: Sequence[tuple[str, str]],
    now: Sequence[tuple[str, str]],
    overrides: Sequence[tuple[str, str]],
) -> Side:
    """A scenario with the controllers of now, and with those of before where they are named."""
    new = LiveScenario.from_entry(entry, overrides, now)
    try:
        old = LiveScenario.from_entry(entry, overrides, list({**dict(now), **dict(before)}.items()))
    except RequestError as error:  # what is wrong with `-c` alone has been said of `new`
        message = str(error)
        for flow, _ in before:
            message = message.replace(f"--controller {flow}=", f"--before {flow}=")
        raise ScenarioError(message) from None
    flows = {str(flow["name"]): flow for flow in new.flows}
    flow = next((name for name in (MAIN, *dict(before)) if name in flows), next(iter(flows)))
    return Side(old, new, flows[flow])


def _add(pair: Round[Side], metrics: Sequence[Pairs]) -> None:
    """Has each metric take the values of before and now."""
    flow = str(pair.point.flow["name"])
    before, now = (pair.trials[place].trial.outcomes for place in (0, 1))
    for one in metrics:
        one.add(pair.seed, value_of(before, flow, one.measure), value_of(now, flow, one.measure))


def _answers(metrics: Sequence[Pairs], suite: str) -> Answers:
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
    return Answers(suite, document, cases, _markdown(metrics, suite), print_table, complain_of_worse)


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
