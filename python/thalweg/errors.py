"""What goes wrong at the user's side of the table: each error is one sentence to act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RequestError(Exception):
    """A request cannot be met as it stands. The message says what to change; the command line exits with 2."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint at the names closest to a mistyped one, or at all of them; empty if there are none.

    >>> did_you_mean("bad-wfi", ["bad-wifi", "satellite"])
    '; did you mean bad-wifi?'
    >>> did_you_mean("x", ["main", "cross"])
    '; known: main, cross'
    """
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; known: {', '.join(names)}" if names else ""


def printable(name: str) -> str:
    r"""A name with its bytes that are not UTF-8 by their numbers.

    >>> printable(b"x\xff".decode(errors="surrogateescape"))
    'x\\udcff'
    """
    return name.encode(errors="backslashreplace").decode()
