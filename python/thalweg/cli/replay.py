"""`thalweg replay`: one trial of a stored result once more, to look at it closely."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.cli import tables
from thalweg.cli.console import complain, note, stdout
from thalweg.cli.options import Audit, PlotFile, TraceFile, check_files, write_trial
from thalweg.cli.status import FAILED, PASSED
from thalweg.engine.outcome import Outcomes
from thalweg.results.replay import changes, is_same, replay_trial
from thalweg.results.suite_result import SuiteResult


def replay(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="Folder of a stored result.")],
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Name of a scenario in it.")],
    trial: Annotated[str, typer.Argument(metavar="TRIAL", help="Index of the trial, or `worst`.")],
    trace: TraceFile = None,
    plot: PlotFile = None,
    audit: Audit = False,
) -> int:
    """Run a stored trial again from its scenario and seed, and check that it is identical.

    Exit status 1 if it differs, which another version may cause.

    Example: `thalweg replay results/mine simple-20mbps worst --plot worst.html`
    """
    check_files(trace, plot)
    stored = SuiteResult.load(result)
    outcomes = stored[scenario]
    index = index_of(trial, outcomes)
    again = replay_trial(outcomes, index, trace=bool(trace or plot))
    for change in (changed := changes(outcomes, again)):
        complain(change, label="warning: ")
    console = stdout()
    console.print(f"{outcomes.scenario.title}, trial {index}, seed {again.seed}")
    console.print(tables.flow_table(again.outcomes))
    for streams in tables.stream_tables(again.outcomes):
        console.print(streams)
    for file in write_trial(again, trace, plot):
        note(f"wrote {file}")
    if is_same(outcomes, index, again):
        console.print(f"same as stored: trace hash {again.trace_hash}")
        return PASSED
    reason = "; ".join(changed) or f"it was made with version {stored.version}, this is {_native.version()}"
    complain(f"not the stored trial: {reason}; trace hash {again.trace_hash}, stored {outcomes.trace_hash(index)}")
    return FAILED


def index_of(text: str, outcomes: Outcomes) -> int:
    """Which trial is meant. Raises RequestError."""
    if text == "worst":
        return outcomes.verdict().worst_trial
    if not (text.isascii() and text.isdecimal() and int(text) < outcomes.n):
        raise RequestError(f"trial {text!r}: expected a number from 0 to {outcomes.n - 1}, or worst")
    return int(text)
