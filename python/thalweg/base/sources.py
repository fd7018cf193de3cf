"""A hash of the sources of this package in Python: what they compute is known by it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def sources_hash() -> str:
    """The hash of all modules: any change of one gives another. The engine has its own, `_native.engine()`."""
    state = hashlib.blake2b(digest_size=16)
    for file in sorted(_PACKAGE.rglob("*.py")):
        state.update(f"{file.relative_to(_PACKAGE)}\n".encode() + file.read_bytes() + b"\n")
    return state.hexdigest()
