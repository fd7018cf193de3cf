"""The document of a sweep: what ran, its axes and flows, and the engine that ran last."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any

from thalweg.base.errors import ResultError
from thalweg.base.files.document import Types, check, read_hashes, refuse, table
from thalweg.base.files.stored import document_in
from thalweg.engine.scenario import Scenario
from thalweg.experiments.sweep.plan import INLINE, Plan
from thalweg.results.provenance import Provenance

_OWN: Types = {
    "name": (str,),
    "reference": (str,),
    "plan": (str,),
    "settings": (list,),
    "axes": (list,),
    "flows": (list,),
}
"""What a sweep has, and what not all experiments have."""
_AXIS: Types = {"key": (str,), "column": (str,), "unit": (str, NoneType)}
_FLOW: Types = {"name": (str,), "controller": (str,)}
SAME = ("name", "plan", "engine", "trials", "seed", "settings", "axes")
"""What is the same in stores that are merged."""


def head_of(plan: Plan, first: Scenario, folder: Path, command: str) -> dict[str, Any]:
    """The document of a sweep in a folder; all its points have the flows and the title of the first."""
    own = {
        "reference": str(folder / INLINE) if plan.base.is_inline else plan.base.reference,
        "plan": plan.file.text or "",
        "settings": [[key, plan.argument(key, value)] for key, value in plan.settings],
        "axes": [{"key": axis.key, "column": axis.column, "unit": axis.unit} for axis in plan.axes],
        "flows": [{"name": flow["name"], "controller": flow["controller"]} for flow in first.flows],
    }
    head = Provenance(command=command).head("sweep", plan.base.name, first.title, None, plan.seed, plan.trials)
    return {**head, **own}


def read_head(folder: Path) -> dict[str, Any]:
    """The document of the sweep in a folder, checked. Raises ResultError."""
    file, document = document_in(folder, "sweep")
    check(file, "", document, _OWN)
    if not document["axes"]:
        refuse(file, "axes", [], "one axis or more")
    for key, types in (("axes", _AXIS), ("flows", _FLOW)):
        for number, found in enumerate(document[key]):
            check(file, f"{key}.{number}.", table(file, f"{key}.{number}", found), types)
    pairs = all(isinstance(pair, list) and [*map(type, pair)] == [str, str] for pair in document["settings"])
    if not pairs or "/" in document["engine"]:
        raise ResultError(f"{file}: the store is damaged")
    if not {*(read_hashes(file, document) or {})} <= {"points.parquet", INLINE}:
        raise ResultError(f"{file}: hashes: the store is damaged")
    return document
