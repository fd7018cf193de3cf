"""The schema for editors takes the plans that a sweep takes, and refuses what it refuses by form."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from thalweg.base.errors import RequestError
from thalweg.experiments.sweep.plan import KEYS, plan_of
from thalweg.experiments.sweep.plan_file import PlanFile

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "reference" / "schemas" / "sweep.schema.json").read_text(encoding="utf-8"))
PLANS = re.findall(
    r"^```toml\n(.*?)^```$", (DOCS / "how-to" / "sweeps.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
jsonschema: Any = import_module("jsonschema")  # altair brings it along, without types
GOOD: dict[str, Any] = {"scenario": "c4/bad-wifi", "axes": {"path.rate": ["5 Mbps", "20 Mbps"]}}


def test_the_schema_has_the_keys_of_plans_and_takes_those_of_the_manual() -> None:
    assert set(SCHEMA["properties"]) == set(KEYS)
    assert len(PLANS) == 2
    for plan in PLANS:
        jsonschema.validate(tomllib.loads(plan), SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"axes": {}},
        {"axes": {"path.rate": []}},
        {"axes": {"path.rate": "5 Mbps"}},
        {"axes": {"path.rate": {"from": "5 Mbps", "to": "6 Mbps", "steps": 1}}},
        {"axes": {"path.rate": {"from": "5 Mbps", "to": "6 Mbps", "scale": "cubic", "steps": 3}}},
        {"axes": {"path.rate": {"from": "5 Mbps", "steps": 3}}},
        {"trials": 0},
        {"seed": -1},
        {"design": "gird"},
        {"design": {"kind": "sobol"}},
        {"design": {"kind": "sobol", "points": 0}},
        {"tied": [["path.rate"]]},
        {"exclude": [{}]},
        {"scenario": 3},
        {"trails": 3},
    ],
)
def test_what_the_schema_refuses_a_sweep_refuses(wrong: dict[str, Any]) -> None:
    jsonschema.validate(GOOD, SCHEMA)
    plan_of(GOOD, PlanFile("plan"), Path())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**GOOD, **wrong}, SCHEMA)
    with pytest.raises(RequestError):
        plan_of({**GOOD, **wrong}, PlanFile("plan"), Path())
