"""A share of a sweep: one of several runs that know nothing of each other, and whose stores are merged."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from thalweg.base.errors import RequestError

_ENOUGH = 16
"""Points for each shard from which on whole points are dealt out; below, the trials of each point are."""
_MOST = 10**5


@dataclass(frozen=True)
class Shard:
    """One of some shards."""

    number: int = 1
    of: int = 1

    @staticmethod
    def read(text: str) -> Shard:
        """The shard that a text such as `3/8` names. Raises RequestError.

        >>> Shard.read("3/8")
        Shard(number=3, of=8)
        """
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= _MOST:
            raise RequestError(f"--shard {text!r}: accepted: a shard and how many there are, such as 1/8 to 8/8")
        return Shard(int(match[1]), int(match[2]))

    def seeds(self, point: int, points: int, seeds: range) -> range:
        """The trials of a point, of so many, that are of this shard.

        Points next to each other cost alike, so they are dealt out by a hash.

        >>> [len(Shard(number, 3).seeds(0, 2, range(1, 11))) for number in (1, 2, 3)]
        [3, 3, 4]
        >>> [len(Shard(number, 3).seeds(5, 100, range(1, 11))) for number in (1, 2, 3)]
        [0, 0, 10]
        """
        if points >= _ENOUGH * self.of:
            mine = zlib.crc32(point.to_bytes(8, "little")) % self.of == self.number - 1
            return seeds if mine else seeds[:0]
        n = len(seeds)
        return seeds[n * (self.number - 1) // self.of : n * self.number // self.of]
