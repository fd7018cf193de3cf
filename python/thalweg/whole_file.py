"""Files that are there whole or not at all: whatever stops the writing, what was there before stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from thalweg.errors import RequestError


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Lends a file beside `target` to write to, and puts it in its place when all is written.

    If anything goes wrong in between, Ctrl-C included, the file is removed. The new file has the mode and the
    owner of the old one. A device or a pipe takes what it gets, and so does a file in a folder that takes no
    other. Raises RequestError if the file cannot be written.
    """
    partial: Path | None = None
    try:
        if _takes_what_it_gets(target):
            yield target
            return
        final = target.resolve()  # a link stays, and what it points to is replaced
        handle, name = tempfile.mkstemp(prefix=".", suffix=final.suffix, dir=final.parent)
        os.close(handle)
        partial = Path(name)  # the ending stays: it chooses the format of traces and figures
        yield partial
        _put_in_place(partial, final)
    except (OSError, RuntimeError, pl.exceptions.PolarsError) as error:
        # A disk that fills while Parquet is written is an error of Polars, a loop of links a RuntimeError.
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot write {target}: {reason}") from None
    finally:
        if partial:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


def _takes_what_it_gets(target: Path) -> bool:
    """Whether the file is no regular one, is an open file of this process, or its folder takes no other."""
    if not target.exists():
        return False
    if not target.is_file() or target.absolute().parts[1:2] in (("dev",), ("proc",)):
        return True
    return not os.access(target.resolve().parent, os.W_OK)


def _put_in_place(partial: Path, final: Path) -> None:
    """Replaces `final`; a file that may be written but not replaced, as a mounted one, is overwritten."""
    if not final.exists():
        partial.chmod(0o666 & ~_umask())
        partial.replace(final)
        return
    old = final.stat()
    partial.chmod(old.st_mode & 0o7777)
    if os.geteuid() == 0:
        os.chown(partial, old.st_uid, old.st_gid)
    try:
        partial.replace(final)
    except OSError:
        if not os.access(final, os.W_OK):
            raise
        shutil.copyfile(partial, final)


def _umask() -> int:
    """The mask of new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
