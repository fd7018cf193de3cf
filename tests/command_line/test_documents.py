"""What the main commands print and store on small inputs: every table; of each document in JSON keys and types.

The files of `documents/` hold it, with a hash of what they leave out. A change of the house changes none of them;
a change of what users see changes those that it is about: `make documents` writes them anew, and the commit shows
the difference.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from thalweg import version
from thalweg.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = Path(__file__).with_name("documents")
RUN = "run c4/simple-20mbps --trials 3"
SUITE = "suite c4 --only media-10mbps --only media-100* --trials 4 --no-report"
GATE = "gate c4 --only media-10mbps --only media-100* --trials 12"
COMMANDS = {
    "run": RUN,
    "run-json": f"{RUN} --format json",
    "run-side-by-side": f"{RUN} -c main=reno -c main=cubic",
    "run-quic": f"{RUN} --stack quic",
    "run-fails": f"{RUN} --set path.rate=10Mbps",
    "suite": f"{SUITE} --out first",
    "suite-json": f"{SUITE} --format json -c main=cubic --out second",
    "suite-markdown": f"{SUITE} --format markdown",
    "suite-junit": f"{SUITE} --format junit -c main=cubic",
    "suite-against": f"{SUITE} --against cubic --against reno",
    "suite-stored": "STORED first",
    "compare": "compare first second",
    "compare-json": "compare first second --format json",
    "gate-accept": f"{GATE} --accept",
    "gate": f"{GATE} --set transport.max_ack_delay=20ms",
    "gate-json": f"{GATE} -c main=cubic --format json",
    "replay": "replay first media-10mbps 3",
    "sweep": "sweep plan.toml --out sweep",
    "sweep-again": "sweep plan.toml --out sweep --format json",
    "sweep-shard": "sweep plan.toml --out half --shard 1/2",
    "sweep-merge": "merge half sweep --out both",
    "sweep-stored": "STORED both",
    "hunt": "hunt hunt.toml --out hunt --format json",
    "hunt-stored": "STORED hunt",
    "tune": "tune reno --suite two --trials 2 --budget 8 --format json",
    "score": "score reno --suite two --trials 2",
    "harm": "study harm --count 20 --out harm",
    "harm-stored": "STORED harm",
    "compare-studies": "compare harm harm",
    "fairness": "study fairness --trials 1 -c cubic -c reno --duration 20s --flows 2 --format json",
    "starts": "study slow-start --trials 1 --phases 1 -c cubic --rate 5Mbps --rtt 40ms --format json",
    "stacks": "study stacks --scenario simple-20mbps --trials 2 --format json",
    "probe": f"probe analyze {ROOT}/docs/how-to/probe/good.csv.gz --format json",
    "suites": "list suites",
    "controllers": "list controllers",
    "metrics": "list metrics",
    "models": "list models",
    "check": "check c4/simple-20mbps",
    "show": "show c4/media-100mbps",
}
"""Each in the folder of all; STORED prints the JSON documents and the names of what is stored."""
NEEDS = {
    "suite-stored": ("suite",),
    "compare": ("suite", "suite-json"),
    "compare-json": ("suite", "suite-json"),
    "gate": ("gate-accept",),
    "gate-json": ("gate-accept",),
    "replay": ("suite",),
    "sweep-again": ("sweep",),
    "sweep-merge": ("sweep", "sweep-shard"),
    "sweep-stored": ("sweep-merge",),
    "hunt-stored": ("hunt",),
    "harm-stored": ("harm",),
    "compare-studies": ("harm",),
}
"""Which commands run before, for what they store."""
LONG = dict.fromkeys(("harm", "harm-stored", "compare-studies", "fairness", "probe"), pytest.mark.soak)
"""Those that take eight seconds or more."""

WIDTH = 110
"""Of the lines that tell the keys of a document."""

INPUTS = {
    "plan.toml": """scenario = "c4/simple-20mbps"
trials = 2
[controllers]
main = "cubic"
[axes]
"path.rtt" = ["20 ms", "40 ms"]
""",
    "hunt.toml": """scenario = "c4/simple-20mbps"
