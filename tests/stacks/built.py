"""Libraries with stacks that `make stacks` builds, and scenarios on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]


def built(name: str) -> Path:
    """A library; skips the test, loudly, where it is not built: `pytest -rs` names it."""
    library = ROOT / "target" / "stacks" / f"lib{name}.so"
    if not library.exists():
        pytest.skip(f"NO STACK: {library.relative_to(ROOT)} is missing; `make stacks` builds it")
    return library


def played_by(
    library: Path, controller: str, work: str, loss: str = "0.1 %", overrides: Mapping[str, str] | None = None
) -> thalweg.Scenario:
    """A flow over 20 Mbps and 40 ms."""
    path = f'title = "t"\n[path]\nrate = "20 Mbps"\nrtt = "40 ms"\nloss = "{loss}"\n'
    flow = f'[[flow]]\nname = "main"\ncontroller = "{controller}"\nstack = "{library}"\n{work}\n'
    return thalweg.Scenario.from_toml(path + flow, "t", overrides=overrides or {})
