"""Answers as bytes: a header in JSON, then the values of columns as they lie in memory.

The header is preceded by its length (four bytes, little endian) and padded with spaces so that values begin at a
multiple of eight. In it, `{"at": OFFSET, "length": COUNT, "kind": KIND}` stands for an array: `f8` (also counts,
exact to 2^53), `u8` (seeds), `u1` (truth values) or `u4` (indices of words).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from thalweg._native import Column, Columns


def packed(answer: Mapping[str, Any], tables: Mapping[str, Mapping[str, Columns]] | None = None) -> bytes:
    """An answer, with the columns of named groups of tables.

    >>> packed({"id": 1})[4:].decode().strip()
    '{"id": 1}'
    """
    values: list[bytes] = []
    length = 0

    def stored(array: np.ndarray[Any, np.dtype[Any]], kind: str) -> dict[str, Any]:
        nonlocal length
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        at = length
        values.extend((data, bytes(-len(data) % 8)))
        length += len(data) + -len(data) % 8
        return {"at": at, "length": len(array), "kind": kind}

    def column(given: Column) -> object:
        match given:
            case (indices, words):
                return {"indices": stored(np.asarray(indices), "u4"), "words": words}
            case list():
                return given
            case np.ndarray() if given.dtype == np.uint64:
                return stored(given, "u8")
            case np.ndarray() if given.dtype == np.bool_:
                return stored(given, "u1")
            case _:
                return stored(np.asarray(given), "f8")

    groups = {
        group: {name: {key: column(value) for key, value in columns.items()} for name, columns in inner.items()}
        for group, inner in (tables or {}).items()
    }
    header = json.dumps({**answer, **groups}).encode()
    header += b" " * (-(len(header) + 4) % 8)
    return b"".join([struct.pack("<I", len(header)), header, *values])
