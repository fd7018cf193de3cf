"""The document of a stored experiment, `experiment.json`: a head that is the same for all, and what its kind adds.

    {
      "format": "thalweg-experiment/1",
      "kind": "suite", "study", "sweep", "hunt" or "tails"; "gate", "bench", "score" and "tune" are in no folder
      "name": ...,     "the suite, the study or the scenario; null for a scenario file on its own"
      "title", "source", "version", "engine", "host", "started", "command", "seed", "trials", "wall_s", "core_s",
      ...
      "hashes": ...,   "the SHA-256 of each table next to it"
      "sha256": ...    "of all bytes before it: `seal.py`"
    }

Whoever wrote it, what is read has the right types.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Never, TypeAlias, get_args

from thalweg.base.errors import ResultError
from thalweg.base.files.seal import HASH, KEY, is_whole

DOCUMENT = "experiment.json"
FORMAT = "thalweg-experiment/1"
Kind: TypeAlias = Literal["suite", "study", "sweep", "hunt", "tails"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Printed: TypeAlias = Kind | Literal["gate", "bench", "score", "tune"]
"""The kinds of which a command prints a document with this head, those included that are not stored."""
_LARGEST = 256 << 20
"""A larger document is none of ours: the longest traces that a scenario may name have 32 MiB."""
_BEGINNING = re.compile(rb'\{\s*"format":\s*"' + FORMAT.encode() + rb'",\s*"kind":\s*"([a-z]+)"')
_PEEKED = 200
"""Bytes in which a document that we wrote says what it is."""

Types: TypeAlias = Mapping[str, tuple[type, ...]]
"""What a table has: its keys, and the kinds of their values."""
NUMBER = (int, float)
HEAD: Types = {
    "format": (str,),
    "kind": (str,),
    "name": (str, NoneType),
    "title": (str,),
    "source": (str, NoneType),
    "version": (str,),
    "engine": (str,),
    "host": (dict,),
    "started": (str,),
    "command": (str,),
    "seed": (int,),
    "trials": (int,),
    "wall_s": NUMBER,
    "core_s": NUMBER,
}
"""What every document begins with."""
_HOST: Types = {"system": (str,), "processor": (str,), "cores": (int,)}
_HASHES = "hashes"
_WORDS = {str: "text", int: "a whole number", float: "a number", dict: "a table", list: "a list"}
_WORDS |= {bool: "true or false", NoneType: "null"}


def in_words(kind: Kind) -> str:
    """A kind in a sentence.

    >>> in_words("suite"), in_words("tails")
    ('a suite', 'tails')
    """
    return kind if kind == "tails" else f"a {kind}"


def kind_of(file: Path) -> Kind:
    """What kind of experiment a document is of. Raises ResultError.

    Only its beginning is read, if it is as we write it: documents with the scenarios of a suite are long.
    """
    try:
        with file.open("rb") as data:
            begins = _BEGINNING.match(data.read(_PEEKED))
    except OSError as error:
        raise ResultError(f"cannot read {file}: {error.strerror}") from None
    return _kind(file, begins[1].decode() if begins else _of_this_version(file, parse(file)).get("kind"))


def read(file: Path) -> dict[str, Any]:
    """The document of an experiment, with its head checked. Raises ResultError."""
    document = _of_this_version(file, parse(file))
    check(file, "", document, HEAD)
    check(file, "host.", document["host"], _HOST)
    if not 0 <= document["seed"] < 2**64:
        refuse(file, "seed", document["seed"], "0 to 2^64 - 1")
    if document["trials"] < 0:
        refuse(file, "trials", document["trials"], "0 or more")
    return document


def read_hashes(file: Path, document: Mapping[str, Any]) -> dict[str, str] | None:
    """The hashes of the files that belong to a document; None if it has none. Raises ResultError."""
    hashes = document.get(_HASHES)
    if hashes is None:
        return None
    if not isinstance(hashes, dict):
        refuse(file, _HASHES, hashes, "a table")
    for name, found in hashes.items():
        if not (isinstance(found, str) and HASH.fullmatch(found)):
            refuse(file, f"{_HASHES}.{name}", found, "64 hexadecimal digits")
    return hashes


def parse(file: Path) -> Any:
    """What the JSON in a file says, without its seal. Raises ResultError if it has one and was changed since."""
    try:
        if file.stat().st_size > _LARGEST:
            raise ResultError(f"cannot read {file}: it is larger than {_LARGEST >> 20} MiB")
        data = file.read_bytes()
        document = json.loads(data.decode())
        for text in _texts(document):
            text.encode()
    except OSError as error:
        raise ResultError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeError:
        raise ResultError(f"{file}: this is not text in UTF-8") from None
    except ValueError as error:
        raise ResultError(f"{file}: this is not JSON ({error}); accepted: the file as it was") from None
    except RecursionError:
        raise ResultError(f"{file}: values are nested too deeply") from None
    if isinstance(document, dict) and document.pop(KEY, None) is not None and not is_whole(data):
        raise ResultError(
            f"{file} is damaged: it is not as it was written (its {KEY} differs); accepted: the file as it was, "
            f"or without {KEY} if it was changed on purpose"
        )
    return document


def table(file: Path, key: str, value: Any) -> dict[str, Any]:
    """A value that has to be a table. Raises ResultError."""
    if not isinstance(value, dict):
        refuse(file, key, value, "a table")
    return value


def check(file: Path, prefix: str, found: Mapping[str, Any], types: Types) -> None:
    """Refuses a table that lacks a key, or has something else there. Raises ResultError."""
    for key, accepted in types.items():
        words = " or ".join(_WORDS[kind] for kind in accepted)
        if key not in found:
            raise ResultError(f"{file}: {prefix}{key} is missing; accepted: {words}")
        value = found[key]
        fits = isinstance(value, accepted)
        if isinstance(value, bool):  # for Python, a number
            fits = bool in accepted
        elif isinstance(value, int):
            fits = fits and abs(value) < 2**64
        elif isinstance(value, float):
            fits = fits and math.isfinite(value)
        if not fits:
            refuse(file, f"{prefix}{key}", value, words)


def refuse(file: Path, key: str, value: Any, accepted: str) -> Never:
    """Refuses a value of a document. Raises ResultError."""
    shown = json.dumps(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    raise ResultError(f"{file}: {key} = {shown}; accepted: {accepted}")


def _of_this_version(file: Path, document: Any) -> dict[str, Any]:
    """A document, if it is of an experiment of this version. Raises ResultError."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{file}: this is not an experiment that this version reads ({FORMAT}); run it again")
    return document


def _kind(file: Path, found: object) -> Kind:
    """The kind that a document says it is of. Raises ResultError if there is none of this name."""
    return next((kind for kind in KINDS if kind == found), None) or refuse(file, "kind", found, ", ".join(KINDS))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a document: JSON can hold halves of characters, which no text that is written can."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
