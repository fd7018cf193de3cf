"""`thalweg compare --plot`: stored results as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.base.errors import RequestError
from thalweg.base.quantity import millimetres
from thalweg.cli.console import note
from thalweg.cli.options import check_figure
from thalweg.cli.plot import Theme
from thalweg.experiments.comparison import Side
from thalweg.experiments.comparison.suite import StoredSuite
from thalweg.results.comparison.tables import labelled

__all__ = ["Drawing", "Theme"]


@dataclass(frozen=True)
class Drawing:
    """What is asked of the figure."""

    file: Path
    only: Sequence[str] | None
    metrics: Sequence[str] | None
    width_mm: float | None
    theme: Theme

    @staticmethod
    def read(
        file: Path | None, only: list[str] | None, metrics: list[str] | None, size: str | None, theme: Theme
    ) -> Drawing | None:
        """The options of a figure; None without one. Raises RequestError for what could not be drawn."""
        if file is None:
            for option, given in (("--only", only), ("--metric", metrics), ("--size", size)):
                if given:
                    raise RequestError(f"{option} requires --plot, as in --plot FILE.pdf {option} ...")
            return None
        check_figure("--plot", file)
        width_mm = None if size is None else millimetres(size, "--size")
        if width_mm is not None and file.suffix == ".html":
            raise RequestError("--size cannot be combined with a page (.html), which is as wide as its window")
        return Drawing(file, only, metrics, width_mm, theme)

    def draw(self, sides: Sequence[Side]) -> None:
        """Writes the figure of suites. Raises RequestError."""
        results = [side.result for side in sides if isinstance(side, StoredSuite)]
        if not results:
            raise RequestError(f"--plot draws results of suites and runs, and these are of a {sides[0].kind}")
        from thalweg.pages.figures import plot_comparison  # noqa: PLC0415 - most comparisons draw nothing

        plot_comparison(labelled(results), self.only, self.metrics).save(
            self.file, self.width_mm, self.theme.value
        )
        note(f"wrote {self.file}")
