"""Writing figures to files: HTML that needs no network, PNG, SVG, PDF."""

from __future__ import annotations

from pathlib import Path

from thalweg.errors import RequestError
from thalweg.plots.theme import Chart
from thalweg.script_json import ScriptJson
from thalweg.store.whole_file import whole_file

FORMATS = (".html", ".png", ".svg", ".pdf")


def save(chart: Chart, file: str | Path) -> None:
    """Writes a figure, whole or not at all; the ending of the name chooses the format. Raises RequestError."""
    target = Path(file)
    if target.suffix not in FORMATS:
        raise RequestError(f"{target}: a figure ends in one of {', '.join(FORMATS)}")
    with whole_file(target) as partial:
        if target.suffix == ".html":
            chart.save(str(partial), inline=True, json_kwds={"cls": ScriptJson})
        else:
            chart.save(str(partial), scale_factor=2 if target.suffix == ".png" else 1)
