"""The document of a sweep, `sweep.json`: what ran, its axes and flows, and the engine that ran last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import ResultError
from thalweg.engine.outcome import FlowDescription
from thalweg.experiments.sweep.plan import INLINE, Plan
from thalweg.results.host import host
from thalweg.results.metadata import parse_document, read_hashes

FORMAT = "thalweg-sweep/2"
DOCUMENT = "sweep.json"
_KEYS: Mapping[str, tuple[type, bool]] = {
    "scenario": (str, True),
    "reference": (str, False),
    "plan": (str, True),
    "engine": (str, True),
    "trials": (int, True),
    "seed": (int, True),
    "settings": (list, True),
    "axes": (list, True),
    "flows": (list, False),
}
"""What readers need: the kind of each value, and whether stores that are merged have the same."""
SAME = tuple(key for key, (_, is_same) in _KEYS.items() if is_same)


def head_of(plan: Plan, flows: Sequence[FlowDescription], folder: Path) -> dict[str, Any]:
    """The document of a sweep in a folder."""
    own = {
        "scenario": plan.base.name,
        "reference": str(folder / INLINE) if plan.base.is_inline else plan.base.reference,
        "plan": plan.file.text or "",
        "engine": _native.engine(),
        "trials": plan.trials,
        "seed": plan.seed,
        "settings": [[key, plan.argument(key, value)] for key, value in plan.settings],
        "axes": [{"key": axis.key, "column": axis.column, "unit": axis.unit} for axis in plan.axes],
        "flows": [{"name": flow["name"], "controller": flow["controller"]} for flow in flows],
    }
    assert own.keys() == _KEYS.keys()
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    return {"format": FORMAT, "host": host(), "started": started, **own}


def read_head(folder: Path) -> dict[str, Any]:
    """The document of the sweep in a folder, checked. Raises ResultError."""
    file = folder / DOCUMENT
    if not file.is_file():
        raise ResultError(f"{folder} holds no sweep: it has no {DOCUMENT}")
    document = parse_document(file)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(
            f"{file}: this is not a sweep that this version reads ({FORMAT}); run it again into another folder"
        )
    for key, (kind, _) in _KEYS.items():
        if not isinstance(document.get(key), kind):
            raise ResultError(f"{file}: {key} = {document.get(key)!r:.60}: the store is damaged")
    whole = all(isinstance(axis, dict) and {"key", "column", "unit"} <= axis.keys() for axis in document["axes"])
    whole &= all(isinstance(flow, dict) and {"name", "controller"} <= flow.keys() for flow in document["flows"])
    whole &= all(isinstance(pair, list) and [*map(type, pair)] == [str, str] for pair in document["settings"])
    if not whole or "/" in document["engine"]:
        raise ResultError(f"{file}: the store is damaged")
    if not {*(read_hashes(file, document) or {})} <= {"points.parquet", INLINE}:
        raise ResultError(f"{file}: hashes: the store is damaged")
    return document
