"""`thalweg run --live`: trials in real time, one after the other, judged as every other trial."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from thalweg.cli.console import Bar, complain, note, print_json
from thalweg.cli.live_options import ADVICE, LiveOptions, check_capture
from thalweg.cli.options import Format, check_writable, write_trial
from thalweg.cli.run.outcomes import print_outcomes
from thalweg.cli.status import INTERRUPTED, UNFAITHFUL, of_result
from thalweg.engine.outcome import together
from thalweg.realtime import Alone, LiveScenario, Recording, faithfulness, is_faithful, rounds, write_report
from thalweg.realtime.report import Report
from thalweg.realtime.trial import LiveTrial
from thalweg.results.suite_result import Store, SuiteResult


def run_live(
    scenario: LiveScenario,
    reference: str,
    seed: int,
    trials: int,
    format_: Format,
    files: tuple[Path | None, Path | None],
    options: LiveOptions,
    out: Path | None = None,
    command: str = "",
) -> int:
    """Runs trials, prints and judges them, and says how honest they were. `files`: trace and plot of the last."""
    if options.report:
        check_writable(options.report)
    check_capture(options.capture)
    description = scenario.description
    result = SuiteResult(description.suite, description.title, description.source, seed, command=command)
    with Store(out, result, [description], trials) if out else nullcontext() as store:
        return _run(scenario, reference, result, trials, format_, files, options, store)


def _run(
    scenario: LiveScenario,
    reference: str,
    result: SuiteResult,
    trials: int,
    format_: Format,
    files: tuple[Path | None, Path | None],
    options: LiveOptions,
    store: Store | None,
) -> int:
    """The same, with the result and where it is stored."""
    description, seed, timing = scenario.description, result.seed, options.timing()
    begin = time.perf_counter()
    done: list[LiveTrial] = []
    last = Recording(any(files), capture=options.capture)
    interrupted = False
    with Bar() as bar:
        try:
            for played in rounds([Alone(scenario)], trials, seed, timing, last=last):
                done += played.trials.values()
                bar.show(description.name, len(done), trials)
        except KeyboardInterrupt:
            interrupted = True
    result.wall_s = time.perf_counter() - begin
    if not done:
        raise KeyboardInterrupt
    outcomes = together([trial.trial.outcomes for trial in done])
    result.outcomes.append(outcomes)
    reports = [trial.report for trial in done]

    if format_ is Format.JSON:
        print_json({**result.document(), "faithful": all(map(is_faithful, reports)), "live": reports})
    else:
        print_outcomes(result, f"{reference}, in real time")
    _tell(reports, seed)
    if options.report:
        write_report(reports, options.report)
    if late := outcomes.unfinished():
        complain(late)
    if interrupted:
        complain(f"interrupted: {outcomes.n} of {trials} trials were finished and are shown", label="")
        return INTERRUPTED
    if store:
        store.add(outcomes)
        store.finish()
        note(f"wrote {store.folder}")
    if options.capture:
        note(f"wrote {options.capture} (seed {done[-1].trial.seed})")
    for file in write_trial(done[-1].trial, *files):
        note(f"wrote {file} (seed {done[-1].trial.seed})")
    return UNFAITHFUL if _refused(reports, options.strict_timing) else of_result(result)


def _refused(reports: Sequence[Report], strict: bool) -> bool:
    """Whether too many trials were not what the scenario describes: all, or any if `strict`. Says what to do."""
    late = sum(not is_faithful(report) for report in reports)
    if not late or not (strict or late == len(reports)):
        return False
    option = "--strict-timing: " if strict else ""
    complain(f"{option}{late} of {len(reports)} trials were not what the scenario describes: {ADVICE}")
    return True


def _tell(reports: Sequence[Report], seed: int) -> None:
    """Says of each trial how honest it was."""
    for number, report in enumerate(reports):
        prefix = f"seed {seed + number}: " if len(reports) > 1 else ""
        for line in faithfulness(report):
            note(prefix + line)
