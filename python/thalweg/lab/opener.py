"""Opening the lab in a browser without the token among the arguments of a program, where all users can read it.

A browser that is a snap sees another `/tmp` than its user, and of the home folder what has no leading dot.
"""

from __future__ import annotations

import html
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SNAPS = Path("/snap")
"""Where this folder is, the browser may be a snap."""


@contextmanager
def opener(address: str) -> Iterator[str]:
    """Lends the address of a file that leads to `address`. Only this user can read it, and it goes at the end.

    >>> with opener("http://127.0.0.1:1/?token=x") as page:
    ...     "token" in page
    False
    """
    with _folder() as folder:  # which has mode 0700
        file = Path(folder) / "lab.html"
        target = html.escape(address)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Thalweg lab</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">Thalweg lab</a>\n',
            encoding="utf-8",
        )
        yield file.as_uri()


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder that the browser can read."""
    if SNAPS.is_dir():
        with suppress(OSError, RuntimeError):  # no home, or none to write to
            return tempfile.TemporaryDirectory(prefix="thalweg-lab-", dir=Path.home())
    return tempfile.TemporaryDirectory(prefix="thalweg-lab-")
