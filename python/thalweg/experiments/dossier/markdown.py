"""The dossier as one Markdown file, which can go into the appendix of a draft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thalweg.base.seeds import seed_text
from thalweg.experiments.dossier.findings import Findings, limit_text, replay, sentence, with_interval
from thalweg.experiments.dossier.judge import Judgement
from thalweg.experiments.dossier.limits import amount
from thalweg.experiments.dossier.parameters import LIVE_TRIALS, Parameters
from thalweg.experiments.dossier.sections import CRITERIA, ENVIRONMENTS, Section
from thalweg.experiments.dossier.settings.player import STANDARDS
from thalweg.experiments.dossier.statements import TEXTS, UNWRITTEN
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.judging.statistics.quantiles import median

_REST = (*STANDARDS, "limit", "answer")
"""The last columns of all tables."""


def markdown(result: StudyResult, found: Findings) -> str:
    """The whole file."""
    return "\n".join(_lines(result, found)) + "\n"


def _lines(result: StudyResult, found: Findings) -> Iterator[str]:
    of = found.parameters
    yield f"# {found.title}"
    yield ""
    yield (
        f"{result.trials} trials of each setting{_in_real_time(of)}, {seed_text(result.seed)}, compared "
        f"with Reno (RFC 9002) and CUBIC (RFC 9438) on the same seeds; profile {of.profile}, {of.scope} use; "
        f"Thalweg {result.version}. Medians, with intervals of 95 %. RFC 9743 gives no thresholds: the limits are "
        "this evaluation's, and within a limit does not mean compliance."
    )
    if result.command:
        yield from ("", f"Made by: `{result.command}`")
    yield from ("", "## The worst findings", "")
    if not found.worst:
        yield found.no_finding
    for place, one in enumerate(found.worst, 1):
        yield f"{place}. Section {one.question.criterion}, {one.setting.title}: {sentence(one)} ({one.answer})."
        yield f"   Worst trial: `{replay(one)}`"
    yield from ("", "## Coverage", "")
    for note in result.notes:
        yield f"- {note}."
    for section in CRITERIA.values():
        yield from _criterion(section, found)
    if found.also:
        yield from ("## Other implementations", "", *_also(found), "")
    yield from ("## What the author has to say", "")
    for number, what in TEXTS.items():
        if number not in CRITERIA:
            text = found.parameters.written.texts.get(number, UNWRITTEN)
            yield from (f"### {number}: {what}", "", text, "")
    yield from ("## Not evaluated", "")
    for number, why in found.parameters.not_evaluated.items():
        yield f"- {number} {ENVIRONMENTS[number].title}: {why}."
    yield from ("", "## Environments in which it was not found safe", "", found.paragraph(), "", "## Limits", "")
    for title, meaning, limit, reason in found.limits():
        yield f"- {title} ({meaning}): {limit}; {reason}."


def _in_real_time(of: Parameters) -> str:
    return f" (in real time {LIVE_TRIALS} at most)" if any(player.is_live for player in of.others) else ""


def _criterion(section: Section, found: Findings) -> Iterator[str]:
    written = found.parameters.written
    yield from ("", f"## {section.number} {section.title}", "")
    yield from (f"{section.request}.", "")
    if section.number in TEXTS:
        yield from (written.texts.get(section.number, UNWRITTEN), "")
    for number, judged in found.by_environment(section.number).items():
        yield from (f"### {number} {ENVIRONMENTS[number].title}", "", *_table(judged), "")
    for field in written.field:
        if field.section == section.number:
            yield from (f"From the field: {field.text} ({field.source})", "")


def _table(judged: Sequence[Judgement]) -> Iterator[str]:
    yield from _lines_of(("setting", "number", "candidate", *_REST), map(_cells, judged))


def _also(found: Findings) -> Iterator[str]:
    headers = ("by", "setting", "number", "its", "candidate's", *_REST)
    cells = ((one, _cells(one)) for one in found.also)
    yield from _lines_of(
        headers, ([one.player.title, *own[:3], found.of_candidate(one), *own[3:]] for one, own in cells)
    )


def _cells(one: Judgement) -> list[str]:
    amounts = [amount(median(values), one.number) for values in one.of_standards]
    limit = limit_text(median(one.bound), one.number)
    own = with_interval(one.interval, one.number)
    return [one.setting.title, one.number.heading, own, *amounts, limit, one.answer]


def _lines_of(headers: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield "|" + "---|" * len(headers)
    for cells in lines:
        yield f"| {' | '.join(cells)} |"
