"""Makes the pages of docs that have a script, or measures some of their lines again.

python -m pages [PAGE...]             makes all pages, or those that are named; each names the commit
python -m pages --check [PAGE...]     fails where a line that is measured again is not on its page

The commit, or `--seed TEXT`, draws the lines of a check: each commit measures other ones. A page has
about ten seconds of processor time, of a suite two, and at least one line.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import polars as pl

from pages import (
    detection,
    fidelity,
    harm_causes,
    l4s,
    laws,
    model_and_stack,
    null,
    probe,
    statistics,
    studies,
    study_figures,
    verdicts,
)
from pages.c4_05 import make as c4_05
from pages.c4_05 import october
from pages.causes import transient, wifi
from pages.draft_04 import of_draft_04
from pages.experiments import first_growth, gaps, hosts, loopback_twin, small_windows, starts, stop_and_go
from pages.experiments.experiment import HERE as EXPERIMENTS
from pages.explain import kernels as explain_kernels
from pages.explain import make as explain
from pages.explain import rivals as explain_rivals
from pages.explain import senders as explain_senders
from pages.league import make as league
from pages.made import DOCS, ROOT, commit, row
from pages.peer import reasons
from pages.prose import values
from pages.tables import (
    dossiers,
    estimate_libraries,
    gate_libraries,
    live_tables,
    small_tables,
    suites,
)
from pages.tails import counted as tails_counted
from pages.tails import coverage as tails_coverage
from pages.tails import make as tails
from pages.wifi import make as airtime
from thalweg.engine.catalogue import Entry, Suite

_TURN_S = 10.0
Part = tuple[str, Callable[[], Iterable[str]]]
"""The subject, and the measurement, which returns the lines of the page."""


@dataclass(frozen=True)
class Page:
    """A page, the function that makes it, and the parts that are cheap to measure again."""

    file: Path
    make: Callable[[], object]
    parts: Callable[[], list[Part]] | None = None
    turn_s: float = _TURN_S
    """Processor time of a check."""


def _lines(parts: Callable[[], list[tuple[str, Callable[[], str]]]]) -> list[Part]:
    return [(what, partial(_one, measure)) for what, measure in parts()]


def _one(measure: Callable[[], str]) -> list[str]:
    return [measure()]


def _fidelity() -> list[Part]:
    """The metrics of each scenario and the reasons that they need, of as many trials as the page says."""
    plan = tomllib.loads((fidelity.HERE / "fidelity.toml").read_text(encoding="utf-8"))
    peer = pl.read_csv(fidelity.REFERENCE / "peer_trials.csv")

    why = reasons.reasons_of(plan)

    def measure(compare: dict[str, str]) -> list[str]:
        rows = list(fidelity.compared(compare, plan["tolerance"][compare["tolerance"]], peer, 100))
        open_values = [reasons.line(value, why) for value in fidelity.open_values(plan, rows)]
        return [*(row(*fidelity.cells(comparison)) for comparison in rows), *open_values]

    return [(compare["spec"], partial(measure, compare)) for compare in plan["compare"]]


def _statistics() -> list[Part]:
    """Each interval, and the checks of each study, of as many draws as the page says."""
    said = re.search(r"draws (\d+)\s+times", (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8"))
    draws = int(said[1]) if said else 0

    def measure(line: statistics.Line) -> list[str]:
        return [row(*line.cells(draws))]

    lines = [
        (f"{interval.what} of {interval.n}, {interval.drawn}", partial(measure, interval))
        for interval in statistics.intervals()
    ]
    studies = [
        (f"checks of {what}", partial(statistics.check_lines, what, check, draws))
        for what, check in statistics.checks()
    ]
    return [*lines, *studies, *detection.parts(draws), *null.parts()]


def _verdicts() -> list[Part]:
    """The verdicts of each scenario of the suite, of as many trials as the page says."""
    trials = re.search(r"(\d+) trials", (DOCS / "evidence" / "verdicts.md").read_text(encoding="utf-8"))

    def measure(entry: Entry) -> Iterable[str]:
        outcomes = of_draft_04(entry).trials(int(trials[1]) if trials else 0)
        stack = of_draft_04(entry, verdicts.STACK).trials(verdicts.STACK_TRIALS)
        return [row(*line) for line in verdicts.verdict_rows(entry.name, outcomes, stack)]

    return [(entry.name, partial(measure, entry)) for entry in Suite.find("c4").entries]


def _model_and_stack() -> None:
    measured = ROOT / "target" / "model-and-stack.json"
    measured.parent.mkdir(exist_ok=True)
    model_and_stack.walk(64, 3600, measured)
    model_and_stack.page(measured)


PAGES = {
    "verdicts": Page(DOCS / "evidence" / "verdicts.md", lambda: verdicts.main(verdicts.TRIALS), _verdicts),
    "fidelity": Page(DOCS / "evidence" / "fidelity.md", lambda: fidelity.main(100), _fidelity),
    "statistics": Page(DOCS / "explanation" / "statistics.md", lambda: statistics.main(2000), _statistics),
    "c4-05": Page(c4_05.PAGE, c4_05.make, c4_05.parts),
    "c4-05-october": Page(october.PAGE, october.make, october.parts),
    "l4s": Page(l4s.PAGE, l4s.make, partial(_lines, l4s.parts)),
    "l4s-settings": Page(l4s.PAGE, l4s.make_settings, partial(_lines, l4s.settings_parts)),
    "probe": Page(DOCS / "how-to" / "probe.md", probe.make, partial(_lines, probe.parts)),
    "model-and-stack": Page(model_and_stack.PAGE, _model_and_stack),
    "harm-causes": Page(DOCS / "evidence" / "studies" / "harm.md", harm_causes.make),
    "hosts": Page(hosts.PAGE, hosts.make, hosts.parts),
    "harm-hosts": Page(DOCS / "evidence" / "studies" / "harm.md", harm_causes.make_hosts),
    "harm-pacing": Page(DOCS / "evidence" / "studies" / "harm.md", harm_causes.make_pacing),
    **{
        name: Page(EXPERIMENTS / f"{name}.md", made_by.make, partial(_lines, made_by.parts))
        for name, made_by in {
            "loopback-twin": loopback_twin,
            "stop-and-go": stop_and_go,
            "small-windows": small_windows,
            "first-growth": first_growth,
            "gaps": gaps,
            "starts": starts,
        }.items()
    },
    "transient-causes": Page(DOCS / "evidence" / "studies" / "transient.md", transient.make),
    "live-tables": Page(DOCS / "evidence" / "real-time.md", live_tables.make),
    "small-tables": Page(DOCS / "reference" / "models.md", small_tables.make),
    "wifi-causes": Page(DOCS / "evidence" / "studies" / "wifi-compete.md", wifi.make),
    "laws": Page(DOCS / "evidence" / "studies" / "laws.md", laws.make),
    **{
        name: Page(DOCS / "evidence" / "studies" / f"{name}.md", partial(studies.make, name))
        for name in dict.fromkeys(run.study for run in studies.RUNS)
    },
    **{
        f"suite-{name}": Page(suites.page(name), partial(suites.make, name), partial(suites.parts, name), 2.0)
        for name in suites.SUITES
    },
    "explain": Page(explain.PAGE, explain.make, partial(_lines, explain.parts)),
    "explain-senders": Page(explain.PAGE, explain_senders.make_senders),
    "explain-rivals": Page(explain.PAGE, explain_rivals.make_rivals),
    "explain-kernels": Page(explain.PAGE, explain_kernels.make_kernels),
    "tails": Page(tails_counted.PAGE, tails.make, partial(_lines, tails.parts)),
    "tails-coverage": Page(tails_counted.PAGE, tails.make_coverage, partial(_lines, tails_coverage.parts)),
    "tails-counted": Page(tails_counted.PAGE, tails_counted.make),
    "wifi": Page(airtime.PAGE, airtime.make, partial(_lines, airtime.parts)),
    "wifi-agreement": Page(airtime.PAGE, airtime.make_agreement),
    "wifi-posterior": Page(airtime.PAGE, airtime.make_posterior),
    "wifi-access": Page(airtime.PAGE, airtime.make_access),
    "wifi-third": Page(airtime.PAGE, airtime.make_third),
    "wifi-rivals": Page(airtime.PAGE, airtime.make_rivals, partial(_lines, airtime.rivals_parts)),
    "wifi-load": Page(airtime.PAGE, airtime.make_load, partial(_lines, airtime.load_parts)),
    "league": Page(league.PAGE, league.make, league.parts, 5.0),
    "estimate-libraries": Page(estimate_libraries.PAGE, estimate_libraries.make),
    "gate-libraries": Page(gate_libraries.PAGE, gate_libraries.make),
    "dossiers": Page(dossiers.PAGE, dossiers.make, dossiers.parts, 5.0),
    "study-figures": Page(DOCS / "evidence" / "studies" / "transient.md", study_figures.make),
}


def main() -> int:
    """Makes or checks pages; returns 1 on a failure."""
    parser = argparse.ArgumentParser(prog="pages")
    parser.add_argument("--check", action="store_true", help="measure some lines again")
    parser.add_argument("--seed", help="draws them; the commit unless given")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(PAGES)}")
    given = parser.parse_args()
    if strange := [name for name in given.pages if name not in PAGES]:
        parser.error(f"there is no page {strange[0]!r}; accepted: {', '.join(PAGES)}")
    chosen = {name: PAGES[name] for name in given.pages or PAGES}
    if given.check:
        seed = given.seed or commit()
        return min(sum(check(page, seed) for page in chosen.values() if page.parts), 1)
    failed = 0
    for name, page in chosen.items():
        print(f"{name}: {page.file.relative_to(DOCS.parent)}", flush=True)
        failed += bool(page.make())
    values.write()
    return min(failed, 1)


def check(page: Page, seed: str) -> int:
    """Measures some parts of a page again; returns how many lines are not on it."""
    assert page.parts
    text = page.file.read_text(encoding="utf-8")
    on_page = set(text.splitlines())
    parts = page.parts()
    Random(f"{seed} {page.file.name}").shuffle(parts)
    end = time.process_time() + page.turn_s
    measured: list[str] = []
    wrong = 0
    for said in values.wrong(page.file.relative_to(DOCS).as_posix(), text):
        wrong += 1
        print(said, flush=True)
    for what, measure in parts:
        if measured and time.process_time() > end:
            break
        measured.append(what)
        for line in measure():
            if line not in on_page:
                wrong += 1
                print(f"{page.file}: measured again, {what} is\n  {line}", flush=True)
    print(f"{page.file.relative_to(DOCS.parent)}: {len(measured)} of {len(parts)} parts: {', '.join(measured)}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
