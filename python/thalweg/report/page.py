"""Makes the report page out of a result; what it looks like is in `page.html`, `page.css` and `page.js`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from altair.utils.schemapi import debug_mode
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thalweg import _native
from thalweg.errors import RequestError
from thalweg.memory import return_large_blocks
from thalweg.outcome import Outcomes
from thalweg.plots import plot_distribution, plot_trial
from thalweg.plots.theme import CONFIG, DARK_CONFIG
from thalweg.progress import Progress, silent
from thalweg.quantity import percent, text
from thalweg.replay import is_same, replay_command, replay_trial
from thalweg.report import overview
from thalweg.report.figures import Figures, embedded
from thalweg.report.vega import vega
from thalweg.seeds import told
from thalweg.statistics.digits import bracketed, low_bound
from thalweg.store.results import SuiteResult
from thalweg.store.whole_file import whole_file
from thalweg.verdict import Verdict


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
    # The drawing program is bundled beside: it takes a second of another core.
    with ThreadPoolExecutor(1) as beside:
        bundle = beside.submit(vega)
        for number, outcomes in enumerate(result.outcomes):
            on_progress(f"report: {outcomes.scenario.name}", number, len(result.outcomes))
            # Figures are checked by tests; checking each here takes longer than the trials of a suite.
            with debug_mode(False):
                scenarios.append(_section(result, outcomes, figures))
    return fill(
        "page.html",
        figures,
        bundle.result,
        result=result,
        scenarios=scenarios,
        overview=overview.rows(result.outcomes),
        count=[(answer, result.answers().count(answer)) for answer in ("pass", "fail", "infeasible")],
    )


def fill(
    template: str, figures: Figures, drawing_program: Callable[[], str] = vega, /, **values: object
) -> Iterable[str]:
    """A page out of its template, with all that it needs to draw `figures`; in parts, as it is large."""
    environment = Environment(
        loader=PackageLoader("thalweg.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "quantity": text,
        "percent": percent,
        "bracketed": bracketed,
        "low_bound": low_bound,
        "told": told,
    }

    def source(name: str) -> Markup:
        return Markup(environment.loader.get_source(environment, name)[0] if environment.loader else "")

    return environment.get_template(template).generate(
        css=source("page.css"),
        js=source("page.js"),
        vega=Markup(drawing_program()),
        figures=figures,
        themes=embedded({"light": CONFIG, "dark": DARK_CONFIG}),
        **values,
    )


def _section(result: SuiteResult, outcomes: Outcomes, figures: Figures) -> dict[str, Any]:
    """What the page says about one scenario; its figures go to `figures` by the name of their place."""
    scenario, verdict = outcomes.scenario, outcomes.verdict()
    distributions = []
    for subject in dict.fromkeys(one.subject for one in verdict.criteria):
        place = f"{scenario.name}-{subject.replace(' ', '-')}"
        figures[place] = plot_distribution(outcomes, subject)
        distributions.append(place)
    worst, trouble = f"{scenario.name}-worst", None
    try:
        trial = replay_trial(outcomes, verdict.worst_trial)
        figures[worst] = plot_trial(trial, f"worst trial: {verdict.worst_trial}", buckets=300)
        if not is_same(outcomes, verdict.worst_trial, trial):
            trouble = (
                f"Drawn by version {_native.version()}, which does not repeat the trial that version "
                f"{result.version} stored."
            )
    except RequestError as error:
        worst, trouble = "", f"The worst trial cannot be drawn: {error}"
    return {
        "facts": scenario,
        "verdict": verdict,
        "outcomes": outcomes,
        "distributions": distributions,
        "worst": worst,
        "trouble": trouble,
        "replay": replay_command(result, outcomes),
        "answer": _answer(verdict),
    }


def _answer(verdict: Verdict) -> str:
    return verdict.answer or "no criteria"
