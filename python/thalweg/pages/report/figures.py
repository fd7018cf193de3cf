"""The figures of a page until it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from markupsafe import Markup

from thalweg.pages.figures import Chart
from thalweg.pages.figures.figure import figure
from thalweg.pages.figures.page import embedded, packed_figure


@dataclass(frozen=True)
class Packed:
    """A figure that waits for its page."""

    data: Markup
    description: str
    notes: Mapping[str, str]
    height: int
    """In pixels, about."""


class Figures:
    """What is drawn, by the name of its place.

    The page of a suite carries more than 10 MB of figures, and they stand at its end: they wait packed, in a
    fifth of that.
    """

    def __init__(self) -> None:
        self._packed: dict[str, Packed] = {}

    def __setitem__(self, anchor: str, chart: Chart) -> None:
        drawn = figure(chart)
        self._packed[anchor] = Packed(packed_figure(drawn), drawn.description, drawn.notes, drawn.height_px)

    def __ior__(self, others: Figures) -> Self:
        """Takes in figures that others have packed."""
        self._packed |= others._packed
        return self

    def __iter__(self) -> Iterator[str]:
        """The places, in insertion order."""
        return iter(self._packed)

    def __getitem__(self, anchor: str) -> Packed:
        return self._packed[anchor]

    def items(self) -> Iterator[tuple[Markup, Markup]]:
        """Places and packed figures, in insertion order."""
        for anchor, drawn in self._packed.items():
            yield embedded(anchor), drawn.data
