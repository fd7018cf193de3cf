"""Reading a baseline, whoever edited it: each value has its type, or the message says which does not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.regular_file import read_regular
from thalweg.base.seeds import LARGEST_SET, SET_SIZE
from thalweg.base.toml import shown
from thalweg.experiments.gate.baseline import FORMAT, Baseline, Recorded, worst_value
from thalweg.judging.measures import MEASURES

LARGEST = 64 << 20
"""Bytes of a baseline."""
_MARK = FORMAT.partition("/")[0].encode()
_ACCEPTED = "a number of 0 or more, or null where the flow did not finish"
_HALVES = re.compile("[\ud800-\udfff]")
_HEAD = {"format", "version", "suite", "seed", "trials", "scenarios"}
_SCENARIO = {"fingerprint", "flow", "controller", "trials", "metrics"}


def read_baseline(file: Path) -> Baseline:
    """Reads a baseline. Raises ResultError if it is missing, of another format, or damaged."""
    if not file.exists():
        raise ResultError(f"there is no baseline {file}; to make one, run the same command with --accept")
    data = read_regular(file, LARGEST, f"a baseline of at most {LARGEST >> 20} MiB")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, json.JSONDecodeError) else "it is not JSON in UTF-8"
        raise _damaged(file, said) from None
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise ResultError(f"{file} is not a baseline: it has no format; accepted: {FORMAT}")
    if document["format"] != FORMAT:
        said = f"format = {shown(document['format'])}; accepted: {FORMAT}"
        raise ResultError(f"{file}: {said}; to rewrite it, run with --accept")
    _check_keys(file, "it", document, _HEAD)
    trials = document["trials"]
    if not (_is_whole(trials) and 1 <= trials <= SET_SIZE):
        raise _damaged(file, f"trials = {shown(trials)}; accepted: a whole number, 1 to {SET_SIZE}")
    seed = document["seed"]
    if not (_is_whole(seed) and 1 <= seed <= LARGEST_SET * SET_SIZE):
        raise _damaged(file, f"seed = {shown(seed)}; accepted: a whole number, 1 to {LARGEST_SET * SET_SIZE}")
    _check_texts(file, "", document, ("version", "suite"))
    if not isinstance(document["scenarios"], dict) or not document["scenarios"]:
        raise _damaged(file, "scenarios is empty")
    scenarios = {name: _recorded(file, name, one, trials) for name, one in document["scenarios"].items()}
    return Baseline(document["suite"], seed, trials, scenarios, document["version"])


def check_replaceable(file: Path) -> None:
    """Refuses to replace anything but a baseline, damaged or not, or an empty file.

    Raises RequestError.
    """
    if file.is_file() and (data := read_regular(file, LARGEST, "a baseline, or no file")) and _MARK not in data:
        raise RequestError(f"--accept would replace {file}, which is not a baseline; use another name")


def _recorded(file: Path, name: str, one: Any, trials: int) -> Recorded:
    where = f"scenario {name!r:.60}"
    if not isinstance(one, dict) or not _is_shown(name):
        raise _damaged(file, f"{where} is not a table" if _is_shown(name) else f"{where} is not a name")
    _check_keys(file, where, one, _SCENARIO)
    _check_texts(file, f"{where}: ", one, ("fingerprint", "flow", "controller"))
    hashes, metrics = one["trials"], one["metrics"]
    if not (_is_list(hashes, trials) and all(isinstance(each, str) for each in hashes)):
        raise _damaged(file, f"{where}: trials are not {trials} hashes")
    if not isinstance(metrics, dict):
        raise _damaged(file, f"{where}: metrics is not a table")
    values = {
        metric: _values(file, f"{where}: {metric!r:.60}", metric, metrics[metric], trials) for metric in metrics
    }
    _check_finished(file, where, metrics, trials)
    return Recorded(one["fingerprint"], one["flow"], one["controller"], hashes, values)


def _values(file: Path, where: str, metric: str, values: Any, trials: int) -> list[float]:
    measure = MEASURES.get(metric)
    if measure is None or measure.better is None:
        raise _damaged(file, f"{where} is not a metric of a baseline")
    if not _is_list(values, trials):
        raise _damaged(file, f"{where} does not have {trials} numbers")
    for number, value in enumerate(values, 1):
        if not (value is None or (_is_finite(value) and value >= 0)):
            raise _damaged(file, f"{where}: value {number} = {shown(value)}; accepted: {_ACCEPTED}")
    return [worst_value(measure) if value is None else float(value) for value in values]


def _check_finished(file: Path, where: str, metrics: dict[str, Any], trials: int) -> None:
    """Refuses a flow that finished and has no rate or no losses: nothing that sends lacks them."""
    finished = [metrics[metric] for metric in ("completion", "closed") if metric in metrics]
    for metric in [metric for metric in ("rate", "loss") if metric in metrics]:
        for trial in range(trials):
            if metrics[metric][trial] is None and any(values[trial] is not None for values in finished):
                said = f"{metric!r}: value {trial + 1} = null, but the flow finished"
                raise _damaged(file, f"{where}: {said}; accepted: {_ACCEPTED}")


def _check_keys(file: Path, where: str, table: dict[str, Any], known: set[str]) -> None:
    for key in sorted(known ^ set(table)):
        raise _damaged(file, f"{where} {'lacks' if key in known else 'has an unknown key'} {key!r:.60}")


def _check_texts(file: Path, where: str, table: dict[str, Any], keys: Sequence[str]) -> None:
    for key in keys:
        if not (isinstance(table[key], str) and _is_shown(table[key])):
            raise _damaged(file, f"{where}{key} = {shown(table[key])}; accepted: text in one line")


def _is_shown(text: str) -> bool:
    """Whether a text has one line, nothing that a terminal would obey, and no half of a pair of surrogates."""
    return not _HALVES.search(text) and _native.visible(text) == text


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_list(value: object, n: int) -> bool:
    return isinstance(value, list) and len(value) == n


def _is_finite(value: object) -> bool:
    if type(value) not in (int, float):
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except OverflowError:
        return False


def _damaged(file: Path, said: str) -> ResultError:
    return ResultError(f"{file} is damaged: {said}; take it from the repository, or run with --accept")
