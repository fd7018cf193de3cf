"""Where modules are looked for: not among the files of the lab."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def leave_out(folder: Path) -> None:
    """Takes a folder from the places of modules, and what depends on the current folder.

    `python -m` puts the current folder first: a file `numpy.py` among the scenarios would then run in the
    processes of trials.
    """
    own = os.path.realpath(folder)
    sys.path[:] = [place for place in sys.path if place and os.path.realpath(place) != own]
