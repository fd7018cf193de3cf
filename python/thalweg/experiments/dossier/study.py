"""The dossier as a study: its cells are settings by players, its rows the numbers of the candidate, judged.

Source: RFC 9743. The RFC gives no thresholds: the limits are ours.

>>> from thalweg.experiments.dossier.findings import Findings
>>> quick = Parameters(controller="cubic", quick=True)
>>> sum(1 for cell in quick.cells() if cell.player.controller == "cubic") == len(quick.settings)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from thalweg.base.quantity import text
from thalweg.base.seeds import SET_SIZE
from thalweg.experiments.dossier.findings import Findings, limit_text, replay
from thalweg.experiments.dossier.judge import Judgement, Numbers, least_trials
from thalweg.experiments.dossier.limits import amount
from thalweg.experiments.dossier.numbers import NUMBERS, SEED, measured
from thalweg.experiments.dossier.parameters import TRIALS, Cell, Parameters
from thalweg.experiments.dossier.replays import with_limits
from thalweg.experiments.dossier.sections import CRITERIA
from thalweg.experiments.dossier.settings.player import STANDARDS
from thalweg.experiments.studies.runner.parameters import Option
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.study import Finished, Study
from thalweg.experiments.studies.runner.table import Column, Table
from thalweg.judging.statistics.claims import FAILS, UNDECIDED
from thalweg.judging.statistics.interval import finite
from thalweg.judging.statistics.quantiles import median

if TYPE_CHECKING:
    from thalweg.experiments.studies.runner.page import Page

Dossier = Finished[Parameters, Cell, Numbers]
_SHOWN = 12
"""Most lines of the terminal on numbers beyond their limits."""


def findings_of(finished: Dossier) -> Findings:
    """What a dossier that ran has found."""
    return _findings(finished.parameters, finished.cells)


def found_in(found: Findings) -> list[Judgement]:
    """Every number of the candidate and of other implementations."""
    return [*found.judged, *found.also]


def _findings(parameters: Parameters, cells: Mapping[Cell, Numbers]) -> Findings:
    return Findings(parameters, {(cell.setting, cell.player): numbers for cell, numbers in cells.items()})


def _row(one: Judgement) -> Row:
    return {
        "criterion": one.question.criterion,
        "environment": one.setting.environment,
        "setting": one.setting.name,
        "title": one.setting.title,
        "controller": one.player.title,
        "evidence": one.player.grade,
        "number": one.number.name,
        "unit": one.number.unit,
        "value": finite(one.interval.value),
        "value_low": finite(one.interval.low),
        "value_high": finite(one.interval.high),
        **{name: finite(median(values)) for name, values in zip(STANDARDS, one.of_standards, strict=True)},
        "limit": finite(median(one.bound)),
        "side": one.side,
        "answer": one.answer,
        "severity": finite(one.severity),
        **{f"differs_from_{name}": differs for name, differs in zip(STANDARDS, one.differs, strict=True)},
        "worst_seed": one.worst_seed,
        "replay": replay(one),
    }


COLUMNS = (
    Column("criterion", kind=str, meaning="section of RFC 9743"),
    Column("environment", kind=str, meaning="section of RFC 9743"),
    Column("setting", kind=str, meaning="name of the scenario"),
    Column("title", kind=str, meaning="the setting for people"),
    Column("controller", kind=str, meaning="the candidate, or another implementation of it"),
    Column("evidence", kind=str, meaning="grade: by the model, by a real stack in virtual time, or in real time"),
    Column("number", kind=str, meaning="what was measured"),
    Column("unit", kind=str, meaning="of the number"),
    Column("value", meaning="median of the candidate"),
    Column("value_low", meaning="interval of 95 %"),
    Column("value_high", meaning="interval of 95 %"),
    *(Column(name, meaning=f"median of {name} with the same seeds") for name in STANDARDS),
    Column("limit", meaning="median of the limits of the trials"),
    Column("side", kind=str, meaning="at_most or at_least: what the limit bounds"),
    Column("answer", kind=str, meaning="whether the limit holds, fails, or is undecided for want of trials"),
    Column("severity", meaning="the number over its limit, or the limit over it where more is better"),
    *(
        Column(f"differs_from_{name}", kind=int, meaning=f"-1 smaller than {name}, 1 larger, 0 not told")
        for name in STANDARDS
    ),
    Column("worst_seed", kind=int, meaning="seed of the worst trial"),
    Column("replay", kind=str, meaning="the command that plays it, from the folder of the dossier"),
)


def _printed(result: StudyResult) -> list[Table]:
    """A line for each criterion, and the worst numbers beyond their limits."""
    mine = [row for row in result.rows if row["controller"] == result.parameters["Dossier"]["candidate"]]
    lines = []
    for number, section in CRITERIA.items():
        of = [row for row in mine if row["criterion"] == number]
        beyond = sum(row["answer"] == FAILS for row in of)
        known = sum(row["answer"] != UNDECIDED for row in of)
        lines.append([number, section.title, section.strength, str(len(of)), str(beyond), str(len(of) - known)])
    criteria = Table(["section", "criterion", "asked with", "numbers", "beyond", "undecided"], lines, 3)
    worst = sorted(
        (row for row in mine if row["answer"] == FAILS),
        key=lambda row: -(float("inf") if row["severity"] is None else float(row["severity"])),
    )
    shown = [_line(row) for row in worst[:_SHOWN]]
    headers = ["section", "beyond the limit", "number", "here", *STANDARDS, "limit"]
    return [criteria, *([Table(headers, shown, 3)] if shown else [])]


def _line(row: Row) -> list[str]:
    number = NUMBERS[str(row["number"])]
    values = [row["value"], *(row[name] for name in STANDARDS), row["limit"]]
    amounts = ["-" if value is None else amount(float(value), number) for value in values]
    amounts[-1] = "-" if row["limit"] is None else limit_text(float(row["limit"]), number)
    return [f"{row['criterion']}, {row['environment']}", str(row["title"]), number.heading, *amounts]


def _notes(parameters: Parameters, cells: Mapping[Cell, Numbers]) -> list[str]:
    found = _findings(parameters, cells)
    lines = [
        f"Of {len(found.strong)} sections with a MUST or SHOULD that experiments can answer, "
        f"{len(found.answered)} have evidence here",
        f"Of {parameters.comparisons} comparisons, about {text(found.chance)} would be significant by chance; "
        f"{found.differing} show a difference from Reno or CUBIC",
    ]
    trials, least = max((len(one.values) for one in found.judged), default=0), least_trials(parameters.comparisons)
    if trials < least:
        lines.append(
            f"With {trials} trial{'' if trials == 1 else 's'}, so many comparisons tell nothing from chance: "
            f"--trials {least} would"
        )
    if missing := parameters.written.missing:
        lines.append(f"The author has to write on sections {', '.join(missing)} (--statements)")
    return lines


def _page(finished: Dossier) -> Page:
    from thalweg.experiments.dossier.page import page  # noqa: PLC0415 - altair takes half a second to load

    return page(finished.result, findings_of(finished))


STUDY: Study[Parameters, Cell, Numbers] = Study(
    name="rfc9743",
    title="Dossier for RFC 9743",
    source="RFC 9743",
    presets={"default": Parameters()},
    trials=Option(
        ("--trials", "-n"),
        f"Trials of each setting [{', '.join(f'{name} {n}' for name, n in TRIALS.items())}].",
        least=1,
        most=SET_SIZE,
    ),
    columns=COLUMNS,
    legend="Limits are ours, since RFC 9743 gives none; no number here means compliance.",
    scenario=Parameters.scenario,
    measure=lambda parameters, cell, trials: measured(parameters.settings[cell.setting], trials),
    rows=lambda parameters, cells: [_row(one) for one in found_in(_findings(parameters, cells))],
    notes=_notes,
    blocks=lambda of: {
        "Dossier": {
            "candidate": of.candidate.title,
            "beside": ", ".join(STANDARDS),
            "profile": of.profile,
            "scope": of.scope,
        }
    },
    samples=lambda found: {name: values for name, values in found.items() if name != SEED},
    printed=_printed,
    page=_page,
    preset_of=lambda of: of.profile,
    trials_of=Cell.trials,
    texts=lambda finished: with_limits(finished.scenarios, found_in(findings_of(finished))),
    live_span_s=lambda of, trials: (of.live_span_s(trials), None),
)
