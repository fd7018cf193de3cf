"""Reading files that users name: regular ones up to a size, so that no read blocks forever or fills the memory.

A FIFO or a device is refused before it is opened, since opening a FIFO waits for a writer. A file that grows while
it is read is refused at the limit.
"""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG

from thalweg.base.errors import RequestError


def read_regular(file: Path, most: int, accepted: str) -> bytes:
    """All bytes of a regular file that has at most `most` of them.

    `accepted` says what the file should be. Raises RequestError.
    """
    try:
        if not S_ISREG(file.stat().st_mode):
            raise RequestError(f"cannot read {file}: it is not a regular file; accepted: {accepted}")
        with file.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        raise RequestError(f"cannot read {file}: {error.strerror or error}") from None
    if len(data) > most:
        raise RequestError(f"cannot read {file}: it has more than {_size(most)}; accepted: {accepted}")
    return data


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
