"""The crates can be published: `make crates` packs and builds them; this holds what that would refuse first."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def crates() -> dict[str, dict[str, Any]]:
    """All crates of the workspace, as cargo describes them."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {crate["name"]: crate for crate in json.loads(said.stdout)["packages"]}


CRATES = crates()
PUBLISHED = {name for name, crate in CRATES.items() if crate["publish"] is None}


def test_all_crates_are_published_but_those_that_are_no_libraries() -> None:
    assert set(CRATES) - PUBLISHED == {"thalweg-bindings", "thalweg-fuzz", "thalweg-web"}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_crate_has_what_a_registry_asks_for(name: str) -> None:
    crate = CRATES[name]
    assert crate["description"]
    assert crate["license"] == "MIT OR Apache-2.0"
    assert crate["repository"]
    assert crate["keywords"]
    assert crate["categories"]
    assert crate["rust_version"]


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_crate_depends_on_published_crates_by_version(name: str) -> None:
    for dependency in CRATES[name]["dependencies"]:
        if "path" in dependency and dependency["kind"] != "dev":
            assert dependency["name"] in PUBLISHED
            assert dependency["req"] == f"^{CRATES[dependency['name']]['version']}"
