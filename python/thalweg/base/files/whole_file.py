"""Files that are there whole or not at all: whatever stops the writing, what was there before stays.

A file grows under another name next to its target, locked by its writer. The kernel takes the lock away when the
writer ends, however it ends: a file of such a name that nobody has locked is what a killed writer left, and the
next one in that folder removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from thalweg.base.errors import RequestError

_PREFIX = ".thalweg-partial-"
_MUCH = 1 << 16
"""Bytes that a disk which has refused a page has no room for."""
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Lends a file next to `target` to write to, and puts it in its place when all is written.

    If anything goes wrong in between, Ctrl-C included, the file is removed. The new file has the mode and the
    owner of the old one. A device or a pipe takes what it gets, and so does a file in a folder that takes no
    other. Raises RequestError if the file cannot be written.
    """
    partial: Path | None = None
    handle = -1
    try:
        if _takes_what_it_gets(target):
            yield target
            return
        final = target.resolve()  # a link stays, and what it points to is replaced
        remove_abandoned(final.parent)
        handle, partial = _locked_file(final)
        yield partial
        _put_in_place(partial, final)
    except (OSError, RuntimeError, pl.exceptions.PolarsError) as error:
        # A disk that fills while Parquet is written is an error of Polars, a loop of links a RuntimeError.
        raise RequestError(f"cannot write {target}: {reason_of(error, target.parent)}") from None
    finally:
        if partial:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
        if handle >= 0:
            os.close(handle)


def reason_of(error: Exception, folder: Path) -> str:
    """Why nothing could be written to a folder, in words of the system.

    Polars puts them among its own, or leaves them out: then the system is asked again.
    """
    if number := _OS_ERROR.search(str(error)):
        return os.strerror(int(number[1]))
    if isinstance(error, pl.exceptions.PolarsError):
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(_MUCH))
        except OSError as again:
            error = again
    return str(getattr(error, "strerror", None) or error)


def is_partial(file: Path) -> bool:
    """Whether a file has the name of one that grows."""
    return file.name.startswith(_PREFIX)


def remove_abandoned(folder: Path) -> None:
    """Removes from a folder the files that killed writers left; files of active writers stay."""
    for file in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            # Opened for writing, as NFS requires for a lock; a link is not followed, a pipe not waited for.
            handle = os.open(file, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.unlink()
            finally:
                os.close(handle)


def _locked_file(final: Path) -> tuple[int, Path]:
    """Makes a file next to `final` and locks it; its ending stays: it chooses the format of traces and figures."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=final.suffix, dir=final.parent)
        with contextlib.suppress(OSError):  # a file system without locks: then it is never taken for abandoned
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # another writer found it before it was locked


def _takes_what_it_gets(target: Path) -> bool:
    """Whether the file is not a regular one, is an open file of this process, or its folder takes no other."""
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
