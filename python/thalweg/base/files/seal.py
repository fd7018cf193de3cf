"""Hashes of what is stored, so that no damage changes a number in silence.

A document in JSON ends with the SHA-256 of all that is before it:

    ...
      "wall_s": 1.5,
      "sha256": "..."
    }

and it has the SHA-256 of each file that belongs to it. They are against damage: whoever changes a file on purpose
can write its hash too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from thalweg.base.errors import ResultError

KEY = "sha256"
_END = "\n}\n"
_SEAL = re.compile(rb',\n  "sha256": "([0-9a-f]{64})"\n\}\n\Z')
HASH = re.compile(r"[0-9a-f]{64}")


def hash_of(file: Path, prefix: bytes = b"") -> str:
    """The SHA-256 of `prefix` and all bytes of a file. Raises ResultError if it cannot be read."""
    state = hashlib.sha256(prefix)
    try:
        with file.open("rb") as data:
            return hashlib.file_digest(data, lambda: state).hexdigest()
    except OSError as error:
        raise ResultError(f"cannot read {file}: {error.strerror}") from None


def sealed(text: str) -> str:
    """A document, an object of JSON with an indent of two, with its seal."""
    assert text.endswith(_END)
    body = text.removesuffix(_END)
    return f'{body},\n  "{KEY}": "{hashlib.sha256(body.encode()).hexdigest()}"{_END}'


def is_whole(data: bytes) -> bool:
    """Whether the bytes of a sealed document are those that were written."""
    seal = _SEAL.search(data)
    return seal is not None and hashlib.sha256(data[: seal.start()]).hexdigest().encode() == seal[1]


def check_file(file: Path, hashes: Mapping[str, str], name: str, repair: str) -> None:
    """Refuses a file that is not the one with this name when its document was written. Raises ResultError."""
    if name not in hashes:
        raise ResultError(f"{file} was added later; accepted: a folder as it was written. {repair}")
    if not file.is_file() or hash_of(file) != hashes[name]:
        raise ResultError(f"{file} is damaged: it is not as it was written. {repair}")
