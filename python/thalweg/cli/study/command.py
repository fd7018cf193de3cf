"""The command of a study: its options out of the parameters, its run, its end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from thalweg.cli.console import Bar, note
from thalweg.cli.options import Audit, Format, Jobs, SeedSet, refuse_audit
from thalweg.cli.study.end import Out, conclude, reserved
from thalweg.cli.study.live import Bound, Live, Realtime, announce, timing
from thalweg.live import LiveScenario
from thalweg.studies.runner.parameters import Option, options
from thalweg.studies.runner.study import Study
from thalweg.studies.runner.trials import ThisMachine

Choose = Callable[[dict[str, Any], bool], Any]
"""Takes the values of options, and whether real time was asked for."""
Shape = Annotated[Format, typer.Option("--format", help="How to print the result.")]


def extra(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """An option of a study that is no parameter of its experiment."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def command(
    study: Study[Any, Any, Any],
    extras: Sequence[inspect.Parameter] = (),
    choose: Choose | None = None,
) -> Callable[..., int]:
    """The function behind `thalweg study NAME`.

    `choose` makes parameters out of the values of all options but those that every study has; by default, they
    change the parameters of the preset.
    """

    def run(**given: Any) -> int:
        seed, jobs, format_, out, _ = (given.pop(name) for name in ("seed", "jobs", "format_", "out", "audit"))
        trials = given.pop("trials")
        live, realtime, bound = (given.pop(name, None) for name in ("live", "realtime", "bound"))
        asked = timing(live, realtime, bound)
        parameters = (choose or study.choose)(given, bool(live))
        # What is refused leaves no folder, and runs nothing.
        if any(isinstance(one, LiveScenario) for one in study.scenarios(parameters).values()):
            refuse_audit()
        for line in study.announcements(parameters):
            note(line)
        announce(*study.live_span_s(parameters, trials or parameters.trials))
        with reserved(out):
            with Bar() as bar:
                done = study.run(parameters, trials, seed, ThisMachine(jobs, asked), bar.show)
            tables, findings = study.tables(done.result), study.finding_table(done.result)
            return conclude(done, done.counted, format_, out, tables, findings)

    signature = inspect.Signature([*_parameters(study, extras)])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    run.__doc__ = f"Runs the study; see docs/studies/{study.name}.md."
    return run


def _parameters(study: Study[Any, Any, Any], extras: Sequence[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    presets = study.presets()
    if len(presets) > 1:
        yield extra("preset", _annotation(str, "preset", study.preset_option), next(iter(presets)))
    for name, kind, form in options(type(next(iter(presets.values())))):
        yield extra(name, _annotation(kind, name, form), False if kind is bool else None)
    yield from extras
    yield extra("trials", _annotation(int | None, "trials", study.trials_option), None)
    yield extra("seed", SeedSet, 1)
    yield extra("jobs", Jobs, 0)
    yield extra("audit", Audit, False)
    if study.is_live:
        yield extra("live", Live, False)
        yield extra("realtime", Realtime, False)
        yield extra("bound", Bound, None)
    yield extra("format_", Shape, Format.TABLE)
    yield extra("out", Out, None)


def _annotation(kind: Any, name: str, form: Option) -> Any:
    flags = form.flags or (f"--{name.replace('_', '-')}",)
    return Annotated[
        kind,
        typer.Option(
            *flags,
            metavar=form.metavar,
            help=form.help,
            rich_help_panel=form.panel,
            min=form.least,
            max=form.most,
        ),
    ]
