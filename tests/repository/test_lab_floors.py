"""The folders of the lab's page stand on floors: what runs in one needs nothing of a higher one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "lab" / "src"
FLOORS = (
    "words",  # what is said: terms, quantities, states, colours
    "engine",  # the seam to what runs trials, and both sides of it
    "trial",  # what a trial has to show: panels, verdicts
    "scenario",  # its text: keys, knobs, completion
    "own",  # controllers of the reader, in their sandbox
    "field",  # measurements of elsewhere
    "chart",  # drawings over time
    "state",  # what is shown: the run, the link, the tab
    "watch",  # packets at the cursor
    "stored",  # results and sweeps that are there
    "sweep",  # sweeps that are asked for
    "live",  # trials in real time
    "lessons",
    "view",  # the parts of the page
    "",  # the page itself, and what scripts call
)
"""From the ground up."""
IMPORT = re.compile(
    r"""^(?:import|export)\s+(?P<what>[^;'"]*?)\s*from\s*"(?P<from>\.[^"]+)"|^import\s+"(?P<bare>\.[^"]+)"|\bimport\("(?P<late>\.[^"]+)"\)""",
    re.MULTILINE,
)


def is_of_types(what: str) -> bool:
    """Whether an import brings types alone, of which nothing is left at run time."""
    names = [name.strip() for name in what.strip("{} \n").split(",") if name.strip()]
    return what.startswith("type ") or all(name.startswith("type ") for name in names)


def imports(file: Path) -> Iterator[Path]:
    """The files that a file needs at run time."""
    for found in IMPORT.finditer(file.read_text(encoding="utf-8")):
        target = found["from"] or found["bare"] or found["late"]
        if found["from"] and is_of_types(found["what"]):
            continue
        path = Path(os.path.normpath(file.parent / target.partition("?")[0]))
        yield next(one for one in (path, path.with_suffix(".ts"), path.with_suffix(".tsx")) if one.is_file())


def floor(file: Path) -> str:
    return "" if file.parent == SOURCE else file.relative_to(SOURCE).parts[0]


def files() -> list[Path]:
    found = [file for ending in ("ts", "tsx") for file in SOURCE.rglob(f"*.{ending}")]
    assert len(found) > 50
    return sorted(found)


def test_floors_of_the_lab() -> None:
    assert {floor(file) for file in files()} == set(FLOORS)
    upward = [
        f"{file.relative_to(SOURCE)} needs {other.relative_to(SOURCE)}"
        for file in files()
        for other in imports(file)
        if other.is_relative_to(SOURCE) and FLOORS.index(floor(other)) > FLOORS.index(floor(file))
    ]
    assert upward == []


def test_no_files_of_the_lab_need_each_other() -> None:
    TopologicalSorter(
        {file: set(imports(file)) for file in files()}
    ).prepare()  # raises CycleError, with the circle


def test_imports_are_seen_and_those_of_types_are_told_apart(tmp_path: Path) -> None:
    for name in ("a.ts", "b.tsx", "c.ts"):
        (tmp_path / name).write_text("")
    text = 'import { type A, a } from "./a";\nimport {\n  type B,\n} from "./b";\nexport type { D } from "./c";\n'
    (tmp_path / "one.ts").write_text(text + 'const c = import("./c");\nimport "./b";\n')
    assert sorted(file.name for file in imports(tmp_path / "one.ts")) == ["a.ts", "b.tsx", "c.ts"]
    (tmp_path / "two.ts").write_text(text)
    assert [file.name for file in imports(tmp_path / "two.ts")] == ["a.ts"]
