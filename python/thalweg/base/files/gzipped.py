"""Files that may be packed by gzip, unpacked up to a size: a small file can unpack to any."""

from __future__ import annotations

import gzip
import io
import zlib

_MAGIC = b"\x1f\x8b"
"""The first bytes of a member (RFC 1952, section 2.3.1)."""


def unpacked(data: bytes, most: int) -> bytes:
    """The bytes, unpacked if they are packed; `most` is a whole number of MiB. Raises ValueError with why not."""
    if not data.startswith(_MAGIC):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as opened:
            found = opened.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"its gzip is damaged ({error})") from None
    if len(found) > most:
        raise ValueError(f"it has more than {most >> 20} MiB when it is unpacked")
    return found
