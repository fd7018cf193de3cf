"""`thalweg study transient --series`: the metric of the study on a measurement of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from thalweg.base.errors import RequestError
from thalweg.base.quantity import bits_per_second, seconds
from thalweg.cli.console import print_json, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.options import Format
from thalweg.cli.status import PASSED

_TAKEN = ("series", "rtt", "rate", "steps", "format_")


def refuse_other_options(context: typer.Context) -> None:
    """Refuses options that are about simulations, even at their defaults. Raises RequestError that names them."""
    useless = [
        option.opts[0]
        for option in context.command.params
        if option.name not in _TAKEN and _is_given(context, option.name or "")
    ]
    if useless:
        raise RequestError(
            f"{', '.join(useless)}: cannot be combined with --series, for which nothing is simulated or stored; "
            "--rtt, --rate, --step and --format can"
        )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def measurement(file: Path, rtt: str | None, rate: str | None, steps: list[str], format_: Format) -> int:
    """The metric on a file; there is nothing that could fail."""
    from thalweg.experiments.studies.runner.result import StudyResult  # noqa: PLC0415
    from thalweg.experiments.studies.runner.table import table  # noqa: PLC0415
    from thalweg.experiments.studies.transient.columns import SERIES_COLUMNS  # noqa: PLC0415
    from thalweg.experiments.studies.transient.parameters import PAPER  # noqa: PLC0415
    from thalweg.experiments.studies.transient.series import react_to_steps, read_series  # noqa: PLC0415

    if rtt is None:
        raise RequestError('--series requires --rtt, the round trip without queues, such as --rtt "50 ms"')
    rtt_s = seconds(rtt, "--rtt")
    if rtt_s <= 0:
        raise RequestError(f"--rtt {rtt!r}: accepted: more than 0")
    starts = sorted(seconds(text, "--step") for text in steps)
    available = None if rate is None else bits_per_second(rate, "--rate")
    reactions = react_to_steps(read_series(file), rtt_s, starts, available)
    result = StudyResult("transient", f"How the flow of {file} reacts", PAPER, "series", 1, 0)
    result.rows = [reaction.row() for reaction in reactions]
    if format_ is Format.JSON:
        print_json(result.document())
    else:
        console = stdout()
        console.print(f"{result.title}  ({result.source})")
        shown = table(SERIES_COLUMNS, result.rows, 1)
        console.print(plain_table(shown.headers, shown.lines, shown.words))
    return PASSED
