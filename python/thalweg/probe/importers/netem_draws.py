"""Normal numbers as netem-trace draws them for a seed: `rand_distr::StandardNormal` on `StdRng` of rand 0.9.

`StdRng` is ChaCha with 12 rounds (D. J. Bernstein 2008), its key made from the seed by PCG (O'Neill 2014); normal
numbers come by the ziggurat of Marsaglia and Tsang (2000) in the variant ZIGNOR of Doornik (2005). Other versions
of rand may draw others, as rand says of `StdRng`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Words: TypeAlias = "npt.NDArray[np.uint32]"

_BLOCKS = 1024
"""Blocks of ChaCha at a time, eight numbers of 64 bits each."""
_R, _V = 3.6541528853610088, 0.00492867323399
"""Where the tail of the ziggurat begins, and the area of each of its 256 layers."""


def standard_normals(seed: int) -> Iterator[float]:
    """Without end.

    >>> draws = standard_normals(42)
    >>> [int(12e6 + 1e6 * next(draws)) for _ in range(2)]
    [12069427, 12132938]
    """
    bits = _bits(seed)
    for word in bits:
        layer = word & 0xFF
        unit = (word >> 12) / 2**51 - 1
        x = unit * _EDGES[layer]
        if abs(x) < _EDGES[layer + 1]:
            yield x
        elif layer == 0:
            yield _tail(bits, unit)
        else:
            above = _DENSITIES[layer + 1] + (_DENSITIES[layer] - _DENSITIES[layer + 1]) * (
                (next(bits) >> 11) / 2**53
            )
            if above < _density(x):
                yield x


def _tail(bits: Iterator[int], unit: float) -> float:
    x, y = 1.0, 0.0
    while -2 * y < x * x:
        x = math.log(_open_unit(next(bits))) / _R
        y = math.log(_open_unit(next(bits)))
    return x - _R if unit < 0 else _R - x


def _open_unit(word: int) -> float:
    return (word >> 12) / 2**52 + 2**-53


def _density(x: float) -> float:
    return math.exp(-x * x / 2)


def _edges() -> list[float]:
    """The right edges of the layers, from the base with its tail to the top."""
    edges = [_V / _density(_R), _R]
    while len(edges) < 256:
        edges.append(math.sqrt(-2 * math.log(_V / edges[-1] + _density(edges[-1]))))
    return [*edges, 0.0]


_EDGES = _edges()
_DENSITIES = [_density(edge) for edge in _EDGES]


def _bits(seed: int) -> Iterator[int]:
    """Numbers of 64 bits."""
    key = list(_key(seed))
    first = 0
    while True:
        words = _chacha12(key, first).astype(np.uint64)
        yield from (words[0::2] | words[1::2] << np.uint64(32)).tolist()
        first += _BLOCKS


def _key(state: int) -> Iterator[int]:
    """`SeedableRng::seed_from_u64`."""
    for _ in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) % 2**64
        word = ((state >> 18 ^ state) >> 27) % 2**32
        turn = state >> 59
        yield (word >> turn | word << 32 - turn) % 2**32


def _chacha12(key: list[int], first: int) -> Words:
    """The words of the blocks from `first` on."""
    constants = np.frombuffer(b"expand 32-byte k", "<u4").tolist()
    counters = np.arange(first, first + _BLOCKS, dtype=np.uint64)
    start = np.empty((16, _BLOCKS), np.uint32)
    start[:12] = np.array([*constants, *key], np.uint32)[:, None]
    start[12], start[13] = counters & np.uint64(2**32 - 1), counters >> np.uint64(32)
    start[14:] = 0
    state = start.copy()
    columns = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    diagonals = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for _ in range(6):
        for quarter in columns + diagonals:
            for (into, by), turn in zip(_steps(*quarter), (16, 12, 8, 7), strict=True):
                state[into[0]] += state[by]
                mixed = state[into[1]] ^ state[into[0]]
                state[into[1]] = mixed << np.uint32(turn) | mixed >> np.uint32(32 - turn)
    return (state + start).T.reshape(-1)


def _steps(a: int, b: int, c: int, d: int) -> list[tuple[tuple[int, int], int]]:
    """A quarter round: `a += b; d ^= a`, `c += d; b ^= c`, twice."""
    return [((a, d), b), ((c, b), d)] * 2
