"""A process that answers the calls of one page, one after the other. To stop a call is to end the process."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import polars as pl

from thalweg import _native
from thalweg.base.errors import ScenarioError, ThalwegError
from thalweg.base.quantity import measure
from thalweg.base.toml import read_toml
from thalweg.engine import libraries
from thalweg.lab import own_session, stored
from thalweg.lab.folder import NO_LIBRARIES, Folder
from thalweg.lab.live import run_live
from thalweg.lab.plan import SweepRequest
from thalweg.lab.sweep import estimated
from thalweg.lab.wire import packed

OUTCOMES = ("flows", "links", "trials", "requests", "streams")
TRACES = ("flows", "variables", "links", "drops", "packets", "held", "frames")
MOST_TRIALS = 10_000
MOST_PACKETS = 1_000_000
_PROGRESS_EVERY_S = 0.03
_BASE_UNITS = ("bps", "s", "bytes", "")

Tell = Callable[[bytes], None]


def serve(connection: Connection, folder: Folder) -> None:
    """Answers until the other end is closed."""
    own_session.begin()
    threading.Thread(target=own_session.end_with_server, daemon=True).start()
    os.chdir(folder.path)  # names of controllers in files begin here
    libraries.refuse(NO_LIBRARIES)
    while True:
        try:
            text = connection.recv_bytes()
        except EOFError:
            return
        call = json.loads(text)
        try:
            connection.send_bytes(answer(call, folder, connection.send_bytes))
        except Exception as error:
            connection.send_bytes(packed({"id": call["id"], "failed": f"a defect of thalweg: {error!r}"}))


def answer(call: Mapping[str, Any], folder: Folder, tell: Tell) -> bytes:
    """What a call is answered, or why it is refused."""
    number = call["id"]
    try:
        return _answered(number, call, folder, tell)
    except (_native.ScenarioError, ScenarioError) as error:
        origin = str(call.get("setup", {}).get("origin", ""))
        return packed({"id": number, "refused": _refused(error, origin)})
    except (ThalwegError, _native.ControllerFailed, _native.AuditError) as error:
        return packed({"id": number, "refused": {"message": str(error), "line": None, "key": None}})


def _answered(number: int, call: Mapping[str, Any], folder: Folder, tell: Tell) -> bytes:
    match call["name"]:
        case "about":
            return packed({"id": number, "result": _about(folder)})
        case "results":
            return packed({"id": number, "result": stored.listed(folder)})
        case "result":
            return packed({"id": number, "result": stored.opened(folder, str(call["path"]))})
        case "estimate":
            asked = SweepRequest.of(call["sweep"])
            assert asked is not None  # the session has looked
            return packed({"id": number, "result": estimated(folder, asked)})
        case "live":
            return _live(number, call, folder, tell)
        case _:
            return _played(call, _read(call["setup"], folder), tell)


def _refused(error: _native.ScenarioError | ScenarioError, origin: str) -> dict[str, Any]:
    """Message, line and key; `file` of the line if it is not the scenario but a trace that this names."""
    file, line = getattr(error, "origin", None), getattr(error, "line", None)
    is_other = line is not None and file != _name(origin)
    key = getattr(error, "key", None)
    return {"message": str(error), "line": line, "key": key, "file": file if is_other else None}


def _played(call: Mapping[str, Any], scenario: _native.Scenario, tell: Tell) -> bytes:
    number = call["id"]
    match call["name"]:
        case "check":
            return packed({"id": number, "result": _checked(scenario)})
        case "run":
            return _run(number, scenario, int(call["seed"]), bool(call["traced"]))
        case "packets":
            return _packets(number, scenario, int(call["seed"]), float(call["fromS"]), int(call["most"]))
        case "trials":
            return _trials(number, scenario, [int(seed) for seed in call["seeds"]], tell)
        case name:
            raise KeyError(name)


def _about(folder: Folder) -> dict[str, Any]:
    return {
        "version": _native.version(),
        "controllers": _native.controllers(),
        "models": _native.models(),
        "files": folder.controllers(),
        "schema": json.loads(_native.scenario_schema()),
    }


def _live(number: int, call: Mapping[str, Any], folder: Folder, tell: Tell) -> bytes:
    """Runs a trial in real time, and tells how it goes."""
    setup, count = call["setup"], 0
    folder.checked(str(setup["text"]), dict(setup["sets"]))
    resolver, name = folder.resolver(), _name(str(setup["origin"]))
    native = _native.Scenario.live_from_toml(
        str(setup["text"]).encode(),
        name,
        list(setup["sets"].items()),
        list(setup["controllers"].items()),
        resolver,
    )

    def on_report(report: Mapping[str, float]) -> None:
        nonlocal count
        count += 1
        tell(packed({"id": number, "finished": count, "live": dict(report)}))

    begin = time.perf_counter()
    trial, unfaithful = run_live(native, name, resolver, int(call["seed"]), on_report)
    took = 1e3 * (time.perf_counter() - begin)
    groups = {"outcomes": _frames(trial.outcomes, OUTCOMES), "trace": _frames(trial.trace, TRACES)}
    return packed({"id": number, "milliseconds": took, "unfaithful": unfaithful}, groups)


def _frames(holder: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Tables of polars as columns."""
    return {name: {column.name: _column(column) for column in getattr(holder, name)} for name in names}


