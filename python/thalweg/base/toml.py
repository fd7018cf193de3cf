"""TOML texts, read as the engine reads scenarios: what it accepts, plans and suites may have too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import ScenarioError

_MOST_LINES = 500
"""The line of a key is not looked for in longer files: each beginning of a file is read."""


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


def place(file: str | Path, *keys: str) -> str:
    """A file, with the line of a key if it can be found: for a message, since it reads the file again."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return str(file)
    return place_in(text, str(file), *keys)


def place_in(text: str, file: str, *keys: str) -> str:
    r"""The name of a file, with the line where its text has a key, or the longest beginning of it that is there.

    >>> place_in("[a]\nb = 1", "x.toml", "a", "b"), place_in("[a]\nb = 1", "x.toml", "c")
    ('x.toml:2', 'x.toml')
    """
    lines = text.split("\n")
    while keys and len(lines) <= _MOST_LINES:
        before = 0
        for end in range(1, len(lines) + 1):
            try:
                document = read_toml("\n".join([*lines[:end], ""]), file)
            except ScenarioError:
                continue
            if _has(document, keys):
                return f"{file}:{before + 1}"  # behind the longest beginning that lacks it
            before = end
        keys = keys[:-1]
    return file


def _has(document: Any, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if isinstance(document, list):
            if not key.isdigit() or int(key) >= len(document):
                return False
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return False
    return True


def shown(value: Any, most: int = 60) -> str:
    """A value as a TOML file has it, in one line and cut after `most` characters.

    >>> shown(True), shown({"a": [1, float("inf"), "x"]}), shown("5 Mbps", 5)
    ('true', '{ a = [1, inf, "x"] }', '"5 Mb...')
    """
    said = _written(value)
    return said if len(said) <= most else f"{said[:most]}..."


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_written(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False, default=repr)


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
