"""Files stay small enough to be read at once, and folders to be seen at once (CONTRIBUTING.md)."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).parents[2]
MOST = 500
MOST_FILES = 20
DATA = ("python/thalweg/suites/", "fuzz/corpus/")
"""A scenario has the name of its file in the folder of its suite; the fuzzer adds files to its corpus."""


@pytest.mark.parametrize("folder", ["crates", "fuzz", "pages", "python", "tests"])
def test_no_file_has_more_than_500_lines(folder: str) -> None:
    files = [file for ending in ("rs", "py") for file in (ROOT / folder).rglob(f"*.{ending}")]
    assert len(files) > 5
    lines = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > MOST} == {}


def test_no_folder_has_more_than_20_files_side_by_side() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = [file for file in listed.stdout.splitlines() if not file.startswith(DATA)]
    assert len(files) > 500
    folders = Counter(str(PurePath(file).parent) for file in files)
    assert {name: count for name, count in folders.items() if count > MOST_FILES} == {}


def test_a_module_of_rust_with_parts_is_the_mod_rs_of_their_folder() -> None:
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = listed.stdout.splitlines()
    assert len(files) > 500
    assert [file for file in files if (ROOT / file.removesuffix(".rs")).is_dir()] == []
