"""Which points of a space a sweep takes: all of a grid, or n drawn ones.

Drawn points come from numpy or from scipy's `qmc`: Latin hypercube (McKay, Beckman and Conover 1979), and Sobol's
sequence, scrambled. The first n points of `random` and `sobol` stay what they are when more are asked for, so that
a sweep can grow; the points of `latin-hypercube` do not. Axes that are tied go together, as one dimension.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.extras import require
from thalweg.base.toml import shown
from thalweg.experiments.sweep.axis import Axis, Range, Value, range_of

if TYPE_CHECKING:
    import numpy.typing as npt


KINDS = ("grid", "random", "latin-hypercube", "sobol")
MOST_POINTS = 10**6
"""The most points of a design, which are all held in memory; a grid is not."""
_COUNTED = 10**7
"""Points of a grid that are counted one by one if some are excluded."""


@dataclass(frozen=True)
class Design:
    """How points are chosen."""

    kind: str = "grid"
    points: int = 0
    seed: int = 1


def read_design(given: Any) -> Design:
    """The design that a plan names. Raises RequestError, whose message lacks the key."""
    table = {"kind": given} if isinstance(given, str) else given
    accepted = '"grid", or { kind = "sobol", points = 64 }'
    if not isinstance(table, Mapping):
        raise RequestError(f"accepted: {accepted}")
    for key in table:
        if key not in ("kind", "points", "seed"):
            raise RequestError(f"unknown key {key!r}{did_you_mean(key, ('kind', 'points', 'seed'))}")
    kind = table.get("kind", "grid")
    if kind not in KINDS:
        raise RequestError(f"kind = {shown(kind)}{did_you_mean(str(kind), KINDS)}; accepted: {', '.join(KINDS)}")
    points, seed = table.get("points"), table.get("seed", 1)
    if kind == "grid":
        if len(table) > 1:
            raise RequestError("points and seed cannot be combined with a grid, which has the points of its axes")
        return Design()
    if not isinstance(points, int) or isinstance(points, bool) or not 1 <= points <= MOST_POINTS:
        missing = "points is missing" if points is None else f"points = {shown(points)}"
        raise RequestError(f"{missing}; accepted: a whole number, 1 to {MOST_POINTS}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise RequestError(f"seed = {shown(seed)}: accepted: a whole number, 0 to 2^63 - 1")
    return Design(kind, points, seed)


class Condition(Protocol):
    """What a value has to be for a point to be left out."""

    def __call__(self, value: Value) -> bool:
        """Whether this value is meant."""


def read_condition(given: Any) -> Condition:
    """A value, a list of values, or a range. Raises RequestError."""
    if isinstance(given, Mapping):
        spacing = range_of({**given, "scale": "linear"})
        return _within(spacing)
    entries = given if isinstance(given, list | tuple) else [given]
    if not entries:
        raise RequestError('accepted: a value, a list of values, or { from = "1 ms", to = "5 ms" }')
    wanted = [Value.of(entry) for entry in entries]
    return lambda value: any(_same(value, other) for other in wanted)


def _same(value: Value, other: Value) -> bool:
    if value.number is None or other.number is None:
        return value.text == other.text
    return value.unit == other.unit and math.isclose(value.number, other.number, rel_tol=1e-9)


def _within(spacing: Range) -> Condition:
    ends = sorted(spacing.at(share).number or 0.0 for share in (0, 1))
    unit = spacing.at(0).unit

    def holds(value: Value) -> bool:
        return value.number is not None and value.unit == unit and ends[0] <= value.number <= ends[1]

    return holds


Exclusion = Mapping[int, Condition]
"""By the number of an axis; a point is left out if all hold."""


@dataclass(frozen=True)
class Space:
    """Axes, which of them go together, and which points are left out."""

    axes: tuple[Axis, ...]
    tied: tuple[tuple[int, ...], ...]
    """Numbers of axes that go together; every other axis is by itself."""
    exclusions: tuple[Exclusion, ...]
    design: Design

    @cached_property
    def dimensions(self) -> list[tuple[int, ...]]:
        """Groups of axes that vary together, in the order of the plan."""
        first = {group[0]: group for group in self.tied}
        alone = set(range(len(self.axes))) - {axis for group in self.tied for axis in group}
        return [first.get(axis, (axis,)) for axis in range(len(self.axes)) if axis in first or axis in alone]

    @cached_property
    def _lengths(self) -> list[int]:
        return [len(self.axes[group[0]].values) for group in self.dimensions]

    @cached_property
    def size(self) -> int:
        """Points before any are left out."""
        return math.prod(self._lengths) if self.design.kind == "grid" else self.design.points

    @cached_property
    def count(self) -> int:
        """Points; of a grid of more than ten million, those that are left out count too."""
        if not self.exclusions or self.size > _COUNTED:
            return self.size
        return sum(len(numbers) for numbers in self._blocks(1 << 16))

    def points(self, most: int) -> Iterator[list[tuple[int, tuple[Value, ...]]]]:
        """All points with their numbers, in lists of about `most`; the numbers of those left out are missing."""
        for numbers in self._blocks(most):
            if len(numbers):
                yield [(int(number), self.at(int(number))) for number in numbers]

    def at(self, number: int) -> tuple[Value, ...]:
        """The values of a point, axis by axis."""
        values: list[Value | None] = [None] * len(self.axes)
        if self.design.kind == "grid":
            for group, length in zip(reversed(self.dimensions), reversed(self._lengths), strict=True):
                number, step = divmod(number, length)
                for axis in group:
                    values[axis] = self.axes[axis].values[step]
        else:
            for group, share in zip(self.dimensions, self._drawn[number], strict=True):
                for axis in group:
                    values[axis] = self.axes[axis].at(float(share))
        return tuple(value for value in values if value is not None)

    def spread(self, most: int) -> list[int]:
        """Numbers of up to `most` points from all over the space."""
        drawn = np.random.default_rng(1).integers(0, self.size, 64 * most, dtype=np.uint64)
        numbers = range(self.size) if self.size <= most else dict.fromkeys(int(number) for number in drawn)
        kept = (number for number in numbers if not self.is_excluded(self.at(number)))
        return [number for number, _ in zip(kept, range(most), strict=False)]

    def _blocks(self, most: int) -> Iterator[npt.NDArray[np.int64]]:
        for start in range(0, self.size, most):
            numbers = np.arange(start, min(start + most, self.size), dtype=np.int64)
            yield numbers[~self._left_out(numbers)] if self.exclusions else numbers

    def _left_out(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        if self.design.kind != "grid":
            return np.array([self.is_excluded(self.at(int(number))) for number in numbers], dtype=np.bool_)
        steps: dict[int, npt.NDArray[np.int64]] = {}
        rest = numbers
        for group, length in zip(reversed(self.dimensions), reversed(self._lengths), strict=True):
            rest, step = np.divmod(rest, length)
            steps |= dict.fromkeys(group, step)
        out = np.zeros(len(numbers), dtype=np.bool_)
        for masks in self._masks:
            holds = np.ones(len(numbers), dtype=np.bool_)
            for axis, mask in masks.items():
                holds &= mask[steps[axis]]
            out |= holds
        return out

    @cached_property
    def _masks(self) -> list[dict[int, npt.NDArray[np.bool_]]]:
        """For each exclusion, and each of its axes, the values that it means."""
        return [
            {
                axis: np.array([holds(value) for value in self.axes[axis].values])
                for axis, holds in exclusion.items()
            }
            for exclusion in self.exclusions
        ]

    def is_excluded(self, values: Sequence[Value]) -> bool:
        """Whether a point with these values, axis by axis, is left out."""
        return any(all(holds(values[axis]) for axis, holds in exclusion.items()) for exclusion in self.exclusions)

    @cached_property
    def _drawn(self) -> npt.NDArray[np.float64]:
        """A share of each dimension for each point."""
        n, dimensions, seed = self.design.points, len(self.dimensions), self.design.seed
        if self.design.kind == "random":
            return np.random.default_rng(seed).random((n, dimensions))
        require("fits", f"a design of kind {self.design.kind}")
        from scipy.stats import qmc  # noqa: PLC0415 - takes half a second to load

        if self.design.kind == "latin-hypercube":
            return np.asarray(qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(n))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers of points that are not a power of two
            return np.asarray(qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random(n))
