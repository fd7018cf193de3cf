"""Files of Rust tests that a crate lists by hand: each is in one of its binaries, or it would not run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTED = [
    file.parent for file in ROOT.glob("crates/*/Cargo.toml") if "autotests = false" in file.read_text("utf-8")
]


def test_a_crate_lists_its_tests() -> None:
    assert [crate.name for crate in LISTED] == ["sim"]


@pytest.mark.parametrize("crate", LISTED, ids=lambda crate: crate.name)
def test_every_file_of_tests_is_in_one_binary(crate: Path) -> None:
    folder = crate / "tests"
    binaries = re.findall(r'\[\[test\]\]\nname = "(\w+)"', (crate / "Cargo.toml").read_text("utf-8"))
    named = [f"{name}.rs" for name in binaries]
    for name in binaries:
        named += re.findall(
            r'^#\[path = "([^"]+)"\]\nmod', (folder / f"{name}.rs").read_text("utf-8"), re.MULTILINE
        )
    files = [file.name for file in folder.glob("*.rs")]
    files += [f"{file.parent.name}/main.rs" for file in folder.glob("*/main.rs")]
    assert sorted(named) == sorted(files)
