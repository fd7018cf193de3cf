"""What `metadata.json` of a stored result says, checked: whoever wrote it, what is read has the right types."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, Never

from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.folder import TRIALS, check_name, find_file
from thalweg.base.files.seal import HASH, KEY, is_whole
from thalweg.engine.outcome import Description
from thalweg.judging.measures import MEASURES

FORMAT = "thalweg-result/2"
METADATA = "metadata.json"
_LARGEST = 256 << 20
"""A larger document is none of ours: the longest traces that a scenario may name have 32 MiB."""

_Types = Mapping[str, tuple[type, ...]]
_Number = (int, float)
_RESULT: _Types = {
    "suite": (str, NoneType),
    "title": (str,),
    "source": (str, NoneType),
    "version": (str,),
    "host": (dict,),
    "seed": (int,),
    "started": (str,),
    "wall_s": _Number,
    "scenarios": (list,),
}
_HOST: _Types = {"system": (str,), "processor": (str,), "cores": (int,)}
_SCENARIO: _Types = {
    "name": (str,),
    "suite": (str, NoneType),
    "title": (str,),
    "source": (str, NoneType),
    "note": (str, NoneType),
    "toml": (str,),
    "flows": (list,),
    "criteria": (list,),
    "floor_s": (*_Number, NoneType),
    "time_limit_s": _Number,
}
_HASHES = "hashes"
"""The SHA-256 of each table, by its name below the folder. Results of earlier versions have none."""
_SCENARIO_MORE: _Types = {
    "controllers": (list,),
    "rival": (dict, NoneType),
}  # results of earlier versions have none
_RIVAL: _Types = {"of": (str,), "flow": (str,), "controller": (str,), "metrics": (list,)}
_CONTROLLER: _Types = {
    "name": (str,),
    "file": (str, NoneType),
    "sha256": (str, NoneType),
    "source": (str, NoneType),
}
_FLOW: _Types = {"name": (str,), "controller": (str,), "workload": (str, NoneType), "start_s": _Number}
_CRITERION: _Types = {"flow": (str,), "metric": (str,)}
_CRITERION_MORE: _Types = {  # where they are
    "at_most": (*_Number, NoneType),
    "at_least": (*_Number, NoneType),
    "in": _Number,
    "stream": (str, NoneType),
    "column": (str, NoneType),
    "unit": (str,),
    "until_the_end": (bool,),
    "floor": (*_Number, NoneType),
    "source": (str, NoneType),
    "informative": (bool,),
}
_WORDS = {str: "text", int: "a whole number", float: "a number", dict: "a table", list: "a list"}
_WORDS |= {bool: "true or false", NoneType: "null"}


@dataclass(frozen=True)
class Metadata:
    """The document of a stored result."""

    suite: str | None
    title: str
    source: str | None
    version: str
    host: dict[str, Any]
    seed: int
    started: str
    command: str
    """What made it; empty in results of earlier versions."""
    wall_s: float
    scenarios: list[Description]
    hashes: dict[str, str] | None
    """The SHA-256 of each table; None in results of earlier versions."""


def read_metadata(folder: Path) -> Metadata:
    """The document of the result in a folder. Raises ResultError if the folder does not hold one."""
    file = find_file(folder, METADATA)
    if file is None:
        missing = "there is no such folder" if not folder.exists() else f"it has no {METADATA}"
        if (folder / TRIALS).is_dir() and not any(folder.glob("*.json")):
            missing = f"it has trials only; the command that played them concludes with --out {folder}"
        if find_file(folder, "study.json") is not None:
            missing = f"it holds a study; its page is {folder / 'report.html'}"
        raise ResultError(f"{folder} is not a result: {missing}")
    return read_document(file)


def read_document(file: Path) -> Metadata:
    """The document in a file. Raises ResultError."""
    document = parse_document(file)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{file}: this is not a result that this version reads ({FORMAT})")
    _check(file, "", document, _RESULT)
    _check(file, "host.", document["host"], _HOST)
    if not 0 <= document["seed"] < 2**64:
        _refuse(file, "seed", document["seed"], "0 to 2^64 - 1")
    scenarios = [
        _scenario(file, f"scenarios.{number}", entry) for number, entry in enumerate(document["scenarios"])
    ]
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            _refuse(file, "scenarios", name, "each name once")
    for number, scenario in enumerate(scenarios):
        if scenario.rival and scenario.rival["of"] not in names:
            _refuse(file, f"scenarios.{number}.rival.of", scenario.rival["of"], "the name of a scenario here")
    head = {key: document[key] for key in _RESULT if key != "scenarios"}
    _check(file, "", {"command": "", **document}, {"command": (str,)})
    command = document.get("command", "")
    return Metadata(**head, command=command, scenarios=scenarios, hashes=read_hashes(file, document))


def read_hashes(file: Path, document: Mapping[str, Any]) -> dict[str, str] | None:
    """The hashes of the files that belong to a document; None if it has none. Raises ResultError."""
    hashes = document.get(_HASHES)
    if hashes is None:
        return None
    if not isinstance(hashes, dict):
        _refuse(file, _HASHES, hashes, "a table")
    for name, found in hashes.items():
        if not (isinstance(found, str) and HASH.fullmatch(found)):
            _refuse(file, f"{_HASHES}.{name}", found, "64 hexadecimal digits")
    return hashes


def parse_document(file: Path) -> Any:
    """What the JSON in a file says, without its seal. Raises ResultError if it has one and was changed since."""
    try:
        if file.stat().st_size > _LARGEST:
            raise ResultError(f"cannot read {file}: it is larger than {_LARGEST >> 20} MiB")
        data = file.read_bytes()
        document = json.loads(data.decode())
        for text in _texts(document):
            text.encode()
    except OSError as error:
        raise ResultError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeError:
        raise ResultError(f"{file}: this is not text in UTF-8") from None
    except ValueError as error:
        raise ResultError(f"{file}: this is not JSON ({error}); accepted: the file as it was") from None
    except RecursionError:
        raise ResultError(f"{file}: values are nested too deeply") from None
    if isinstance(document, dict) and document.pop(KEY, None) is not None and not is_whole(data):
        raise ResultError(
            f"{file} is damaged: it is not as it was written (its {KEY} differs); accepted: the file as it was, "
            f"or without {KEY} if it was changed on purpose"
        )
    return document


def _texts(value: Any) -> Iterator[str]:
    """All texts in a document: JSON can hold halves of characters, which no text that is written can."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _scenario(file: Path, prefix: str, document: Any) -> Description:
    if not isinstance(document, dict):
        _refuse(file, prefix, document, "a table")
    _check(file, f"{prefix}.", document, _SCENARIO)
    known = {field.name for field in fields(Description)}
    for key in document.keys() - known:
        _refuse(file, f"{prefix}.{key}", document[key], f"one of the keys {', '.join(sorted(known))}")
    try:
        check_name(document["name"])
    except RequestError as error:
        raise ResultError(f"{file}: {prefix}.name: {error}") from None
    _check(file, f"{prefix}.", document, {key: types for key, types in _SCENARIO_MORE.items() if key in document})
    for number, controller in enumerate(document.get("controllers", [])):
        at = f"{prefix}.controllers.{number}"
        _check(file, f"{at}.", _table(file, at, controller), _CONTROLLER)
    for number, flow in enumerate(document["flows"]):
        at = f"{prefix}.flows.{number}"
        _check(file, f"{at}.", _table(file, at, flow), _FLOW)
    for number, criterion in enumerate(document["criteria"]):
        at = f"{prefix}.criteria.{number}"
        table = _table(file, at, criterion)
        _check(file, f"{at}.", table, _CRITERION)
        _check(file, f"{at}.", table, {key: types for key, types in _CRITERION_MORE.items() if key in table})
        if (table.get("at_most") is None) == (table.get("at_least") is None):
            _refuse(file, at, table.get("at_most"), "one bound, at_most or at_least")
    if (rival := document.get("rival")) is not None:
        _check(file, f"{prefix}.rival.", rival, _RIVAL)
        flows = [flow["name"] for flow in document["flows"]]
        if rival["flow"] not in flows:
            _refuse(file, f"{prefix}.rival.flow", rival["flow"], ", ".join(flows))
        for name in rival["metrics"]:
            if not isinstance(name, str) or name not in MEASURES:
                _refuse(file, f"{prefix}.rival.metrics", name, ", ".join(MEASURES))
    return Description(**document)


def _table(file: Path, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(file, key, value, "a table")
    return value


def _check(file: Path, prefix: str, table: Mapping[str, Any], types: _Types) -> None:
    """Refuses a table that lacks a key, or has something else there."""
    for key, accepted in types.items():
        words = " or ".join(_WORDS[kind] for kind in accepted)
        if key not in table:
            raise ResultError(f"{file}: {prefix}{key} is missing; accepted: {words}")
        value = table[key]
        fits = isinstance(value, accepted)
        if isinstance(value, bool):  # for Python, a number
            fits = bool in accepted
        elif isinstance(value, int):
            fits = fits and abs(value) < 2**64
        elif isinstance(value, float):
            fits = fits and math.isfinite(value)
        if not fits:
            _refuse(file, f"{prefix}{key}", value, words)


def _refuse(file: Path, key: str, value: Any, accepted: str) -> Never:
    shown = json.dumps(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    raise ResultError(f"{file}: {key} = {shown}; accepted: {accepted}")
