"""The folder of minimised finds: `corpus/TARGET/FILE`, a step on each line."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from failure import Broken
from mutations import Step
from player import Player
from targets import ALL

FOLDER = Path(__file__).resolve().parent.parent / "corpus"


def keep(folder: Path, target: str, kind: str, case: list[Step]) -> Path:
    """Writes a case; its name says what it showed."""
    text = "".join(f"{json.dumps(step)}\n" for step in case)
    words = "-".join(re.findall(r"[a-z0-9]+", kind.lower()))[:80]
    file = folder / target / f"{words}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def read(file: Path) -> list[Step]:
    """The case in a file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def replay(path: Path) -> tuple[int, int]:
    """Plays the cases of a file or a folder; returns how many there were and how many failed."""
    files = [path] if path.is_file() else sorted(file for name in ALL for file in path.glob(f"{name}/*.txt"))
    failed = 0
    for name in dict.fromkeys(file.parent.name for file in files):
        with Player(name) as player:
            for file in (file for file in files if file.parent.name == name):
                try:
                    player.again(read(file))
                except Broken as broken:
                    failed += 1
                    print(f"{file}: {broken}")
    return len(files), failed
