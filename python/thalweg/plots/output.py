"""Writing figures to files: HTML that needs no network, PNG, SVG, PDF."""

from __future__ import annotations

from pathlib import Path

from thalweg.errors import RequestError
from thalweg.plots.theme import Chart

FORMATS = (".html", ".png", ".svg", ".pdf")


def save(chart: Chart, file: str | Path) -> None:
    """Writes a figure; the ending of the name chooses the format. Raises RequestError."""
    target = Path(file)
    if target.suffix not in FORMATS:
        raise RequestError(f"{target}: a figure ends in one of {', '.join(FORMATS)}")
    try:
        if target.suffix == ".html":
            chart.save(str(target), inline=True)
        else:
            chart.save(str(target), scale_factor=2 if target.suffix == ".png" else 1)
    except OSError as error:
        raise RequestError(f"cannot write {target}: {error.strerror or error}") from None
