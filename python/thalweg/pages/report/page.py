"""Makes the report page of a result; its layout is in `page.html`, `page.css` and `page.js`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.files.whole_file import whole_file
from thalweg.base.memory import return_large_blocks
from thalweg.base.progress import Progress, silent
from thalweg.base.quantity import percent, text
from thalweg.base.seeds import seed_text
from thalweg.engine.outcome import Outcomes
from thalweg.judging.answer import counted
from thalweg.judging.statistics.digits import bracketed, high_bound, low_bound
from thalweg.judging.verdict import Verdict
from thalweg.pages.figures import Figure, plot_distribution, plot_trial
from thalweg.pages.figures.page import environment
from thalweg.pages.lab_link import LAB, TrialLink, link_to
from thalweg.pages.report import overview
from thalweg.pages.report.figures import Figures
from thalweg.results.against import table
from thalweg.results.against.standing import Standing
from thalweg.results.replay import is_same, refuse_code, replay_command, replay_trial
from thalweg.results.suite_result import SuiteResult

_BUCKETS = 300


def write_report(result: SuiteResult, file: str | Path, on_progress: Progress = silent) -> None:
    """Writes the page of a result. Runs the worst trial of each scenario again, for its figure.

    Raises RequestError if the file cannot be written.
    """
    write_page(render(result, on_progress), Path(file))


def write_page(page: Iterable[str], target: Path) -> None:
    """Writes the parts of a page, all or nothing. Raises RequestError if the file cannot be written."""
    with whole_file(target) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(page)


def render(result: SuiteResult, on_progress: Progress = silent) -> Iterable[str]:
    """The page of a result, as HTML, in parts."""
    return_large_blocks()
    figures = Figures()
    scenarios = []
    sections = drawn(result)
    for number, (section, own) in enumerate(sections):
        on_progress(f"report: {result.outcomes[number].scenario.name}", number, len(result.outcomes))
        scenarios.append(section)
        figures |= own
    return fill(
        "page.html",
        figures,
        result=result,
        scenarios=scenarios,
        overview=(rows := overview.rows(result.outcomes)),
        headers=overview.HEADERS,
        places=_places(standing) if (standing := result.standing()) else None,
        contents=[
            *([("against", "Against rivals")] if standing else []),
            *([("verdicts", "Verdicts")] if rows else []),
            *((scenario["facts"].name, scenario["facts"].title) for scenario in scenarios),
        ],
        count=[(answer, result.answers().count(answer)) for answer in ("holds", "fails", "infeasible")],
    )


def _places(standing: Standing) -> dict[str, Any]:
    """Where the main controller stands among rivals, as words."""
    return {
        "standing": standing,
        "summary": table.summary(standing),
        "tables": [
            ("How often each answer is given", table.COUNT_HEADERS, table.count_rows(standing)),
            ("The place in each scenario by each metric", table.headers(standing), table.rows(standing)),
        ],
    }


def drawn(result: SuiteResult) -> Iterator[tuple[dict[str, Any], Figures]]:
    """What the page says about each scenario, and its figures, packed.

    Scenarios are replayed and drawn on all cores; a trace is large, and only those at work are in memory.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The audit setting is in the context, which threads do not inherit.
        futures = [pool.submit(copy_context().run, _section, result, outcomes) for outcomes in result.outcomes]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def fill(template: str, figures: Figures, /, **values: object) -> Iterable[str]:
    """A page from its template, with all that `figures` need to be drawn; in parts, as it is large."""
    made = environment("thalweg.pages.report")
    made.globals["source"] = lambda name: Markup(
        files("thalweg.pages.report").joinpath(name).read_text(encoding="utf-8")
    )
    made.globals["published"] = LAB
    made.filters |= {
        "quantity": text,
        "percent": percent,
        "bracketed": bracketed,
        "criterion": overview.criterion_text,
        "high_bound": high_bound,
        "low_bound": low_bound,
        "counted": counted,
        "seed_text": seed_text,
    }
    return made.get_template(template).generate(figures=figures, **values)


def figures_of(result: SuiteResult, outcomes: Outcomes, buckets: int) -> Iterator[tuple[str, Figure, bool]]:
    """The figures of a scenario by name: distributions, then the worst trial, and whether that is the stored one.

    Raises RequestError, after the distributions, if the worst trial cannot be repeated.
    """
    verdict = outcomes.verdict()
    for subject in dict.fromkeys(criterion.subject for criterion in verdict.criteria):
        yield subject.replace(" ", "-"), plot_distribution(outcomes, subject), True
    if result.is_read:  # by whomever it was written
        refuse_code(outcomes)
    trial = replay_trial(outcomes, verdict.worst_trial)
    figure = plot_trial(trial, f"worst trial: {verdict.worst_trial}", buckets)
    yield "worst", figure, is_same(outcomes, verdict.worst_trial, trial)


def _links(result: SuiteResult, outcomes: Outcomes, verdict: Verdict) -> Iterator[tuple[str, TrialLink]]:
    """The trials of a scenario that its section opens in the lab, and what each of them is."""
    trials = {verdict.worst_trial: "the worst trial"}
    trials.setdefault(verdict.typical_trial, "one at the median")
    for trial, what in trials.items():
        if link := link_to(outcomes, trial, result.version):
            yield what, link


def _section(result: SuiteResult, outcomes: Outcomes) -> tuple[dict[str, Any], Figures]:
    """What the page says about one scenario, and its figures by the name of their place."""
    scenario, verdict, figures = outcomes.scenario, outcomes.verdict(), Figures()
    trouble = None
    try:
        for name, figure, same in figures_of(result, outcomes, _BUCKETS):
            figures[f"{scenario.name}-{name}"] = figure
            if not same:
                trouble = (
                    f"Plotted by version {_native.version()}, which does not reproduce the trial that version "
                    f"{result.version} stored."
                )
    except RequestError as error:
        trouble = f"The worst trial cannot be drawn: {error}"
    return {
        "facts": scenario,
        "verdict": verdict,
        "outcomes": outcomes,
        "places": list(figures),
        "trouble": trouble,
        "replay": replay_command(result, outcomes),
        "links": list(_links(result, outcomes, verdict)),
        "strips": [overview.strip(criterion) for criterion in verdict.criteria],
        "answer": verdict.answer or "no criteria",
    }, figures
