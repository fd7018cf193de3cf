"""`thalweg sweep report`: a page, or figures for papers, of what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.extras import require
from thalweg.base.quantity import millimetres
from thalweg.cli.console import Bar, note
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import PLOT_FORMATS, Quiet, check_writable
from thalweg.cli.status import PASSED
from thalweg.experiments.sweep.report.view import TRACES, view_of
from thalweg.experiments.sweep.result import SweepResult


def report(
    store: Annotated[Path, typer.Argument(metavar="DIR", help="The store of a sweep.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page [DIR/report.html].")
    ] = None,
    axes: Annotated[
        str | None,
        typer.Option(metavar="KEY,KEY", help="Up to three axes: across, down and by colour, in panels."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Metric to show, e.g. loss or flow.main.completion_s; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only points with this value; may be repeated.")
    ] = None,
    traces: Annotated[
        int, typer.Option(min=0, max=1000, help="Number of points with the figure of a trial on the page.")
    ] = TRACES,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Write the first figure instead: .pdf, .svg, .png or .html."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTH", help="Width of a figure for print, e.g. 88mm, with --plot.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Write one page that needs no network: heat maps, small multiples, and throughput against delay.

    Example: `thalweg sweep report results/plan --axes path.rtt,controller.main`
    """
    result = SweepResult.load(store)
    keys = [key.strip() for key in axes.split(",")] if axes is not None else []
    chosen = dict(_pair(entry) for entry in only or ())
    if plot is None:
        if size is not None:
            raise RequestError("--size requires --plot, as in --plot FILE.pdf --size 88mm")
        page = out or store / "report.html"
        if out is None and page.is_symlink():
            raise RequestError(f"{page} is a link; accepted: --out FILE")
        if page.suffix not in (".html", ".htm"):
            raise RequestError(f"--out {page}: the name must end in .html")
        check_writable(page)
        from thalweg.experiments.sweep.report.page import write_sweep  # noqa: PLC0415 - its templates are not for help

        with Bar() as bar, stopped_by_terminate():
            write_sweep(result, page, keys, metric or (), chosen, traces, bar.show)
        note(f"wrote {page}")
        return PASSED
    if plot.suffix not in PLOT_FORMATS:
        raise RequestError(f"--plot {plot}: accepted: a name that ends in {', '.join(PLOT_FORMATS)}")
    check_writable(plot)
    is_page = plot.suffix == ".html"
    if not is_page:
        require("plots", f"--plot {plot}")
    from thalweg.experiments.sweep.report.figures import plot_sweep  # noqa: PLC0415 - nor is this

    view = view_of(result, keys, metric or (), chosen)
    figure = plot_sweep(view, view.metrics[0], str(result.head["name"]), brushes=is_page, trade=not metric)
    width = millimetres(size, "--size") if size is not None else None
    figure.save(plot, width, "screen" if is_page else "paper")
    note(f"wrote {plot}")
    return PASSED


def _pair(entry: str) -> tuple[str, str]:
    key, equals, value = entry.partition("=")
    if not equals or not key:
        raise RequestError(
            f"--only {entry!r}: accepted: an axis and one of its values, such as path.rate='5 Mbps'"
        )
    return key.strip(), value.strip()
