"""A scenario file out of keys and values.

At the top of a file, a mapping becomes a table and a list of mappings an array of tables; below, mappings stand in
one line. Which keys there are and what they accept, the scenario knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Keys = Mapping[str, Any]
"""Texts, numbers, switches, lists of texts, and mappings of them. None is left out, an empty list is not."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def scenario_text(keys: Keys, table: str = "") -> str:
    """The text of a scenario file; `table`: of a scenario that is this table of another file.

    Keys are written as they are: `path.rate` is the rate of the path, but not in keys that are `single`.

    >>> path, flow = {"rate": "1 Mbps", "jitter": {"model": "wifi"}}, {"download": "1 MB", "background": True}
    >>> print(scenario_text({"title": "x", "path": path, "flow": [flow]}), end="")
    title = "x"
    <BLANKLINE>
    [path]
    rate   = "1 Mbps"
    jitter = { model = "wifi" }
    <BLANKLINE>
    [[flow]]
    download   = "1 MB"
    background = true
    """
    before = f"{table}." if table else ""
    blocks = [
        _lines(table and f"[{table}]", {name: value for name, value in keys.items() if not _is_table(value)})
    ]
    for name, value in keys.items():
        if isinstance(value, Mapping):
            blocks.append(_lines(f"[{before}{name}]", value))
        elif _is_table(value):
            blocks += [_lines(f"[[{before}{name}]]", entry) for entry in value]
    return "\n\n".join(filter(None, blocks)) + "\n"


def single(value: Any) -> Any:
    """A value that was read from a file, with each of its keys written as one key: a dot in it leads nowhere.

    >>> single({"a.b": [{"ä c": 1}], "ack-every": 2})
    {'"a.b"': [{'"ä c"': 1}], 'ack-every': 2}
    """
    if isinstance(value, Mapping):
        return {key if _BARE.fullmatch(key) else toml_value(key): single(inner) for key, inner in value.items()}
    return [single(inner) for inner in value] if isinstance(value, list) else value


def nanoseconds(value_s: float) -> str:
    """A time as a scenario file has it, which knows no exponents.

    >>> nanoseconds(2.54), nanoseconds(1e-5)
    ('2540000000 ns', '10000 ns')
    """
    return f"{round(value_s * 1e9)} ns"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and value != [] and all(isinstance(entry, Mapping) for entry in value)
    )


def _lines(header: str, keys: Keys) -> str:
    given = {name: value for name, value in keys.items() if value is not None}
    width = max(map(len, given), default=0)
    return "\n".join(
        [*filter(None, [header]), *(f"{name:{width}} = {toml_value(value)}" for name, value in given.items())]
    )


def toml_value(value: Any) -> str:
    """A value in one line. Texts are quoted as JSON does, which TOML reads."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_pairs(value))} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _pairs(keys: Keys) -> Iterator[str]:
    return (f"{name} = {toml_value(value)}" for name, value in keys.items() if value is not None)
