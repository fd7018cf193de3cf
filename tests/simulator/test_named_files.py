"""Which keys of a scenario name files: all that the engine reads a file for are marked in the schema, no others.

What confines or refuses files asks the schema (`thalweg.base.toml.named_files`). So each key that may be a text is
set to the name of a file, and whether the engine has read it is seen in what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thalweg import RequestError, Scenario, _native
from thalweg.base.toml import named_files
from thalweg.engine.scenario_text import toml_value
from thalweg.results.replay import replay_trial

SECRET = "root:x:0:0:zq9secret"
HOP = 'rate = "5 Mbps"\nrtt = "20 ms"\n[{hop}.up]\nrate = "5 Mbps"\n[[{hop}.change]]\nat = "1 s"\nrtt = "30 ms"\n'
REST = """
[[flow]]
name = "main"
controller = "cubic"
download = "30 kB"
[[flow]]
name = "call"
controller = "cubic"
[[flow.media]]
name = "video"
per_second = 30
duration = "1 s"
frame = "1 kB"
[[traffic]]
name = "cross"
rate = "1 Mbps"
[[pass]]
flow = "main"
metric = "completion"
at_most = "5 s"
"""
PATH = 'title = "t"\n[path]\n' + HOP.format(hop="path") + REST
LINK = 'title = "t"\n[[link]]\nname = "a"\n' + HOP.format(hop="link") + REST
SCHEMA = json.loads(_native.scenario_schema())


def forms(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a key may be: references and choices followed."""
    if "$ref" in part:
        yield from forms(SCHEMA["$defs"][part["$ref"].rpartition("/")[2]])
    elif choices := part.get("anyOf") or part.get("oneOf"):
        for choice in choices:
            yield from forms(choice)
    else:
        yield part


def settings(part: dict[str, Any], where: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Each key below a table with the setting that makes it `name`: the key, and `--set` key and value."""
    for table in forms(part):
        keys = table.get("properties", {})
        model = keys.get("model", {}).get("const")
        for key, inner in keys.items():
            if key == "model":
                continue
            place = f"{where}.{key}" if where else key
            kinds = list(forms(inner))
            if any(kind.get("type") in ("string", ["string", "null"]) or "enum" in kind for kind in kinds):
                if model is None:
                    yield key, place, name
                else:
                    needed = {one: example(keys[one]) for one in table.get("required", ()) if one != "model"}
                    yield key, where, toml_value({"model": model, **needed, key: name})
            yield from settings(inner, place, name)
            if "items" in inner or any("items" in kind for kind in kinds):
                for kind in (inner, *kinds):
                    if isinstance(kind.get("items"), dict):
                        yield from settings(kind["items"], f"{place}.0", name)


def example(part: dict[str, Any]) -> Any:
    return next(iter(part.get("examples", ["1 ms"])))


def is_read(text: str, place: str, value: str) -> bool:
    try:
        return "zq9secret" in Scenario.from_toml(text, "t", {place: value}).toml
    except RequestError as error:
        return "zq9secret" in str(error)


def test_the_schema_marks_each_key_whose_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "passwd"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    read, marked = set(), set()
    for key, place, value in settings(SCHEMA, "", str(file)):
        text = LINK if place.startswith("link") else PATH
        if is_read(text, place, value):
            read.add(key)
        if any(named == key for named, _ in named_files({key: str(file)})):
            marked.add(key)
    assert read == marked == {"trace", "file", "profile"}


@pytest.mark.parametrize(
    "given",
    [
        {"path.trace": "FILE"},
        {"path.up.trace": "FILE"},
        {"path.jitter": '{ model = "trace", file = "FILE" }'},
        {"path.change.0.jitter": '{ model = "trace", file = "FILE" }'},
        {"traffic.cross.profile": "FILE"},
    ],
)
def test_a_stored_result_whose_scenario_names_a_file_is_not_replayed(
    given: dict[str, str], tmp_path: Path
) -> None:
    outcomes = Scenario.from_toml(PATH, "t").trials(1)
    file = tmp_path / "passwd"
    file.write_text(SECRET, encoding="utf-8")
    ((place, value),) = given.items()
    table, _, key = place.rpartition(".")
    header = {"traffic.cross": "[[traffic]]", "path.change.0": "[[path.change]]"}.get(table, f"[{table}]")
    text = PATH.replace(header, f"{header}\n{key} = {_toml(value.replace('FILE', str(file)))}", 1)
    outcomes = replace(outcomes, scenario=replace(outcomes.scenario, toml=text))
    with pytest.raises(RequestError, match="names a file, which no stored scenario does") as refused:
        replay_trial(outcomes, 0)
    assert "zq9secret" not in str(refused.value)


def _toml(value: str) -> str:
    return value if value.startswith("{") else json.dumps(value)
