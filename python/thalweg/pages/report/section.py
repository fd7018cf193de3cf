"""A section of a page: figures of one scenario, or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thalweg.pages.figures import Chart


@dataclass(frozen=True)
class Section:
    """Figures of one scenario of a study, drawn when the page is made."""

    name: str
    """Unique within the page."""
    title: str
    toml: str
    """The scenario file as it ran; empty for figures of several scenarios."""
    draw: Callable[[], Chart | Sequence[Chart]]

    def charts(self) -> Sequence[Chart]:
        """Draws them."""
        drawn = self.draw()
        return drawn if isinstance(drawn, Sequence) else [drawn]
