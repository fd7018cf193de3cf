"""The scenarios of a stored suite, as its document describes them: all that is read has the right types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any

from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.document import NUMBER, Types, check, refuse, table
from thalweg.base.files.folder import check_name
from thalweg.engine.outcome import Description
from thalweg.judging.measures import MEASURES

_SCENARIO: Types = {
    "name": (str,),
    "suite": (str, NoneType),
    "title": (str,),
    "source": (str, NoneType),
    "note": (str, NoneType),
    "toml": (str,),
    "flows": (list,),
    "criteria": (list,),
    "floor_s": (*NUMBER, NoneType),
    "time_limit_s": NUMBER,
}
_SCENARIO_MORE: Types = {"controllers": (list,), "rival": (dict, NoneType)}  # where they are
_RIVAL: Types = {"of": (str,), "flow": (str,), "controller": (str,), "metrics": (list,)}
_CONTROLLER: Types = {
    "name": (str,),
    "file": (str, NoneType),
    "sha256": (str, NoneType),
    "source": (str, NoneType),
}
_FLOW: Types = {"name": (str,), "controller": (str,), "workload": (str, NoneType), "start_s": NUMBER}
_CRITERION: Types = {"flow": (str,), "metric": (str,)}
_CRITERION_MORE: Types = {  # where they are
    "at_most": (*NUMBER, NoneType),
    "at_least": (*NUMBER, NoneType),
    "in": NUMBER,
    "stream": (str, NoneType),
    "column": (str, NoneType),
    "unit": (str,),
    "until_the_end": (bool,),
    "floor": (*NUMBER, NoneType),
    "source": (str, NoneType),
    "informative": (bool,),
}


def described(file: Path, document: Mapping[str, Any]) -> list[Description]:
    """The scenarios of the document of a suite, which this file holds. Raises ResultError."""
    check(file, "", document, {"scenarios": (list,)})
    scenarios = [
        _scenario(file, f"scenarios.{number}", entry) for number, entry in enumerate(document["scenarios"])
    ]
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            refuse(file, "scenarios", name, "each name once")
    for number, scenario in enumerate(scenarios):
        if scenario.rival and scenario.rival["of"] not in names:
            refuse(file, f"scenarios.{number}.rival.of", scenario.rival["of"], "the name of a scenario here")
    return scenarios


def _scenario(file: Path, prefix: str, document: Any) -> Description:
    if not isinstance(document, dict):
        refuse(file, prefix, document, "a table")
    check(file, f"{prefix}.", document, _SCENARIO)
    known = {field.name for field in fields(Description)}
    for key in document.keys() - known:
        refuse(file, f"{prefix}.{key}", document[key], f"one of the keys {', '.join(sorted(known))}")
    try:
        check_name(document["name"])
    except RequestError as error:
        raise ResultError(f"{file}: {prefix}.name: {error}") from None
    check(file, f"{prefix}.", document, {key: types for key, types in _SCENARIO_MORE.items() if key in document})
    for number, controller in enumerate(document.get("controllers", [])):
        at = f"{prefix}.controllers.{number}"
        check(file, f"{at}.", table(file, at, controller), _CONTROLLER)
    for number, flow in enumerate(document["flows"]):
        at = f"{prefix}.flows.{number}"
        check(file, f"{at}.", table(file, at, flow), _FLOW)
    for number, criterion in enumerate(document["criteria"]):
        at = f"{prefix}.criteria.{number}"
        found = table(file, at, criterion)
        check(file, f"{at}.", found, _CRITERION)
        check(file, f"{at}.", found, {key: types for key, types in _CRITERION_MORE.items() if key in found})
        if (found.get("at_most") is None) == (found.get("at_least") is None):
            refuse(file, at, found.get("at_most"), "one bound, at_most or at_least")
    if (rival := document.get("rival")) is not None:
        check(file, f"{prefix}.rival.", rival, _RIVAL)
        flows = [flow["name"] for flow in document["flows"]]
        if rival["flow"] not in flows:
            refuse(file, f"{prefix}.rival.flow", rival["flow"], ", ".join(flows))
        for name in rival["metrics"]:
            if not isinstance(name, str) or name not in MEASURES:
                refuse(file, f"{prefix}.rival.metrics", name, ", ".join(MEASURES))
    return Description(**document)
