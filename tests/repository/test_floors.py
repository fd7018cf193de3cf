"""The floors of `python/thalweg`: a room imports rooms of lower floors, and no two folders import each other.

The package outside of it, `thalweg_c4_history`, stands on `experiments`, and the catalogue of studies alone names
it: a wheel is without it.

Imports for types alone are left out; those inside of functions count. The roof, `thalweg/__init__.py`, is on no
floor: it names what users import, and loads it when it is used. Nor is the door, `thalweg/__main__.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "thalweg"
FLOORS = (
    {"base"},
    {"judging"},
    {"engine"},
    {"results", "trials", "realtime", "gym", "foreign"},
    {"pages", "manual"},
    {"experiments", "probe"},
    {"lab"},
    {"cli"},
)


def _name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(file): file for file in PACKAGE.rglob("*.py")}


def imported(name: str) -> Iterator[tuple[str, bool]]:
    """The modules of the package that a module imports, and whether while it loads."""

    def walk(node: ast.AST, eager: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    full = f"{child.module}.{alias.name}"
                    yield full if full in MODULES else child.module, eager
            elif isinstance(child, ast.Import):
                yield from ((alias.name, eager) for alias in child.names)
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, eager and not inside)

    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    return ((module, eager) for module, eager in walk(tree, True) if module in MODULES and module != "thalweg")


def test_every_room_is_on_a_floor() -> None:
    rooms = {name.split(".")[1] for name in MODULES if "." in name} - {"__main__"}
    assert rooms == set().union(*FLOORS)
    assert len(rooms) <= 14
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("room", sorted(set().union(*FLOORS)))
def test_a_room_imports_rooms_of_lower_floors_alone(room: str) -> None:
    floor = {name: number for number, rooms in enumerate(FLOORS) for name in rooms}
    up = [
        f"{name} imports {module}"
        for name in sorted(MODULES)
        if name.startswith(f"thalweg.{room}.") or name == f"thalweg.{room}"
        for module, _ in imported(name)
        if (other := module.split(".")[1]) != room and floor[other] >= floor[room]
    ]
    assert not up


def test_no_two_folders_import_each_other_while_they_load() -> None:
    folders: dict[str, set[str]] = {}
    for name, file in MODULES.items():
        if name == "thalweg":
            continue
        own = str(file.parent.relative_to(PACKAGE))
        for module, eager in imported(name):
            other = str(MODULES[module].parent.relative_to(PACKAGE))
            if eager and other != own:
                folders.setdefault(own, set()).add(other)
    try:
        TopologicalSorter(folders).prepare()
    except CycleError as circle:
        pytest.fail(f"a circle of folders: {' <- '.join(circle.args[1])}")


def test_the_package_outside_of_it_uses_what_a_study_may_and_only_the_catalogue_names_it() -> None:
    apart = [file.read_text(encoding="utf-8") for file in (PACKAGE.parent / "thalweg_c4_history").glob("*.py")]
    assert len(apart) > 5
    used = {room for text in apart for room in re.findall(r"^\s*from thalweg\.(\w+)", text, re.MULTILINE)}
    assert used <= set().union(*FLOORS[:-2]) - {"probe"}
    naming = [name for name, file in MODULES.items() if "thalweg_c4_history" in file.read_text(encoding="utf-8")]
    assert naming == ["thalweg.experiments.studies.catalogue"]
