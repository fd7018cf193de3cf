"""Shipped scenarios that are changes of another one.

Such a file names its `base`, and has the keys in which it differs, each set as by `--set`: flows
and streams by their names, lists as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from thalweg import _native
from thalweg.base.toml import read_toml
from thalweg.engine.controllers.resolver import Resolver
from thalweg.engine.scenario_text import Keys, toml_value


def whole(text: bytes, file: Path) -> bytes:
    """The text of a shipped scenario with all of its keys. Raises ScenarioError."""
    keys = read_toml(text, str(file))
    base = keys.pop("base", None)
    if base is None:
        return text
    of = file.parent.parent / f"{base}.toml"
    return _native.Scenario.from_toml(
        of.read_bytes(), str(file), list(_settings(keys)), [], Resolver()
    ).toml.encode()


def _settings(keys: Keys, table: str = "") -> Iterator[tuple[str, str]]:
    """Each key with the tables that it is in, and its value.

    >>> list(_settings({"path": {"rate": "1 Mbps", "change": []}, "overhead": 0}))
    [('path.rate', '"1 Mbps"'), ('path.change', '[]'), ('overhead', '0')]
    """
    for name, value in keys.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{table}{name}.")
        else:
            yield f"{table}{name}", toml_value(value)
