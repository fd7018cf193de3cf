"""Makes the report page of a sweep: figures that brushes link, and of each point a trial; see `sweep.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.progress import Progress, silent
from thalweg.base.quantity import text
from thalweg.experiments.sweep.report.figures import plot_sweep
from thalweg.experiments.sweep.report.view import TRACES, View, titles, view_of
from thalweg.experiments.sweep.result import SweepResult
from thalweg.pages.figures import Figure, plot_trial
from thalweg.pages.lab_link import TrialLink, link_of
from thalweg.pages.report.figures import Figures
from thalweg.pages.report.page import fill, write_page

_BUCKETS = 300


def write_sweep(
    result: SweepResult,
    file: str | Path,
    axes: Sequence[str] = (),
    metrics: Sequence[str] = (),
    only: Mapping[str, str] | None = None,
    traces: int = TRACES,
    on_progress: Progress = silent,
) -> None:
    """Writes the page of a sweep. Plays a trial of up to `traces` points again. Raises RequestError."""
    view = view_of(result, axes, metrics, only)
    figures = Figures()
    title = str(result.head["name"])
    sections = []
    for number, metric in enumerate(view.metrics):
        sections.append((f"metric-{number}", metric.title))
        figures[sections[-1][0]] = plot_sweep(view, metric, title, trade=number == 0)
    points = []
    for point, figure in _points(result, view, traces, on_progress):
        points.append(point)
        if figure is not None:
            point["figure"] = f"trial-{point['index']}"
            figures[point["figure"]] = figure
    keys = [str(axis["key"]) for axis in result.head["axes"]]
    headers = list(titles(keys, [str(flow["name"]) for flow in result.head["flows"]]).values())
    page = fill(
        "sweep.html",
        figures,
        title=title,
        head=result.head,
        only=view.only,
        sections=sections,
        points=points,
        headers=headers,
        trials=int(view.points["trials"].sum()),
        failed=int(view.points["failed"].sum()),
        contents=[*sections, ("points", "Points")],
    )
    write_page(page, Path(file))


def _points(
    result: SweepResult, view: View, traces: int, on_progress: Progress
) -> Iterator[tuple[dict[str, Any], Figure | None]]:
    """What the page says about each point, those on a front first among those that are drawn."""
    typical = {row["index"]: row for row in result.typical(view.metrics[0].column).iter_rows(named=True)}
    texts = {
        str(axis["key"]): dict(zip(result.points["index"], result.texts(axis["key"]), strict=True))
        for axis in result.head["axes"]
    }
    rows = list(view.points.iter_rows(named=True))
    chosen = [row["index"] for row in sorted(rows, key=lambda row: not row["front"])[:traces]]

    def draw(index: int) -> tuple[Figure | None, str]:
        seed = typical[index]["seed"]
        try:
            trial = result.scenario(index).run(seed, trace=True)
            figure = plot_trial(trial, f"seed {seed}", _BUCKETS)
        except RequestError as error:
            return None, f"The trial cannot be drawn: {error}"
        is_same = trial.trace_hash == typical[index]["trace_hash"]
        return figure, "" if is_same else _other_trial(result)

    with ThreadPoolExecutor() as pool:
        drawn = {index: pool.submit(draw, index) for index in chosen if index in typical}
        try:
            for number, row in enumerate(rows):
                index = row["index"]
                on_progress("report: points", number, len(rows))
                figure, trouble = drawn[index].result() if index in drawn else (None, "")
                point = {
                    "index": index,
                    "values": [texts[key][index] for key in texts],
                    "trials": row["trials"],
                    "failed": row["failed"],
                    "front": row["front"],
                    "replay": typical[index]["replay"] if index in typical else "",
                    "links": _links(result, index, typical[index]) if index in typical else [],
                    "metrics": [
                        (metric.title, _interval(row, metric.column, metric.unit)) for metric in view.metrics
                    ],
                    "figure": "",
                    "trouble": trouble,
                }
                yield point, figure
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _links(result: SweepResult, index: int, trial: Mapping[str, Any]) -> list[tuple[str, TrialLink]]:
    """The trial of a point as a link to the lab; none where the scenario cannot be read any more."""
    try:
        of = result.scenario(index).description
    except RequestError:
        return []
    link = link_of(of, trial["seed"], str(result.head["engine"]), str(trial["trace_hash"]))
    return [("this trial", link)] if link else []


def _other_trial(result: SweepResult) -> str:
    stored, now = str(result.head["engine"]), _native.engine()
    if now != stored:
        return f"Plotted by version {now}, which does not reproduce the trial that version {stored} stored."
    return "This is not the trial that was stored: a file of its scenario or of a controller has changed since."


def _interval(row: Mapping[str, Any], column: str, unit: str) -> str:
    def rounded(value: float | None) -> str:
        return "-" if value is None else f"{value:.4g}"

    median = rounded(row[column])
    return (
        f"{median} {unit} [{rounded(row[f'{column}.low'])}, {rounded(row[f'{column}.high'])}]"
        if median != "-"
        else text(None)
    )
