"""Files that are there whole or not at all: whatever stops the writing, what was there before stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from thalweg.errors import RequestError


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Lends a file beside `target` to write to, and puts it in its place when all is written.

    If anything goes wrong in between, Ctrl-C included, the file is removed. A device or a pipe takes what it
    gets, and so does a file in a folder that takes no other. Raises RequestError if the file cannot be written.
    """
    final = target.resolve()  # a link stays, and what it points to is replaced
    direct = final.exists() and (not final.is_file() or not os.access(final.parent, os.W_OK))
    # The ending stays last: it chooses the format of traces and figures.
    partial = final if direct else final.with_name(f".{final.stem}.partial{final.suffix}")
    try:
        yield partial
        if not direct:
            partial.replace(final)
    except (OSError, pl.exceptions.PolarsError) as error:
        # A disk that fills while Parquet is written is an error of Polars.
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot write {target}: {reason}") from None
    finally:
        if not direct:
            partial.unlink(missing_ok=True)
