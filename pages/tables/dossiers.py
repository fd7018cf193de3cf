"""Makes docs/evidence/dossiers.md: the dossiers of our controllers for RFC 9743, with positive controls.

All of them share one store of trials, so that Reno and CUBIC play each setting once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pages.made import DOCS, ROOT, commit, made, row
from thalweg.base.executor import Executor, unheard
from thalweg.base.seeds import first_seed
from thalweg.cli.store.playing import playing
from thalweg.experiments.dossier.findings import Findings, beyond, limit_text
from thalweg.experiments.dossier.judge import BESIDE, Judgement, Numbers, judge
from thalweg.experiments.dossier.limits import amount
from thalweg.experiments.dossier.numbers import measured
from thalweg.experiments.dossier.parameters import Cell, Parameters
from thalweg.experiments.dossier.sections import CRITERIA
from thalweg.experiments.dossier.settings.player import STANDARDS, Player
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.quantiles import median
from thalweg.trials.choice import chosen
from thalweg.trials.store.shard import Shard

PAGE = DOCS / "evidence" / "dossiers.md"
CONTROLLERS = {
    "c4": "C4",
    "bbr": "BBR",
    "prague": "Prague",
    "reno": "Reno on other seeds, a control: nothing may be beyond a limit",
    "cubic": "CUBIC on other seeds, a control as well",
    "noq:cubic": "CUBIC of noq, a real stack in virtual time",
    "bbr1": "BBRv1, a positive control: RFC 9743 section 5.1.3 tells its failure",
    "cbr:rate=20Mbps": "an unresponsive sender, a positive control",
}
"""Whose dossiers the page has, and what they are."""
SEED = 1
CONTROLS = {"reno": "reno:decrease=0.5", "cubic": "cubic:beta=0.7"}
"""Standards as candidates, by another name: their trials have seeds of their own. With the seeds of the standards
they would be these, and within every limit."""
OTHER_SEED = first_seed(2)


def make() -> None:
    """Makes the page."""
    store = ROOT / "target" / "pages" / commit().strip("`") / "dossiers"
    store.mkdir(parents=True, exist_ok=True)
    with playing(store, 0, None, Shard()) as executor:
        found = {name: _dossier(name, executor) for name in CONTROLLERS}
    sections = [section for section in CRITERIA.values() if any(one.of(section.number) for one in found.values())]
    counts = [
        row(f"{section.number} {section.title}", *(_count(one, section.number) for one in found.values()))
        for section in sections
    ]
    text = f"""# Dossiers for RFC 9743

What `thalweg dossier rfc9743` finds of our controllers: how many numbers lie beyond their limits, of those
measured, by criterion. [A dossier for RFC 9743](../how-to/dossier.md) explains settings, numbers and limits.
RFC 9743 gives no thresholds: the limits are ours, relative to Reno and CUBIC on the same seeds. The controls,
Reno and CUBIC themselves, have other seeds: on the same ones they could not be beyond a limit.

{made("dossiers")}

<!-- made: counts -->
{row("criterion", *CONTROLLERS)}
{"|---" * (1 + len(CONTROLLERS))}|
{chr(10).join(counts)}
<!-- end -->

{"".join(_section(name, what, found[name]) for name, what in CONTROLLERS.items())}"""
    PAGE.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def _dossier(name: str, executor: Executor) -> Findings:
    parameters = Parameters(controller=CONTROLS.get(name, name))
    played: dict[tuple[str, Player], Numbers] = {}
    for cell in parameters.cells():
        played[cell.setting, cell.player] = _play(parameters, cell, executor)
    return Findings(parameters, played)


def _play(parameters: Parameters, cell: Cell, executor: Executor) -> Numbers:
    is_control = cell.player == parameters.candidate and cell.player.controller in CONTROLS.values()
    seed = OTHER_SEED if is_control else SEED
    trials = CellTrials(parameters.scenario(cell), parameters.trials, seed, executor, unheard)
    return measured(parameters.settings[cell.setting], trials)


def _count(found: Findings, criterion: str) -> str:
    judged = found.of(criterion)
    return f"{beyond(judged)} of {len(judged)}"


def _section(name: str, what: str, found: Findings) -> str:
    worst = sorted((one for one in found.judged if one.is_beyond), key=lambda one: -one.severity)
    answered, strong = len(found.answered), len(found.strong)
    lines = [line for one in worst for line in _lines(one)]
    table = "\n".join(
        [
            row("criterion, environment", "setting", "number", "here", *STANDARDS, "limit", "worst seed"),
            "|---|---|---|--:|--:|--:|--:|--:|",
            *lines,
        ]
    )
    shown = f"<!-- made: {name} -->\n{table}\n<!-- end -->\n" if lines else "Nothing is beyond its limit.\n"
    return f"""## {what}

    thalweg dossier rfc9743 --controller {name} --out results/dossier

{answered} of {strong} sections with a MUST or SHOULD that experiments can answer have evidence.

{shown}
"""


def _lines(one: Judgement) -> Iterator[str]:
    amounts = [amount(median(values), one.number) for values in (one.values, *one.of_standards)]
    amounts.append(limit_text(median(one.bound), one.number))
    where = f"{one.question.criterion}, {one.setting.environment}"
    yield row(where, f"`{one.setting.name}`", one.number.heading, *amounts, str(one.worst_seed))


def parts() -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """The lines of a controller and a setting, measured again."""
    found = []
    controller = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("<!-- made: "):
            controller = line.split()[2]
        cells = [cell.strip() for cell in line.split("|")]
        if controller in CONTROLLERS and len(cells) > 8 and cells[2].startswith("`"):
            found.append((controller, cells[2].strip("`")))
    whose = ("whose", lambda: [row("criterion", *CONTROLLERS)])
    return [
        whose,
        *((f"{name}: {setting}", partial(_again, name, setting)) for name, setting in dict.fromkeys(found)),
    ]


def _again(name: str, setting: str) -> list[str]:
    parameters = Parameters(controller=CONTROLS.get(name, name))
    with chosen(0, None) as executor:
        played = {
            (setting, cell.player): _play(parameters, cell, executor)
            for cell in parameters.cells()
            if cell.setting == setting and cell.player in (parameters.candidate, *BESIDE)
        }
    judged = judge(parameters.settings, played, parameters.candidate, parameters.bounds, parameters.comparisons)
    return [line for one in judged if one.is_beyond for line in _lines(one)]
