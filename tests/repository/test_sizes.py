"""Files stay small enough to be read at once (CONTRIBUTING.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 500


@pytest.mark.parametrize("folder", ["crates", "fuzz", "pages", "python", "tests"])
def test_no_file_has_more_than_500_lines(folder: str) -> None:
    files = [file for ending in ("rs", "py") for file in (ROOT / folder).rglob(f"*.{ending}")]
    assert len(files) > 5
    lines = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > MOST} == {}
