"""The blocks of code of a page, and how a test plays them: from top to bottom, in one folder.

What a fence holds says what is done with it:

- `sh`: each line is a command, which runs;
- `console`: lines that begin with `$ ` are commands, and what follows is what they print, where `...` stands for
  anything;
- `python`: runs, all blocks of a page with the same names; one that begins with `>>>` is a doctest;
- `yaml`: a workflow, whose `run: thalweg` must be accepted;
- `toml`: a scenario, or tables of one, which runs; for others see `test_blocks.py`.

Comments right above a fence, which no reader sees, say more:

- `<!-- file: mine.toml -->`: later blocks find this one as that file;
- `<!-- before: COMMAND -->`: runs first, for what the page expects to be there;
- `<!-- shorter: PREFIX, OPTIONS -->`: commands that begin so get these options too, and take less time;
- `<!-- elsewhere: PREFIX, REASON -->`: such commands are not run, but their options must be accepted;
- `<!-- live: PREFIX, REASON -->`: such commands run in real time, with the machine for themselves;
- `<!-- output: PREFIX, REASON -->`: what such commands print is not compared.

README is read as raw text too, so its notes are here: `OF_README`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTES = ("file", "before", "shorter", "elsewhere", "live", "output")
OF_README = (
    ("elsewhere", "git clone, the tests run in a checkout"),
    ("elsewhere", "make, they are the tests"),
    ("elsewhere", "source, the tests run in the environment"),
    ("elsewhere", "thalweg lab, until Ctrl-C"),
    ("shorter", "thalweg suite, --trials 2 --only satellite"),
    (
        "shorter",
        "thalweg study fairness, -n 1 -c c4 --buffer 1 --queue drop-tail --flows 2 --duration 20s --gap 1s",
    ),
    ("live", "thalweg shell, real time"),
    ("live", "thalweg run c4/simple-20mbps --live, real time"),
)
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+)(?P<language>[\w{}-]*)[^\n`]*$")
_NOTE = re.compile(r"^ *<!-- (\w+): (.*) -->$")


@dataclass(frozen=True)
class Block:
    """One block, and the notes above it."""

    page: str
    line: int
    language: str
    text: str
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"

    def noted(self, what: str) -> list[str]:
        """What the notes of a kind say."""
        return [said for kind, said in self.notes if kind == what]

    def of_command(self, what: str, command: str) -> str | None:
        """What a note says of a command, by the words that it begins with; None if there is no such note."""
        for said in self.noted(what):
            prefix, _, rest = said.partition(", ")
            if command.startswith(prefix):
                return rest
        return None


@dataclass(frozen=True)
class Command:
    """A line of a shell, and what it prints, if the page shows that."""

    line: str
    prints: str | None = None

    @property
    def words(self) -> list[str]:
        """Without the comment behind it."""
        return shlex.split(self.line, comments=True)


def pages() -> list[str]:
    """All that a reader is given to read: the manual, and the pages of the repository."""
    of_repository = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE")]
    return sorted(str(page.relative_to(ROOT)) for page in [*of_repository, *(ROOT / "docs").rglob("*.md")])


def blocks(page: str, text: str | None = None) -> list[Block]:
    """The blocks of a page in their order. A note of an unknown kind is an error."""
    lines = ((ROOT / page).read_text(encoding="utf-8") if text is None else text).splitlines()
    found, notes = [], []
    of_page = OF_README if page == "README.md" else ()
    rest = iter(enumerate(lines, start=1))
    for number, line in rest:
        if note := _NOTE.match(line):
            if note[1] in NOTES:
                notes.append((note[1], note[2]))
        elif fence := _FENCE.match(line):
            inside = list(_until(rest, fence["indent"] + fence["fence"]))
            text_ = "".join(f"{line.removeprefix(fence['indent'])}\n" for line in inside)
            found.append(Block(page, number, fence["language"], text_, [*notes, *of_page]))
            notes = []
        elif line.strip() and notes:
            raise ValueError(f"{page}:{number}: a note on a block that does not follow it")
    return found


def _until(rest: Iterator[tuple[int, str]], end: str) -> Iterator[str]:
    for _, line in rest:
        if line.rstrip() == end:
            return
        yield line


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block of `sh` or `console`; a line that ends with a backslash goes on."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language != "console":
        yield from (Command(line) for line in lines if line.strip() and not line.startswith("#"))
        return
    shown: list[str] = []
    for line in [*lines, "$ "]:
        if line.startswith("$ "):
            if shown:
                yield Command(shown[0], "".join(f"{line}\n" for line in shown[1:]))
            shown = [line[2:]]
        else:
            shown.append(line)
