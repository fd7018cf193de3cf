"""The suite `regressions` with and without its bugs: the second table of its page."""

from __future__ import annotations

from collections.abc import Iterator

from pages.made import row
from thalweg.base.quantity import text
from thalweg.cli.tables import criterion_text
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario

BUGS: dict[str, tuple[str, str]] = {
    "app-limited-pacing": ("bbr", "mutant:bug=noq-800"),
    "reordering-jitter": ("bbr", "mutant:bug=noq-819"),
    "startup-unfilled-window": ("bbr", "mutant:bug=lsquic-544"),
    "startup-flow-control": ("mutant:bug=lsquic-554-mended", "bbr"),
    "frozen-below-128-us": ("bbr", "mutant:bug=picoquic-2118"),
    "clock-below-1-ms": ("bbr", "mutant:bug=erlang-quic-57"),
    "trim-below-1-ms": ("c4:variant=2026-10", "c4"),
    "acks-late": ("cubic", "mutant:bug=nginx-217"),
    "probe-rtt-filter": ("bbr", "bbr:min_rtt_window=10 s,probe_rtt_interval=10 s"),
    "idle-probe-rtt": ("bbr", "mutant:bug=quiche-1598"),
    "minimum-window": ("cubic", "mutant:bug=quiche-2370"),
    "unused-window": ("cubic", "mutant:bug=quinn-497"),
}
"""For each scenario, a controller without the bug and one with it."""
TRIALS = 10


def played(scenario: str, controller: str, seed: int, trials: int = TRIALS) -> Outcomes:
    """The trials of a scenario whose main flow has that controller."""
    return Scenario.load(f"regressions/{scenario}", controllers={"main": controller}).trials(trials, seed=seed)


def section(seed: int) -> str:
    """The section of the page."""
    lines = [line for name in BUGS for line in lines_of(name, seed)]
    return f"""## With the bug and without

Each scenario with a controller that has its bug and with one that has not, {TRIALS} trials each.
[`mutant:bug=THREAD`](../../reference/controllers.md#mutant) is a controller of ours behind the bug of that
thread; the others are ours and have it by themselves or by an option.
[The test](../../../tests/simulator/test_regressions.py) plays other seeds too.

<!-- made: bugs -->
{row("scenario", "bug", "controller", "answer", "criterion", "median", "worst")}
{row(":--", ":--", ":--", ":--", ":--", "--:", "--:")}
{chr(10).join(lines)}
<!-- end -->
"""


def lines_of(scenario: str, seed: int) -> list[str]:
    """The lines of a scenario in that table."""
    kinds = zip(("without", "with"), BUGS[scenario], strict=True)
    return [line for kind, controller in kinds for line in _lines(scenario, kind, controller, seed)]


def _lines(scenario: str, kind: str, controller: str, seed: int) -> Iterator[str]:
    verdict = played(scenario, controller, seed).verdict()
    for one in verdict.criteria:
        values = (text(value, one.unit) for value in (one.median, one.worst))
        yield row(scenario, kind, f"`{controller}`", str(verdict.answer), criterion_text(one), *values)
