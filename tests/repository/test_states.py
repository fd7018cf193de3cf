"""The states of controllers that Rust knows are those that the Python package and the lab describe."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_state_is_known_to_scenarios_and_described() -> None:
    source = (ROOT / "crates/control/src/phase.rs").read_text(encoding="utf-8")
    listed = re.findall(r'^    "(.+)",$', source, re.MULTILINE)
    described = json.loads((ROOT / "python/thalweg/engine/controllers/states.json").read_text(encoding="utf-8"))
    assert listed == list(described)
