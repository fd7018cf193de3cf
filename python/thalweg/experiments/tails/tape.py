"""A tape as the text of the key `noise.tape`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thalweg.experiments.tails.subset import Seeds

KEY = "noise.tape"


def tape_text(seeds: Seeds) -> str:
    """Blocks with their seeds, neighbours of one seed together.

    >>> tape_text(np.array([7, 7, 3, 7], dtype=np.uint64))
    '0-1:7 2:3 3:7'
    """
    begins = [0, *(int(place) for place in np.flatnonzero(np.diff(seeds)) + 1), len(seeds)]
    return " ".join(
        f"{first}{f'-{after - 1}' if after - first > 1 else ''}:{seeds[first]}"
        for first, after in pairwise(begins)
    )
