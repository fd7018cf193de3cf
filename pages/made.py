"""What every made page says of its making, and the parts of pages that are made."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thalweg.studies.runner.study import Finished

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def made(name: str) -> str:
    """The line that names the commit that a page was made with.

    >>> made("l4s").startswith("Made by `make pages PAGES=l4s` with commit ")
    True
    """
    return f"Made by `make pages PAGES={name}` with commit {commit()}."


def commit() -> str:
    """The commit of what measures, and whether anything of it was changed since: when this process began."""
    return _COMMIT


def study(name: str, run: Callable[[], Finished[Any, Any, Any]]) -> Path:
    """The folder of a study, which is run unless it is there of this commit without changes."""
    folder = ROOT / "target" / "pages" / _COMMIT.strip("`") / name
    if not _COMMIT.endswith("`") or not (folder / "study.json").exists():
        finished = run()
        if not finished.complete:
            raise KeyboardInterrupt
        finished.save(folder)
    return folder


def _commit() -> str:
    head = _git("rev-parse", "--short=10", "HEAD")
    changed = _git("status", "--porcelain", "--", "crates", "python", "pages", "Cargo.lock")
    return f"`{head}`{' and changes' if changed else ''}" if head else "unknown"


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(
            ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""  # an archive of the sources


_COMMIT = _commit()
"""A page takes minutes, in which the next commit may come: what measures was read at the start."""


def fill(page: Path, part: str, text: str) -> None:
    """Puts a text between the marks of a part of a page: `<!-- made: PART -->` and `<!-- end -->`."""
    before = page.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- made: {re.escape(part)} -->\n).*?(<!-- end -->)", re.DOTALL)
    after, found = marks.subn(lambda match: f"{match[1]}{text.strip()}\n{match[2]}", before)
    if found != 1:
        raise ValueError(f"{page}: expected one part <!-- made: {part} -->, found {found}")
    page.write_text(after, encoding="utf-8")


def row(*cells: str) -> str:
    """A line of a table in Markdown.

    >>> row("prague", "0.6")
    '| prague | 0.6 |'
    """
    return f"| {' | '.join(cells)} |"
