"""A strip: every trial of a row as a line between marks, small enough to stand in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from thalweg.quantity import text
from thalweg.statistics.interval import Values

_WIDTH, _HEIGHT = 1000.0, 20
"""Size of the strip, in its own units; lines closer than one unit are merged."""


@dataclass(frozen=True)
class Strip:
    """What a strip shows."""

    values: Values
    """Of the trials, in `unit`; those that are not finite have no line."""
    unit: str
    bound: float
    """What the trials are set against, in `unit`."""
    called: str = "target"
    """What `bound` is."""
    side: Literal["at_most", "at_least"] | None = None
    """On which side of `bound` trials should lie; those on the other are painted so. None: on none."""
    floor: float | None = None
    """The least that the path allows, in `unit`."""
    most: float | None = None
    """The strip reaches from 0 to this at least, in `unit`: several so have one scale. None: as far as it must."""
    words: str = ""
    """For screen readers; empty: the number of trials, their median and range, and the marks."""

    @property
    def markup(self) -> Markup:
        """The picture, with a text for screen readers.

        >>> strip = Strip(np.array([1.0, 2.0, 4.0]), "s", 3.0, side="at_most")
        >>> "3 trials, median 2 s, 1 s to 4 s, target 3 s" in strip.markup
        True
        """
        finite = self.values[np.isfinite(self.values)]
        marks = [self.bound, *([self.floor] if self.floor is not None else [])]
        marks += [0.0, self.most] if self.most is not None else []
        low, high = float(min([*marks, *finite])), float(max([*marks, *finite]))
        room = 0.02 * ((high - low) or 1.0)

        def lines(places: Sequence[float], kind: str) -> Markup:
            at = {round(_WIDTH * (value - low + room) / (high - low + 2 * room)) for value in places}
            path = "".join(f"M{x} 0V{_HEIGHT}" for x in sorted(at))
            return Markup('<path class="{}" d="{}"/>').format(kind, path) if path else Markup("")

        over = np.zeros(len(finite), dtype=bool)
        if self.side is not None:
            over = finite > self.bound if self.side == "at_most" else finite < self.bound
        words = self.words or self._words(finite)
        return Markup(
            '<svg class="strip" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
            "<title>{}</title>{}{}{}{}</svg>"
        ).format(
            int(_WIDTH),
            _HEIGHT,
            words,
            words,
            lines([] if self.floor is None else [self.floor], "floor"),
            lines(finite[~over].tolist(), "held"),
            lines(finite[over].tolist(), "over"),
            lines([self.bound], "target"),
        )

    def _words(self, finite: Values) -> str:
        def told(value: float) -> str:
            return text(value, self.unit)

        parts = [f"{len(self.values)} trials"]
        if len(finite) > 0:
            parts += [f"median {told(float(np.median(finite)))}", f"{told(finite.min())} to {told(finite.max())}"]
        if self.floor is not None:
            parts.append(f"floor {told(self.floor)}")
        return ", ".join([*parts, f"{self.called} {told(self.bound)}"])


@dataclass(frozen=True)
class Strips:
    """A column of strips for the table of a study."""

    header: str
    legend: str
    """What the strips of all rows show, in sentences."""
    rows: Sequence[Strip]
    """One for each row of the table."""
