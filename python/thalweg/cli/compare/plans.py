"""`thalweg compare --plan`: how many trials it takes to tell a difference."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.base.quantity import percent, text
from thalweg.cli.console import print_json, say, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.options import SuiteFormat
from thalweg.cli.status import PASSED
from thalweg.cli.tables import markdown
from thalweg.experiments.comparison import Side
from thalweg.judging.comparison.planning import POWER, Planned, plan, rarely_told
from thalweg.judging.statistics.differences import LEAST_PAIRS
from thalweg.judging.statistics.digits import supported

_HEADERS = ("scenario", "criterion", "A median", "difference", "trials", "needs", "of")
_LEFT = 2
_UNSAID = f"the median is 0 or unbounded, or there are fewer than {LEAST_PAIRS} trials"


def print_plan(sides: Sequence[Side], size: float, margin: float, format_: SuiteFormat) -> int:
    """Prints how many trials each number of an experiment needs; returns the exit status. Raises RequestError."""
    a, *others = sides
    planned = plan(a.samples(), a.rows(others[0], margin) if others else None, size, margin)
    if format_ is SuiteFormat.JSON:
        print_json(
            {"a": str(a.folder), "difference": size, "power": POWER, "rows": [one.document() for one in planned]}
        )
        return PASSED
    rows = [_row(one) for one in planned]
    if format_ is SuiteFormat.MARKDOWN:
        say(markdown(_HEADERS, rows, left=_LEFT) + "\n")
        say(_summary(planned, size))
    else:
        stdout().print(plain_table(_HEADERS, rows, _LEFT, droppable=("of", "trials", "A median", "difference")))
        stdout().print(_summary(planned, size))
    return PASSED


def _row(one: Planned) -> list[str]:
    needs = "-" if one.needs is None else str(one.needs)
    difference = text(one.difference, one.a.unit, 3)
    of = "pairs" if one.in_pairs else "all with all"
    return [
        one.scenario,
        one.a.subject,
        supported(one.a.median_interval, one.a.unit),
        difference,
        str(one.n),
        needs,
        of,
    ]


def _summary(planned: Sequence[Planned], size: float) -> str:
    known = [one for one in planned if one.needs is not None]
    if not known:
        return f"These trials do not say how many would tell a difference of {percent(size)}: {_UNSAID}."
    most = max(one.needs or 0 for one in known)
    each = {1: "in the comparison"}.get(len(planned)) or (
        f"in each of {len(known)} comparisons" if len(known) > 1 else "in 1 comparison"
    )
    few = rarely_told(known)
    more = f"; {few} of {len(known)} have fewer" if few else ""
    unsaid = len(planned) - len(known)
    rest = f" Of {unsaid} more the trials do not say it: {_UNSAID}." if unsaid else ""
    share = f"in {100 * POWER:g} % of cases"
    return f"{most} trials of each result tell a difference of {percent(size)} {each} {share}{more}.{rest}"
