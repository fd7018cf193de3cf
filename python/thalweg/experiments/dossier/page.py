"""What the page of a dossier shows, for the template `dossier.html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from thalweg.experiments.dossier.findings import (
    Findings,
    beyond,
    limit_text,
    replay,
    sentence,
    with_interval,
)
from thalweg.experiments.dossier.judge import Judgement
from thalweg.experiments.dossier.limits import amount
from thalweg.experiments.dossier.markdown import markdown
from thalweg.experiments.dossier.sections import CRITERIA, ENVIRONMENTS, Section
from thalweg.experiments.dossier.settings.player import STANDARDS
from thalweg.experiments.dossier.statements import TEXTS, UNWRITTEN
from thalweg.experiments.studies.runner.page import Page
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.judging.statistics.claims import every
from thalweg.judging.statistics.quantiles import median
from thalweg.pages.report.strip import Strip


def page(result: StudyResult, found: Findings) -> Page:
    """The page, and the Markdown file next to it."""
    return Page((), texts={"dossier.md": markdown(result, found)}, own=("dossier.html", _values(result, found)))


def _values(result: StudyResult, found: Findings) -> Mapping[str, object]:
    """All that the template needs."""
    of = found.parameters
    criteria = [_criterion(section, found) for section in CRITERIA.values()]
    texts = [(number, what, of.written.texts.get(number, UNWRITTEN)) for number, what in TEXTS.items()]
    return {
        "title": found.title,
        "result": result,
        "of": of,
        "standards": STANDARDS,
        "count": [(answer, number) for answer, number in found.count().items() if number],
        "worst": [_finding(one) for one in found.worst],
        "no_finding": found.no_finding,
        "matrix": _matrix(found),
        "environments": list(ENVIRONMENTS.values()),
        "criteria": criteria,
        "also": [{**_line(one), "of_candidate": found.of_candidate(one)} for one in found.also],
        "texts": texts,
        "fields": of.written.field,
        "missing": [(ENVIRONMENTS[number], why) for number, why in of.not_evaluated.items()],
        "paragraph": found.paragraph(),
        "limits": list(found.limits()),
        "controlled": of.scope == "controlled",
        "contents": [
            ("worst", "The worst findings"),
            ("matrix", "Criteria by environments"),
            *((f"s{section.number}", f"{section.number} {section.title}") for section in CRITERIA.values()),
            *([("also", "Other implementations")] if found.also else []),
            ("texts", "What the author has to say"),
            ("missing", "Not evaluated"),
            ("unsafe", "Environments in which it was not found safe"),
            ("limits", "Limits"),
        ],
    }


def _finding(one: Judgement) -> dict[str, Any]:
    return {
        "one": one,
        "criterion": CRITERIA[one.question.criterion],
        "environment": ENVIRONMENTS[one.setting.environment],
        "sentence": sentence(one),
        "replay": replay(one),
    }


def _matrix(found: Findings) -> list[tuple[Section, list[tuple[str, str, str] | None]]]:
    """For each criterion and environment: an answer, a few characters, and words; None for an empty cell."""
    lines = []
    for criterion in CRITERIA.values():
        by_environment = found.by_environment(criterion.number)
        cells = [_cell(criterion.number, number, by_environment.get(number)) for number in ENVIRONMENTS]
        lines.append((criterion, cells))
    return lines


def _cell(criterion: str, environment: str, judged: Sequence[Judgement] | None) -> tuple[str, str, str] | None:
    if not judged:
        return None
    count, undecided = beyond(judged), sum(one.is_undecided for one in judged)
    words = f"{criterion} in {environment}: {count} of {len(judged)} numbers beyond the limit"
    return (
        every(one.answer for one in judged),
        f"{count}/{len(judged)}",
        words + (f", {undecided} undecided" if undecided else ""),
    )


def _criterion(section: Section, found: Findings) -> dict[str, Any]:
    written = found.parameters.written
    return {
        "section": section,
        "text": written.texts.get(section.number, UNWRITTEN) if section.number in TEXTS else "",
        "fields": [field for field in written.field if field.section == section.number],
        "beyond": beyond(found.of(section.number)),
        "environments": [
            (ENVIRONMENTS[number], [_line(one) for one in judged])
            for number, judged in found.by_environment(section.number).items()
        ],
    }


def _line(one: Judgement) -> dict[str, Any]:
    number, bound = one.number, median(one.bound)
    marks = {"at_most": bound} if number.better == "lower" else {"at_least": bound}
    strip = Strip(one.values, number.unit, called="limit", judged=True, **marks)  # type: ignore[arg-type]
    arrows = {1: "larger", -1: "smaller", 0: ""}
    return {
        **_finding(one),
        "value": with_interval(one.interval, number),
        "strip": Markup(strip.markup),
        "standards": [
            (amount(median(values), number), arrows[differs])
            for values, differs in zip(one.of_standards, one.differs, strict=True)
        ],
        "bound": limit_text(bound, number),
    }
