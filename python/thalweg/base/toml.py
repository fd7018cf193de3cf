"""TOML texts, read as the engine reads scenarios: what it accepts, plans and suites may have too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from thalweg import _native
from thalweg.base.errors import ScenarioError


def read_toml(text: str | bytes, file: str) -> dict[str, Any]:
    r"""The keys and values of a text, in their order. `file` is the name in errors. Raises ScenarioError.

    >>> read_toml('b = { c = "\\x41" }\na = [1, 2.5, true]', "a.toml")
    {'b': {'c': 'A'}, 'a': [1, 2.5, True]}
    >>> read_toml("a = [\n1,, ]", "a.toml")
    Traceback (most recent call last):
    thalweg.base.errors.ScenarioError: a.toml:2: `1,, ]`: extra comma in array; accepted: value
    """
    # Text from the page of the lab may have half a pair of surrogates: no UTF-8, as the reader then says.
    source = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    try:
        return _native.toml_document(source, file)
    except _native.ScenarioError as error:
        raise ScenarioError.of(error) from None


def named_files(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The keys and names of all files in a scenario, or in the value of a key of one.

    >>> list(named_files({"path": {"trace": "lte.trace", "hop": [{"jitter": {"file": "us:10 20"}}]}}))
    [('trace', 'lte.trace')]
    >>> list(named_files("/etc/passwd", "profile"))
    [('profile', '/etc/passwd')]
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from named_files(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from named_files(inner)
    elif isinstance(value, str) and key in (keys := _keys_of_files()) and not value.startswith(keys[key]):
        yield key, value


@cache
def _keys_of_files() -> dict[str, tuple[str, ...]]:
    """The keys that name files, which the schema of scenarios marks.

    With each comes how the contents of such a file begin, where they replace its name.
    """
    found: dict[str, tuple[str, ...]] = {}
    waiting: list[Any] = [json.loads(_native.scenario_schema())]
    while waiting:
        part = waiting.pop()
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        waiting += inner
        for key, marked in part.get("properties", {}).items() if isinstance(part, dict) else ():
            if isinstance(marked, dict) and "x-file" in marked:
                found[key] = (*found.get(key, ()), *marked["x-file"])
    return found
