"""Files and folders that pages name exist.

A path in backticks may begin at the root (`crates/sim/src`), in a crate (`sim/src/outcome`), or in the folder that
the sentence is about (`outcome/summary.rs`): its end has to be the end of a path of the repository. `<name>` and
`*` stand for any name.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from fnmatch import translate
from functools import cache
from pathlib import PurePath

import pytest

from documentation.blocks import ROOT, pages

OF_THE_CODE = ("ARCHITECTURE.md", "CONTRIBUTING.md")
"""Pages whose every path is of the repository; in the manual only those that begin with one of its folders are."""
SUFFIXES = {".rs", ".py", ".pyi", ".ts", ".toml", ".json", ".md"}
ELSEWHERE = {
    ".venv/bin/thalweg": "made by make build",
    "python/thalweg/lab/page": "made by make lab",
    ".github/workflows/thalweg.yml": "of the reader's repository",
    "link/down": "a part of a key",
    "target/lanes": "what checks have printed",
    "stacks/libmine.so": "of the folder of a study",
    "web/17": "a connection",
}
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.<>*-]+(?:/[\w.<>*-]+)*/?")


def named(page: str, text: str) -> Iterator[tuple[int, str]]:
    """The paths in backticks, with their lines."""
    for number, line in enumerate(text.splitlines(), start=1):
        for path in _SPAN.findall(line):
            if _PATH.fullmatch(path) and path not in ELSEWHERE and is_of_repository(page, path):
                yield number, path.rstrip("/")


def is_of_repository(page: str, path: str) -> bool:
    """Whether a path is meant to be one of the repository."""
    if page in OF_THE_CODE:
        return "/" in path or PurePath(path).suffix in SUFFIXES
    return "/" in path and path.split("/", maxsplit=1)[0] in first_parts()


@cache
def known() -> frozenset[str]:
    """All files and folders of the repository."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = [PurePath(file) for file in listed.stdout.splitlines() if (ROOT / file).exists()]
    return frozenset(str(path) for file in files for path in (file, *file.parents) if path.name)


@cache
def first_parts() -> frozenset[str]:
    """Folders at the root, and crates, which pages name without `crates/`."""
    folders = {path.split("/")[0] for path in known() if "/" in path}
    return frozenset(folders | {path.split("/")[1] for path in known() if re.fullmatch("crates/[^/]+", path)})


@cache
def ends() -> str:
    """All paths of the repository, each on a line behind a slash."""
    return "\n".join(f"/{path}" for path in known())


def exists(path: str) -> bool:
    """Whether a path of the repository ends with this one."""
    pattern = (
        translate(re.sub(r"<\w+>", "*", path)).removeprefix("(?s:").removesuffix(r")\Z").replace(".*", "[^/\n]*")
    )
    return re.search(rf"/{pattern}$", ends(), re.MULTILINE) is not None


@pytest.mark.parametrize("page", pages())
def test_a_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [f"{page}:{number}: {path}" for number, path in named(page, text) if not exists(path)] == []


@pytest.mark.parametrize(
    "path", ["sim/src/outcome", "registry.rs", "queue/<discipline>.rs", "reference/c4_05_*.csv"]
)
def test_a_path_may_leave_out_its_beginning_and_have_any_name_in_it(path: str) -> None:
    assert exists(path)


@pytest.mark.parametrize(
    "path", ["python/thalweg/control", "scenario/criterion.rs", "outcome/<flow>.c", "gistry.rs"]
)
def test_a_path_that_is_stale_is_found(path: str) -> None:
    assert not exists(path)


def test_paths_are_told_from_other_code() -> None:
    code = "`registry.rs` and `Registry` of `control/src`, `path.rtt`, `1/2`, `--set x=y`"
    assert [path for _, path in named("ARCHITECTURE.md", code)] == ["registry.rs", "control/src", "1/2"]
    assert [path for _, path in named("docs/index.md", code)] == ["control/src"]


def test_a_path_of_elsewhere_is_still_named() -> None:
    texts = "".join((ROOT / page).read_text(encoding="utf-8") for page in pages())
    assert [path for path in ELSEWHERE if f"`{path}`" not in texts] == []
