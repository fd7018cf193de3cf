"""A strip: every trial of a row as a line between marks, small enough to stand in a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from thalweg.base.quantity import text
from thalweg.judging.statistics.interval import Values

_WIDTH, _HEIGHT = 1000.0, 20
"""Size of the strip, in its own units; lines closer than one unit are merged."""
_BEYOND = 3
"""By how much marks are taller at both ends, so that they are seen below many lines, and hide none."""


@dataclass(frozen=True)
class Strip:
    """What a strip shows."""

    values: Values
    """The values of the trials, in `unit`; those that are not finite have no line."""
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    """What the trials are set against, in `unit`: one or two bounds, or none."""
    called: str = "target"
    """What the bounds are."""
    judged: bool = False
    """Whether trials beyond the bounds are painted so."""
    floor: float | None = None
    """The least that the path allows, in `unit`."""
    scale: tuple[float, float] | None = None
    """What the strip spans at least, in `unit`: several so have one scale. None: as far as it must."""
    of: str = ""
    """Whose trials they are, where a row has several strips."""
    words: str = ""
    """For screen readers; empty: the number of trials, their median and range, and the marks."""

    @property
    def markup(self) -> Markup:
        """The picture, with a text for screen readers.

        >>> strip = Strip(np.array([1.0, 2.0, 4.0]), "s", at_most=3.0)
        >>> "3 trials, median 2 s, 1 s to 4 s, target 3 s" in strip.markup
        True
        """
        finite = self.values[np.isfinite(self.values)]
        marks = [mark for mark in (self.at_least, self.at_most) if mark is not None]
        floor = [] if self.floor is None else [self.floor]
        shown = [*marks, *floor, *(self.scale or ()), *finite.tolist()] or [0.0]
        low, high = min(shown), max(shown)
        room = 0.02 * ((high - low) or 1.0)

        def lines(places: Sequence[float], kind: str, beyond: int = 0) -> Markup:
            at = {round(_WIDTH * (value - low + room) / (high - low + 2 * room)) for value in places}
            path = "".join(f"M{x} {-beyond}V{_HEIGHT + beyond}" for x in sorted(at))
            return Markup('<path class="{}" d="{}"/>').format(kind, path) if path else Markup("")

        over = np.zeros(len(finite), dtype=bool)
        if self.judged and self.at_least is not None:
            over |= finite < self.at_least
        if self.judged and self.at_most is not None:
            over |= finite > self.at_most
        words = self.words or self._words(finite, marks)
        return Markup(
            '<svg class="strip" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
            "<title>{}</title>{}{}{}{}</svg>"
        ).format(
            int(_WIDTH),
            _HEIGHT,
            words,
            words,
            lines(floor, "floor"),
            lines(marks, "target", _BEYOND),
            lines(finite[~over].tolist(), "held"),
            lines(finite[over].tolist(), "over"),
        )

    def _words(self, finite: Values, marks: Sequence[float]) -> str:
        def formatted(value: float) -> str:
            return text(value, self.unit)

        n = len(self.values)
        parts = [f"{self.of}: " * bool(self.of) + f"{n} trial{'' if n == 1 else 's'}"]
        if len(finite) > 0:
            parts += [
                f"median {formatted(float(np.median(finite)))}",
                f"{formatted(finite.min())} to {formatted(finite.max())}",
            ]
        if self.floor is not None:
            parts.append(f"floor {formatted(self.floor)}")
        if marks:
            parts.append(f"{self.called} {' to '.join(map(formatted, marks))}")
        if len(finite) < n:
            parts.append(f"{n - len(finite)} without a line")
        return ", ".join(parts)


def span(values: Iterable[Values], *marks: float) -> tuple[float, float]:
    """The least and the largest of all finite values and `marks`, of which there is at least one: a common scale.

    >>> span([np.array([0.5, np.inf]), np.array([2.0])], 0.0, 1.0)
    (0.0, 2.0)
    """
    every = np.concatenate([*values, np.array(marks)])
    finite = every[np.isfinite(every)]
    return float(finite.min()), float(finite.max())


@dataclass(frozen=True)
class Strips:
    """A column of strips for the table of a study."""

    header: str
    legend: str
    """What the strips of all rows show, in sentences."""
    rows: Sequence[Sequence[Strip]]
    """The strips of each row of the table, one below the other; none where the row has no trials of this kind."""
