"""Provenance of made pages, and filling their made parts."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thalweg.experiments.studies.runner.result import Check, Finding, StudyResult
from thalweg.experiments.studies.runner.study import Finished

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def made(name: str) -> str:
    """The line that names the commit that a page was made with.

    >>> made("l4s").startswith("Made by `make pages PAGES=l4s` with commit ")
    True
    """
    return f"Made by `make pages PAGES={name}` with commit {commit()}."


def commit() -> str:
    """The commit of the measuring code, and whether it has changes, at the start of this process."""
    return _COMMIT


def study(name: str, run: Callable[[], Finished[Any, Any, Any]]) -> Path:
    """The folder of a study, which is run unless a result of this commit without changes exists."""
    folder = ROOT / "target" / "pages" / _COMMIT.strip("`") / name
    if not _COMMIT.endswith("`") or not (folder / "experiment.json").exists():
        finished = run()
        if not finished.complete:
            raise KeyboardInterrupt
        finished.save(folder)
    return folder


def read(folder: Path) -> StudyResult:
    """The result of a stored study, as far as its pages need it."""
    document = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    taken = ("title", "source", "preset", "trials", "seed", "version", "core_s", "rows", "notes")
    result = StudyResult(study=document["name"], **{name: document[name] for name in taken})
    result.checks = [
        Check(*(check[name] for name in ("name", "source", "answer", "measured"))) for check in document["checks"]
    ]
    result.findings = [
        Finding(*(finding[name] for name in ("name", "source", "published", "measured", "answer", "reason")))
        for finding in document["findings"]
    ]
    return result


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
"""Read at the start: a page takes minutes, in which the next commit may come."""


def fill(page: Path, part: str, text: str) -> None:
    """Inserts a text between the marks of a part of a page: `<!-- made: PART -->` and `<!-- end -->`."""
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
