"""`thalweg bench`: programs side by side in real time, under the conditions of a suite."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.base.errors import RequestError
from thalweg.base.quantity import share, split
from thalweg.cli.bench.table import print_bench
from thalweg.cli.commands.again import command_line
from thalweg.cli.console import Bar, complain, note, print_json
from thalweg.cli.live_options import ADVICE, LiveOptions
from thalweg.cli.options import (
    Bound,
    Format,
    Only,
    Quiet,
    Realtime,
    Retry,
    SeedSet,
    Settings,
    settings,
)
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED, REFUSED, UNFAITHFUL
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import together
from thalweg.experiments.bench import Bench, Plan, run_bench, side_of
from thalweg.judging.statistics.sequential import fewest
from thalweg.results.provenance import Provenance
from thalweg.results.suite_result import Store, SuiteResult

ROUNDS = 20
WIDTH = "5 %"


def bench(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A.toml", help="The stack: a file with its commands, or a controller (kernel:cubic, c4)."
        ),
    ],
    b: Annotated[str | None, typer.Argument(metavar="B.toml", help="Second stack, same forms.")] = None,
    suite: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="The conditions: a shipped suite or a folder.")
    ] = "live",
    only: Only = None,
    rounds: Annotated[
        int,
        typer.Option("--rounds", "-n", min=1, max=1000, help="At most so many rounds of each condition."),
    ] = ROUNDS,
    width: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Stop when half of the interval of the goodput is at most this."),
    ] = WIDTH,
    set_: Settings = None,
    realtime: Realtime = False,
    bound: Bound = None,
    retry: Retry = None,
    seed: SeedSet = 1,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="A new folder for results, packets (pcapng), logs and qlog."
        ),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Run stacks as they are, in real time, and say how they differ; see `thalweg docs live`.

    Sides take turns under each condition, until the interval of the ratio of their goodputs is narrow enough, or
    for as many rounds as allowed. Trials in which the emulator was late are discarded and repeated. The exit
    status is 1 where B is worse than A by more than a threshold of the suite, 2 where there are too few rounds to
    tell or a program has failed, and 4 where no trial was in time.

    Example: `thalweg bench before.toml after.toml --realtime --out bench`
    """
    begin = time.perf_counter()
    made = Provenance(command=command_line("bench", inspect.signature(bench, eval_str=True), locals()))
    sides = [side_of(a)]
    if b is not None:
        sides.append(side_of(b, [sides[0].name]))
    found = Suite.find(suite)
    plan = Plan(
        found.matching(only),
        sides,
        found.thresholds,
        settings(set_),
        rounds,
        share_of(width),
        seed,
        out,
    )
    if out:
        _reserve(out)
    options = LiveOptions(realtime, bound, retry=retry)
    with Bar() as bar:
        done = run_bench(plan, options.timing(), lambda name, number: bar.show(name, number, rounds))
    made.wall_s = time.perf_counter() - begin
    head = made.head("bench", found.name, found.title, found.source, seed, rounds, done.core_s)
    document = {**head, **_document(done, plan)}
    if out:
        _store(done, found, plan, out)
    if format_ is Format.JSON:
        print_json(document)
    else:
        print_bench(done, suite, plan.width)
    _tell(done)
    return _status(done)


def share_of(width: str) -> float:
    """A share as an option gives it. Raises RequestError.

    >>> share_of("5 %"), share_of("0.1")
    (0.05, 0.1)
    """
    number, unit = split(width) or ("0", "")
    part = share(width) if unit else float(number)
    if part is None or not 0.001 <= part <= 1:
        raise RequestError(f'--width {width!r} is not a share; accepted: "5 %", from 0.1 % to 100 %')
    return part


def _reserve(out: Path) -> None:
    """Makes the folder of a bench. Raises RequestError if it holds something."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise RequestError(f"{out} is not empty; accepted: a new or an empty folder")
    except OSError as error:
        raise RequestError(f"cannot write {out}: {error.strerror}") from None


def _document(done: Bench, plan: Plan) -> dict[str, Any]:
    return {
        "sides": [side.document() for side in done.sides],
        "width": plan.width,
        "failure": done.failure,
        "conditions": [
            {
                "name": condition.name,
                "rounds": condition.rounds,
                "decided": condition.is_decided(plan.width),
                "left_out": condition.left_out,
                "repeated": condition.repeated,
                "taken": {
                    name: {"value": taken.value, "interval95": taken.document(), "n": taken.n}
                    for name in condition.taken
                    for taken in (condition.taken_by(name),)
                },
            }
            for condition in done.conditions
        ],
        "metrics": [effect.document() for effect in done.effects],
    }


def _tell(done: Bench) -> None:
    """Says what was thrown away, and what is worse."""
    repeated = sum(condition.repeated for condition in done.conditions)
    left_out = sum(condition.left_out for condition in done.conditions)
    if repeated:
        trials = "1 trial was" if repeated == 1 else f"{repeated} trials were"
        rounds = "1 round is" if left_out == 1 else f"{left_out} rounds are"
        rest = f"; {rounds} left out: {ADVICE}" if left_out else ""
        note(f"{trials} not what the scenario describes and discarded{rest}")
    for effect in done.effects:
        if effect.b and effect.answer == "worse":
            allowed = effect.threshold.words(effect.measure.unit)
            flow, metric = effect.flow, effect.measure.name
            complain(f"{effect.scenario}: {flow} {metric}, by more than {allowed}", label="worse: ")


def _store(done: Bench, suite: Suite, plan: Plan, out: Path) -> None:
    """Keeps the outcomes of each side as a result, for `thalweg compare`, and the answers."""
    for side, label in zip(done.sides, ("a", "b"), strict=False):
        played = [together(parts) for parts in done.outcomes[side.name].values()]
        if not played:
            continue
        result = SuiteResult(suite.name, f"{suite.title}: {side.name}", suite.source, plan.seed)
        with Store(out / label, result, [one.scenario for one in played], max(one.n for one in played)) as store:
            for outcomes in played:
                result.add(outcomes)
                store.add(outcomes)
            store.finish()
    note(f"wrote {out}")


def _status(done: Bench) -> int:
    if done.interrupted:
        complain("interrupted: what was measured until then is shown", label="")
        return INTERRUPTED
    if done.failure:
        complain(f"{done.failure}; what was measured until then is shown")
        return REFUSED
    if not any(effect.n for effect in done.effects):
        complain(f"no round had all its trials in time: {ADVICE}")
        return UNFAITHFUL
    if any(effect.b and effect.answer == "worse" for effect in done.effects):
        return FAILED
    if lacking := [c.name for c in done.conditions if not c.effects[0].interval.is_bounded]:
        complain(f"too few rounds for an interval: {', '.join(lacking)}; it takes {first_bounded()} (-n)")
        return REFUSED
    return PASSED


def first_bounded() -> int:
    """How many values an interval takes at least.

    >>> first_bounded()
    8
    """
    return fewest(2)