def _column(column: pl.Series) -> Any:
    if not column.dtype.is_numeric() and column.dtype != pl.Boolean:
        texts = column.cast(pl.String).fill_null("").to_list()
        if column.name == "trace_hash":  # a text for each trial
            return texts
        words = list(dict.fromkeys(texts))
        index = {word: number for number, word in enumerate(words)}
        return (np.array([index[word] for word in texts], np.uint32), words)
    return column.to_numpy()


def _read(setup: Mapping[str, Any], folder: Folder) -> _native.Scenario:
    text, sets, controllers = str(setup["text"]), dict(setup["sets"]), dict(setup["controllers"])
    # Files that a scenario names are looked for next to it: whatever a page calls it, it is in the folder.
    name = _name(str(setup["origin"]))
    folder.checked(text, sets, name)
    resolver = folder.resolver()
    return _native.Scenario.from_toml(text.encode(), name, list(sets.items()), list(controllers.items()), resolver)


def _name(origin: str) -> str:
    """The name of a scenario in messages."""
    name = re.sub(r"[^\w./ -]", "_", origin)[:100].replace("..", "_").lstrip("/") or "scenario"
    return name.rsplit("/", 1)[-1]


def _checked(scenario: _native.Scenario) -> dict[str, Any]:
    values = read_toml(scenario.toml, "scenario")
    amounts: dict[str, float] = {}

    def collect(key: str, value: object) -> None:
        match value:
            case str():
                found = measure(value)
                if found is not None and found[1] in _BASE_UNITS:
                    amounts[key] = found[0]
            case dict():
                for name, inner in value.items():
                    collect(f"{key}.{name}" if key else name, inner)
            case list():
                for index, inner in enumerate(value):
                    collect(f"{key}.{index}", inner)

    collect("", values)
    return {
        "title": scenario.title,
        "toml": scenario.toml,
        "values": values,
        "amounts": amounts,
        "criteria": scenario.criteria,
        "floorS": scenario.floor_s,
        "flows": [flow["name"] for flow in scenario.flows],
        "startsS": {flow["name"]: flow["start_s"] for flow in scenario.flows},
    }


def _tables(holder: object, names: tuple[str, ...]) -> dict[str, _native.Columns]:
    return {name: getattr(holder, name) for name in names}


def _run(number: int, scenario: _native.Scenario, seed: int, traced: bool) -> bytes:
    begin = time.perf_counter()
    trial = scenario.run(seed, traced)
    took = 1e3 * (time.perf_counter() - begin)
    groups = {"outcomes": _tables(trial.outcomes, OUTCOMES)}
    if trial.trace is not None:
        groups["trace"] = _tables(trial.trace, TRACES)
    return packed({"id": number, "milliseconds": took, "seed": str(seed)}, groups)


def _packets(number: int, scenario: _native.Scenario, seed: int, from_s: float, most: int) -> bytes:
    packets, limits, links, until_s, trace_hash = scenario.packets(seed, from_s, most)
    header = {"id": number, "links": links, "untilS": until_s, "hash": trace_hash}
    return packed(header, {"tables": {"packets": packets, "limits": limits}})


def _trials(number: int, scenario: _native.Scenario, seeds: list[int], tell: Tell) -> bytes:
    reported = time.monotonic()

    def progress(finished: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > _PROGRESS_EVERY_S:
            reported = time.monotonic()
            tell(packed({"id": number, "finished": finished}))

    outcomes = scenario.trials(seeds, 0, progress)
    return packed({"id": number}, {"outcomes": _tables(outcomes, OUTCOMES)})
