"""`thalweg run --live`: trials in real time, one after the other, judged as every other trial."""

from __future__ import annotations

import time
from pathlib import Path

from thalweg.cli import tables
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.live_options import LiveOptions
from thalweg.cli.options import Format, check_writable, write_trial
from thalweg.cli.status import INTERRUPTED, of_result
from thalweg.live import LiveScenario, faithfulness, write_report
from thalweg.live.trial import LiveTrial
from thalweg.live.trials import together
from thalweg.outcome import Outcomes
from thalweg.store.results import SuiteResult


def run_live(
    scenario: LiveScenario,
    reference: str,
    seed: int,
    trials: int,
    format_: Format,
    files: tuple[Path | None, Path | None],
    options: LiveOptions,
) -> int:
    """Runs trials, prints and judges them, and says how honest they were. `files`: trace and plot of the last."""
    if options.report:
        check_writable(options.report)
    description = scenario.description
    result = SuiteResult(description.suite, description.title, description.source, seed)
    begin = time.perf_counter()
    done: list[LiveTrial] = []
    interrupted = False
    with Bar() as bar:
        try:
            for number in range(trials):
                traced = any(files) and number == trials - 1
                done.append(scenario.run(seed + number, traced, options.realtime, options.bound))
                bar.show(description.name, number + 1, trials)
        except KeyboardInterrupt:
            interrupted = True
    result.wall_s = time.perf_counter() - begin
    if not done:
        raise KeyboardInterrupt
    outcomes = together([trial.trial.outcomes for trial in done])
    result.outcomes.append(outcomes)
    reports = [trial.report for trial in done]

    if format_ is Format.JSON:
        print_json({**result.document(), "live": reports})
    else:
        _print(result, outcomes, reference)
    for number, report in enumerate(reports):
        prefix = f"seed {seed + number}: " if trials > 1 else ""
        for line in faithfulness(report):
            note(prefix + line)
    if options.report:
        write_report(reports, options.report)
    if late := outcomes.unfinished():
        complain(late)
    if interrupted:
        complain(f"interrupted: {outcomes.n} of {trials} trials were finished and are shown", label="")
        return INTERRUPTED
    for file in write_trial(done[-1].trial, *files):
        note(f"wrote {file} (seed {done[-1].trial.seed})")
    return of_result(result)


def _print(result: SuiteResult, outcomes: Outcomes, reference: str) -> None:
    verdict, console = outcomes.verdict(), stdout()
    console.print(f"{result.title}  ({reference}, in real time)")
    for table in tables.measured_tables(outcomes):
        console.print(table)
    if verdict.criteria:
        console.print(tables.verdict_table(tables.verdict_rows(outcomes.scenario.name, verdict)))
    console.print(tables.summary(result, outcomes.n, f"seed {result.seed}"))
