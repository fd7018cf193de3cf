"""The keys of a scenario as Markdown, out of the JSON schema that the program generates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from thalweg import _native


def schema() -> str:
    """A heading for each table, and a row for each of its keys."""
    whole = json.loads(_native.scenario_schema())
    tables = {name: part for name, part in whole["$defs"].items() if _forms(part)}
    lines = [*_table("Top level", whole)]
    for name, part in sorted(tables.items()):
        lines += _table(name, part)
    lines += ["## Quantities and words\n", "| type | what it is |", "|---|---|"]
    lines += [
        f"| {name} | {_cell(part.get('description', ''))} |"
        for name, part in sorted(whole["$defs"].items())
        if name not in tables
    ]
    return "\n".join(lines)


def _forms(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tables that something may be: one, or several that a key such as `model` tells apart."""
    if "properties" in part:
        return [part]
    return [one for one in part.get("oneOf", part.get("anyOf", ())) if "properties" in one]


def _table(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}\n\n{part.get('description', '')}\n"
    for form in _forms(part):
        for key, one in form["properties"].items():
            if "const" in one:
                yield f'### {name}: `{key} = "{one["const"]}"`\n\n{form.get("description", "")}\n'
        yield "| key | type | meaning | default |\n|---|---|---|---|"
        for key, one in form["properties"].items():
            if "const" not in one:
                needed = key in form.get("required", ())
                yield f"| `{key}` | {_type(one)} | {_cell(one.get('description', ''))} | {_default(one, needed)} |"
        yield ""


def _type(one: Mapping[str, Any]) -> str:
    if "$ref" in one:
        return str(one["$ref"]).rpartition("/")[2]
    if forms := one.get("anyOf", one.get("oneOf")):
        return ", ".join(dict.fromkeys(_type(form) for form in forms if form.get("type") != "null"))
    if one.get("type") == "array":
        return f"list of {_type(one['items'])}" if isinstance(one.get("items"), dict) else "list"
    if "enum" in one:
        return ", ".join(f"`{value}`" for value in one["enum"])
    kinds = one.get("type", "any")
    return ", ".join(kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null")


def _default(one: Mapping[str, Any], needed: bool) -> str:
    if needed:
        return "required"
    value = one.get("default")
    return "" if value is None or isinstance(value, (list, dict)) else f"`{_cell(json.dumps(value))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
