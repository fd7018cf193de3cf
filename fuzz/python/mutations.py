"""Makes steps that change a stored result: by structure, bytes, tables, names, and entries of its folder."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

import hostile
from steps import TABLE_CHANGES

Step: TypeAlias = list[Any]
_OTHERS = [f"../outside{name}" for name in ("", "/keep.parquet", "/experiment.json", "/report.html")]
OUTSIDE = (*_OTHERS, "/etc", "/etc/passwd", "/dev/zero")
_STEPS_OF_WRITERS = (".unfinished", ".whole", ".moving", ".partial")


class Mutations:
    """The changes that suit what is stored in a folder."""

    def __init__(self, base: Path) -> None:
        files = sorted(str(file.relative_to(base)) for file in base.rglob("*") if file.is_file())
        self._base = base
        self.files = [name for name in files if not name.endswith(".html")]
        self._documents = [name for name in self.files if name.endswith(".json")]
        self._tables = [name for name in self.files if name.endswith(".parquet")]
        self._folders = sorted({str(Path(name).parent) for name in self.files} - {"."})
        self._columns = {name: pl.read_parquet(base / name).columns for name in self._tables}
        self._parsed = {name: json.loads((base / name).read_text(encoding="utf-8")) for name in self._documents}

    def some(self, chance: random.Random) -> list[Step]:
        """One change or a few, most of one sort."""
        sorts = [self.structure, self.structure, self.octets, self.entry]
        sorts += [self.table, self.table] if self._tables else []
        chosen = chance.choice(sorts)
        return [(chosen if chance.random() < 0.8 else chance.choice(sorts))(chance) for _ in range(_few(chance))]

    def structure(self, chance: random.Random) -> Step:
        """Another value somewhere in a document, a key too many, or one too few."""
        name = chance.choice(self._documents)
        path = self._path(name, chance)
        match chance.randrange(5):
            case 0:
                return ["remove-key", name, path]
            case 1:
                key = chance.choice(["new", "__class__", "name", "flow"])
                return ["set", name, [*path[:-1], key], _value(chance)]
            case 2:
                return ["set", name, path, self._elsewhere(name, chance)]
            case _:
                return ["set", name, path, _value(chance)]

    def names(self, chance: random.Random, known: list[str]) -> list[Step]:
        """Hostile texts in place of harmless ones, the same in all files: results that can still be read."""
        steps: list[Step] = []
        folders: list[Step] = []
        for old in chance.sample(known, chance.randrange(1, len(known) + 1)):
            new = hostile.text(chance)
            steps += [["replace-text", name, old, new] for name in self.files]
            folders += [["copy", old, new]] if old in self._folders and "/" not in new else []
        return [*steps, *folders]

    def octets(self, chance: random.Random) -> Step:
        """Bytes changed, put in or left out."""
        name = chance.choice(self.files)
        size = (self._base / name).stat().st_size
        last = size if chance.random() < 0.6 else min(size, 800)  # the end of a Parquet file says what is in it
        at = size - 1 - chance.randrange(last)
        match chance.randrange(4):
            case 0:
                return ["splice", name, at, size, ""]
            case 1:
                return ["splice", name, at, chance.randrange(1, 50), ""]
            case 2:
                return ["splice", name, at, 0, chance.randbytes(chance.randrange(1, 20)).hex()]
            case _:
                return ["splice", name, at, 1, chance.randbytes(1).hex()]

    def table(self, chance: random.Random) -> Step:
        """A table that can be read and is not the one that was stored."""
        name = chance.choice(self._tables)
        column = chance.choice(self._columns[name])
        value: Any = chance.choice([*hostile.NUMBERS, *hostile.TEXTS[:20], None, True])
        if isinstance(value, str):
            value = value.encode(errors="replace").decode()
        return ["table", name, chance.choice(TABLE_CHANGES), column, value]

    def entry(self, chance: random.Random) -> Step:
        """Entries of the folder that are not files of ours, lead out of it, or are missing."""
        name = chance.choice([*self.files, *self._folders, "report.html", *_STEPS_OF_WRITERS])
        if chance.random() < 0.2:
            name = f"{chance.choice(_STEPS_OF_WRITERS)}/{name}"
        match chance.randrange(7):
            case 0:
                return ["remove", name]
            case 1:
                return ["folder", name]
            case 2:
                return ["pipe", name]
            case 3:
                return ["copy", chance.choice([*self.files, *self._folders]), name]
            case 4:
                return ["write", name, chance.choice(["", "{}", "[" * 100_000, "null", "PAR1PAR1", "1e999"])]
            case _:
                return ["link", name, chance.choice([*OUTSIDE, ".", name, *self.files])]

    def _path(self, name: str, chance: random.Random) -> list[str | int]:
        node: Any = self._parsed[name]
        path: list[str | int] = []
        while isinstance(node, dict | list) and node and (not path or chance.random() < 0.85):
            entries: dict[Any, Any] = node if isinstance(node, dict) else dict(enumerate(node))
            path.append(chance.choice(list(entries)))
            node = entries[path[-1]]
        return path

    def _elsewhere(self, name: str, chance: random.Random) -> Any:
        node: Any = self._parsed[name]
        for key in self._path(name, chance):
            node = node[key]
        return node


def _value(chance: random.Random) -> Any:
    found = hostile.value(chance)
    return found if chance.random() < 0.9 else chance.choice(OUTSIDE)


def _few(chance: random.Random) -> int:
    return chance.choice([1, 1, 1, 1, 2, 2, 3, 5])
