"""Steps of a case that change stored files: each is a list, the name of the step and what it needs.

A step that finds nothing to change, since another was left out, does nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

_TABLES: dict[str, Callable[[pl.DataFrame, str, Any], pl.DataFrame]] = {
    "drop": lambda table, column, _: table.drop(column),
    "first": lambda table, _, __: table.head(1),
    "none": lambda table, _, __: table.head(0),
    "reverse": lambda table, _, __: table.reverse(),
    "twice": lambda table, _, __: pl.concat([table, table]),
    "many": lambda table, _, __: pl.concat([table] * 300),
    "fill": lambda table, column, value: table.with_columns(pl.lit(value).alias(column)),
    "cell": lambda table, column, value: table.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    ),
    "lists": lambda table, column, value: table.with_columns(pl.lit([[value]]).alias(column)),
    "rename": lambda table, column, value: table.rename({column: str(value)}),
}
TABLE_CHANGES = tuple(_TABLES)


def change(folder: Path, step: list[Any]) -> None:
    """Does a step in a folder."""
    kind, name, *rest = step
    file = folder / name
    try:
        if file.exists() and not file.is_file() and not file.is_dir() and kind not in _OF_PIPES:
            return  # a pipe whose other end is closed, or a device that never ends
        _STEPS[kind](file, *rest)
    except (OSError, ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError):
        return
    except pl.exceptions.PolarsError:
        return


def _set(file: Path, path: list[str | int], value: Any) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    file.write_text(json.dumps(document), encoding="utf-8")


def _remove_key(file: Path, path: list[str | int]) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    node = document
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    file.write_text(json.dumps(document), encoding="utf-8")


def _replace_text(file: Path, old: str, new: str) -> None:
    """In all texts of a document or a table, or in a file."""
    if file.suffix == ".parquet":
        table = pl.read_parquet(file.read_bytes())
        texts = [name for name, kind in table.schema.items() if kind == pl.String]
        table.with_columns(pl.col(texts).replace(old, new)).write_parquet(file)
    elif file.suffix == ".json":
        document = file.read_text(encoding="utf-8")
        # Once as a text, and once as a text of TOML within a text.
        document = document.replace(json.dumps(json.dumps(old))[1:-1], json.dumps(json.dumps(new))[1:-1])
        file.write_text(document.replace(json.dumps(old), json.dumps(new)), encoding="utf-8")
    else:
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def _splice(file: Path, at: int, length: int, new: str) -> None:
    data = file.read_bytes()
    at %= max(1, len(data))
    file.write_bytes(data[:at] + bytes.fromhex(new) + data[at + length :])


def _table(file: Path, kind: str, column: str, value: Any) -> None:
    table = pl.read_parquet(file.read_bytes())
    _TABLES[kind](table, column, value).write_parquet(file)


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink()


def _link(file: Path, target: str) -> None:
    if os.path.lexists(file):
        _remove(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(target)


def _folder(file: Path) -> None:
    if os.path.lexists(file):
        _remove(file)
    file.mkdir(parents=True)


def _pipe(file: Path) -> None:
    if os.path.lexists(file):
        _remove(file)
    os.mkfifo(file)


def _copy(file: Path, target: str) -> None:
    to = file.parent / target
    to.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir():
        shutil.copytree(file, to, symlinks=True)
    else:
        shutil.copyfile(file, to)


_STEPS: dict[str, Callable[..., None]] = {
    "set": _set,
    "remove-key": _remove_key,
    "replace-text": _replace_text,
    "splice": _splice,
    "table": _table,
    "write": lambda file, text: file.write_text(text, encoding="utf-8"),
    "remove": _remove,
    "link": _link,
    "folder": _folder,
    "pipe": _pipe,
    "copy": _copy,
}
CHANGES = frozenset(_STEPS)
_OF_PIPES = {"remove", "link", "folder", "pipe"}
"""What can be done to a pipe without opening it."""
