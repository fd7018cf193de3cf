"""Answers in the forms that services for CI read: JUnit's XML, and the commands of GitHub's workflows.

JUnit has no published schema; what services read is the form of the reports of Ant and Maven Surefire: `testsuite`
with `testcase`, and in it `failure` or `skipped`. GitHub: "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.cli.options import SuiteFormat

if TYPE_CHECKING:
    from thalweg.results.against.standing import Standing
    from thalweg.results.suite_result import SuiteResult

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What the production Char of XML 1.0 leaves out."""
FORMATS = (SuiteFormat.JUNIT, SuiteFormat.GITHUB)


@dataclass(frozen=True)
class Case:
    """A question and its answer."""

    group: str
    """The scenario."""
    name: str
    failure: str | None = None
    """What went wrong, in one line."""
    skipped: str | None = None
    """Why there is no answer."""
    detail: str = ""
    """The command that shows more."""


def cases_of(result: SuiteResult) -> list[Case]:
    """Each criterion that decides, and each scenario without one."""
    from thalweg.base.quantity import text  # noqa: PLC0415
    from thalweg.cli.tables import criterion_text  # noqa: PLC0415 - help needs the names of the formats only
    from thalweg.results.replay import replay_command  # noqa: PLC0415

    cases = []
    for outcomes in result.outcomes:
        name = outcomes.scenario.name
        deciding = [one for one in outcomes.verdict().criteria if not one.informative]
        if not deciding:
            cases.append(Case(name, "criteria", skipped="no pass criteria"))
        for one in deciding:
            worst, floor = text(one.worst, one.unit), text(one.floor, one.unit)
            case = Case(name, criterion_text(one))
            if one.answer == "fails":
                said = f"{one.failures} of {one.n} trials fail, the worst with {worst}"
                case = Case(name, case.name, failure=said, detail=replay_command(result, outcomes))
            elif one.answer == "infeasible":
                case = Case(name, case.name, skipped=f"infeasible: no controller is better than {floor}")
            cases.append(case)
    return [*cases, *_places_of(result.standing())]


def _places_of(standing: Standing | None) -> list[Case]:
    """Where the main controller stands among rivals; worse than all of them is a failure."""
    from thalweg.results.against.table import gap_text  # noqa: PLC0415 - help needs the names of the formats only

    if standing is None:
        return []
    cases = []
    for place in standing.places:
        case = Case(place.scenario, f"{place.measure.name} against {' and '.join(standing.rivals)}")
        if place.rank == "worst":
            case = Case(case.group, case.name, failure=f"worse than all, {gap_text(place)}")
        elif place.rank == "undecided":
            case = Case(case.group, case.name, skipped="undecided")
        cases.append(case)
    return cases


def document(format_: SuiteFormat, title: str, cases: Sequence[Case]) -> str:
    """All answers in one of `FORMATS`."""
    return _junit(title, cases) if format_ is SuiteFormat.JUNIT else _github(title, cases)


def _junit(title: str, cases: Sequence[Case]) -> str:
    from xml.sax.saxutils import escape, quoteattr  # noqa: PLC0415 - for this answer only

    def quoted(text: str) -> str:
        return quoteattr(_NOT_IN_XML.sub("?", text))

    counts = _counts(cases)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f'<testsuite name={quoted(title)} tests="{len(cases)}" failures="{counts["failed"]}" errors="0" '
        f'skipped="{counts["skipped"]}">'
    )
    for case in cases:
        opening = f"  <testcase classname={quoted(f'{title}.{case.group}')} name={quoted(case.name)}"
        if case.failure is not None:
            detail = escape(_NOT_IN_XML.sub("?", case.detail))
            lines += [
                f"{opening}>",
                f"    <failure message={quoted(case.failure)}>{detail}</failure>",
                "  </testcase>",
            ]
        elif case.skipped is not None:
            lines += [f"{opening}>", f"    <skipped message={quoted(case.skipped)}/>", "  </testcase>"]
        else:
            lines.append(f"{opening}/>")
    return "\n".join([*lines, "</testsuite>"])


def _github(title: str, cases: Sequence[Case]) -> str:
    r"""An annotation for each failure, and the counts.

    >>> print(_github("c4", [Case("a", "main closed <= 5 s", failure="1 of 2 fail", detail="thalweg replay")]))
    ::error title=c4/a%3A main closed <= 5 s::1 of 2 fail%0Athalweg replay
    c4: 0 passed, 1 failed, 0 skipped
    """
    lines = []
    for case in cases:
        if case.failure is not None:
            said = "\n".join(filter(None, (case.failure, case.detail)))
            heading = _escaped(f"{title}/{case.group}: {case.name}").replace(":", "%3A").replace(",", "%2C")
            lines.append(f"::error title={heading}::{_escaped(said)}")
    counts = _counts(cases)
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped"))
    # At the beginning of a line `::` is a command.
    return "\n".join([*lines, f"{_escaped(title).lstrip(':')}: {summary}"])


def _escaped(text: str) -> str:
    # `##[` is a command in the middle of a line too.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("##[", "## [")


def _counts(cases: Sequence[Case]) -> Counter[str]:
    def kind(case: Case) -> str:
        return "failed" if case.failure is not None else "passed" if case.skipped is None else "skipped"

    return Counter(map(kind, cases))
