"""Opening the lab in a browser without the token among the arguments of a program, where all users can read it."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opener(address: str) -> Iterator[str]:
    """Lends the address of a file that leads to `address`. Only this user can read it, and it goes at the end.

    >>> with opener("http://127.0.0.1:1/?token=x") as page:
    ...     "token" in page
    False
    """
    with tempfile.TemporaryDirectory(prefix="thalweg-lab-") as folder:  # which has mode 0700
        file = Path(folder) / "lab.html"
        target = html.escape(address)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Thalweg lab</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">Thalweg lab</a>\n',
            encoding="utf-8",
        )
        yield file.as_uri()
