"""Modified files of probes: analysed, plotted, and exported as a trace."""

from __future__ import annotations

import random
from pathlib import Path
from unittest.mock import patch

import command
from guard import Guard
from mutations import Step
from page_reader import PageRule
from steps import CHANGES, change

_HEAD = "number,sent_ns,arrived_ns,returned_ns,received_ns,replies,counted\n"
_OCTOPING = "number, sent, received, echo, rtt, up_t, down_t, phase\n"
_CELLS = ("", "0", "-1", "1e999", "nan", "1e18", "9223372036854775807", "x", "0.5", '"', " ", "1_0", "\u0663")
_NAMES = ("probe.csv", "probe.csv.gz", "</script><img src=x onerror=1>.csv".replace("/", "|"), "'\"&.csv")


class ProbeFile:
    """The target."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        self._folder = sandbox / "inside" / "files"
        self._page, self._trace = sandbox / "inside" / "page.html", sandbox / "inside" / "trace.txt"
        self._folder.mkdir(parents=True)
        patch("thalweg.pages.figures.page.program", lambda: "window.vegaEmbed = null;").start()
        file = self._folder / "probe.csv"
        file.write_text(_own(random.Random(1)), encoding="utf-8")
        command.run(["probe", "analyze", str(file), "-o", str(self._page)], guard)
        self._rule = PageRule(self._page)

    def make(self, chance: random.Random) -> list[Step]:
        """A file, changes of its bytes, and a command."""
        name = chance.choice(_NAMES)
        text = _own(chance) if chance.random() < 0.7 else _octoping(chance)
        changes: list[Step] = []
        for _ in range(chance.choice([0, 0, 1, 2])):
            at, length = chance.randrange(len(text)), chance.choice([0, 1, 1, 50, 10_000])
            changes.append(["splice", name, at, length, chance.randbytes(chance.randrange(4)).hex()])
        do = chance.choice([["analyze", name], ["analyze", name], ["export", name], ["page", name]])
        return [*(["line", name, line] for line in text.splitlines()), *changes, do]

    def play(self, case: list[Step]) -> str:
        """Writes the file and gives the command."""
        for file in self._folder.iterdir():
            file.unlink()
        lines = [(step[1], step[2]) for step in case if step[0] == "line"]
        for name in {name for name, _ in lines}:
            text = "".join(f"{line}\n" for other, line in lines if other == name)
            (self._folder / name).write_text(text, encoding="utf-8")
        ends = []
        for step in case:
            if step[0] in CHANGES:
                change(self._folder, step)
            elif step[0] != "line":
                with self._guard.watch():
                    ends.append(self._command(*step))
        return "refused" if 2 in ends else "stopped" if self._guard.was_asked else "played"

    def _command(self, do: str, name: str) -> int:
        file = str(self._folder / name)
        match do:
            case "analyze":
                return command.run(["probe", "analyze", file, "--format", "json"], self._guard).status
            case "export":
                return command.run(["probe", "export", file, "-o", str(self._trace)], self._guard).status
            case _:
                self._page.unlink(missing_ok=True)
                status = command.run(["probe", "analyze", file, "-o", str(self._page)], self._guard).status
                if status == 0 and self._page.exists():
                    self._rule.hold(self._page)
                return status


def _own(chance: random.Random) -> str:
    """A file of ours; some of its cells are not numbers, or not likely ones."""
    lines, strange = [], chance.choice([0.0, 0.0, 0.01, 0.1])
    for number in range(chance.choice([1, 2, 3, 30, 60])):
        sent = number * 20_000_000
        if chance.random() < 0.2:
            cells = [number, sent, "", "", "", 0, ""]
        else:
            up, down = (round(chance.expovariate(1e-7)) for _ in range(2))
            cells = [number, sent, sent + up, sent + up + 9, sent + up + 9 + down, 1, number + 1]
        lines.append(",".join(chance.choice(_CELLS) if chance.random() < strange else str(cell) for cell in cells))
    return _HEAD + "\n".join(lines) + "\n"


def _octoping(chance: random.Random) -> str:
    """A file of octoping, likewise."""
    lines, strange = [], chance.choice([0.0, 0.0, 0.01, 0.1])
    for number in range(chance.choice([1, 3, 30])):
        sent, rtt = 100 + 20_000 * number, chance.randrange(100, 90_000)
        lost = chance.random() < 0.2
        cells = [number, sent, *([0] * 6 if lost else [sent, 0, rtt, rtt // 2, sent + rtt, 50])]
        lines.append(",".join(chance.choice(_CELLS) if chance.random() < strange else str(cell) for cell in cells))
    return _OCTOPING + "\n".join(lines) + "\n"


TARGET = ProbeFile
