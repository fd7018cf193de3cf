"""What has passed with the same engine, package, page and tests need not be played again, but in CI."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path

from documentation.blocks import ROOT, pages

PASSED = ROOT / "target" / "lanes" / "pages"
"""A file for each page, with what it passed with: workers write side by side."""
_SOURCES = (
    "python/thalweg",
    "examples",
    "docs/site",
    "docs/how-to/probe",
    "tests/documentation",
    "requirements.lock",
    "Makefile",
)


@cache
def build() -> str:
    """A hash of all that pages are played with: the native module is among the files of the package."""
    found = hashlib.sha256()
    for source in _SOURCES:
        place = ROOT / source
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and not {"__pycache__", "target"} & set(file.parts):
                found.update(str(file.relative_to(ROOT)).encode())
                found.update(file.read_bytes())
    return found.hexdigest()


def manual() -> str:
    """A hash of all pages, and of what they are played with."""
    return hashlib.sha256("".join(map(str, [_state(page) for page in pages()])).encode()).hexdigest()


def has_passed(page: str) -> bool:
    """Whether this page has passed as it is."""
    kept = _kept(page)
    return "CI" not in os.environ and kept.exists() and json.loads(kept.read_text("utf-8")) == _state(page)


def passed(page: str) -> None:
    """Keeps that it has passed."""
    PASSED.mkdir(parents=True, exist_ok=True)
    _kept(page).write_text(json.dumps(_state(page)), encoding="utf-8")


def _kept(page: str) -> Path:
    return PASSED / f"{page.replace('/', '-')}.json"


def _state(page: str) -> list[str]:
    return [build(), hashlib.sha256((ROOT / page).read_bytes()).hexdigest()]