objective = { kind = "regret", reference = "reno" }
budget = 16
[controllers]
main = "cubic"
[axes]
"path.rtt" = { from = "10 ms", to = "80 ms", scale = "log" }
"path.buffer" = { from = "0.5 bdp", to = "4 bdp", scale = "log" }
""",
    "two/suite.toml": """title = "Two scenarios"
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all commands run."""
    folder = tmp_path_factory.mktemp("documents")
    for name, text in INPUTS.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for scenario in ("simple-20mbps", "media-100mbps"):
        shutil.copy(ROOT / f"python/thalweg/suites/c4/{scenario}.toml", folder / "two")
    return folder


@pytest.fixture(scope="module")
def printed(folder: Path) -> Callable[[str], str]:
    """What a command prints, and its exit status; those that it needs run first."""
    known: dict[str, str] = {}

    def ask(name: str) -> str:
        if name not in known:
            for other in NEEDS.get(name, ()):
                ask(other)
            known[name] = _printed(folder, COMMANDS[name])
        return known[name]

    return ask


def _printed(folder: Path, command: str) -> str:
    """What a command prints in a folder."""
    words = command.split()
    if words[0] == "STORED":
        return "".join(_stored(folder / words[1]))
    told = io.StringIO()
    plain = patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"})
    with contextlib.chdir(folder), plain, redirect_stdout(told):
        status = main(words)
    text = _steady(told.getvalue(), folder)
    return f"status {status}\n{_keys(text) if text.startswith('{') else text}"


def _stored(folder: Path) -> Iterator[str]:
    """The names in a folder, and what its documents say; the files with trials are more where time is short."""
    scenarios = 0
    tables: dict[Path, list[str]] = {}
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        if file.parent.parent.name == "trials":
            continue
        name = file.relative_to(folder)
        if file.suffix not in {".json", ".md", ".toml"}:
            tables.setdefault(name.parent, []).append(name.name)
            continue
        text = _steady(file.read_text(encoding="utf-8"), folder.parent)
        if file.suffix == ".json":
            text = _keys(_steady(json.dumps(json.loads(text), indent=1), folder.parent))
        scenarios += file.suffix == ".toml"
        if file.suffix == ".toml" and scenarios > 1:
            yield f"{name}: {_hash(text)}\n"
        else:
            yield re.sub("^", "    ", f"{name}\n{text}", flags=re.MULTILINE).strip(" ")
    yield from (_steady(f"{parent}: {', '.join(names)}\n", folder.parent) for parent, names in tables.items())


@dataclass
class Shape:
    """What values in one place of a document are: types, lengths and items of lists, keys of objects."""

    types: set[str] = field(default_factory=set)
    items: Shape | None = None
    keys: dict[str, Shape] = field(default_factory=dict)

    def take(self, value: Any) -> None:
        """One more value in this place."""
        if isinstance(value, dict):
            self.types |= set() if value else {"{}"}
            for key, inner in value.items():
                self.keys.setdefault(key, Shape()).take(inner)
        elif isinstance(value, list):
            self.types.add(f"{len(value)} of")
            self.items = self.items or Shape()
            for inner in value:
                self.items.take(inner)
        else:
            self.types.add(
                "null" if value is None else {"str": "text"}.get(type(value).__name__, type(value).__name__)
            )

    def lines(self, head: str = "") -> list[str]:
        """All of it on one line, or, where that is too long, each object with its fields below it."""
        head += " | ".join(sorted(self.types))
        if self.items is not None:
            return self.items.lines(f"{head} ")
        if not self.keys:
            return [head.rstrip()]
        fields: list[list[str]] = []
        for _, alike in groupby(self.keys, key=lambda key: self.keys[key].lines()):
            names = list(alike)
            fields.append(self.keys[names[0]].lines(f"{', '.join(names)}: "))
        if all(len(lines) == 1 for lines in fields):
            line = f"{head}{{{'; '.join(line for lines in fields for line in lines)}}}"
            if len(line) <= WIDTH:
                return [line]
        below: list[str] = []
        for is_short, group in groupby(fields, key=lambda lines: len(lines) == 1):
            if is_short:
                text = "; ".join(line for lines in group for line in lines)
                below += [line.replace("~", " ") for line in textwrap.wrap(text.replace(": ", ":~"), WIDTH)]
            else:
                below += [line for lines in group for line in lines]
        return [head.rstrip(), *(f"  {line}" for line in below)]


def _keys(text: str) -> str:
    """The keys of a document in JSON with the types of their values, alike ones together, and a hash of it."""
    shape = Shape()
    shape.take(json.loads(text))
    lines = shape.lines()
    return "\n".join([_hash(text), *(lines[1:] or lines), ""])


def _hash(text: str) -> str:
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _steady(text: str, folder: Path) -> str:
    """Without what each run or machine changes: folders, hosts, times, versions, hashes of files, last digits."""
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT").replace(version(), "VERSION")
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.+Z]*", "TIME", text)
    text = re.sub(r'"(host|hashes|runtime)": \{[^}]*\}', r'"\1": {}', text)
    text = re.sub(r"\b[0-9a-f]{32}([0-9a-f]{32})?\b|(?<=\+)[0-9a-f]{16}\b", "HASH", text)
    text = re.sub(r'"(\w*(?:cpu|core_s|wall|elapsed|processor|trials_per)\w*)": [0-9.e+-]+', r'"\1": 0', text)
    text = re.sub(r"; [0-9.]+ m?s \(|[0-9.]+ m?s of processor time(, [0-9.]+ m?s)?", "TIME", text)
    text = re.sub(r"(\d+\.\d{9})\d+(e-?\d+)?", r"\1\2", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in COMMANDS])
def test_a_command_prints_and_stores_what_it_always_did(name: str, printed: Callable[[str], str]) -> None:
    """Compared with `documents/`; with THALWEG_DOCUMENTS=write it is written there."""
    text = printed(name)
    file = DOCUMENTS / f"{name.replace('-', '/', 1)}.txt"
    if os.environ.get("THALWEG_DOCUMENTS") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
