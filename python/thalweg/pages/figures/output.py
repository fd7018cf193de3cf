"""Writing figures, ours and those of altair."""

from __future__ import annotations

from pathlib import Path

from thalweg.pages.figures.figure import Chart, Theme, figure


def save(chart: Chart, file: str | Path, size_mm: float | None = None, theme: Theme = "screen") -> None:
    """Writes a figure, whole or not at all; see `Figure.save`. Raises RequestError."""
    figure(chart).save(file, size_mm, theme)
