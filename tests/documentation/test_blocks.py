"""Every block of every page runs, and prints what the page shows."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from documentation.blocks import ROOT, Block, Command, blocks, commands, pages
from documentation.unchanged import has_passed, passed
from real_time import needs_rights
from thalweg.cli import main
from thalweg.cli.commands import everything as every_command
from thalweg.cli.status import UNFAITHFUL
from thalweg.engine.catalogue import Suite
from thalweg.engine.scenario import Scenario
from thalweg.experiments.bench.stack_file import StackFile
from thalweg.experiments.dossier.limits import read_limits
from thalweg.experiments.dossier.numbers import NUMBERS
from thalweg.experiments.dossier.statements import read_statements
from thalweg.experiments.hunt.plan import hunt_of
from thalweg.experiments.sweep.plan import plan_of
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.judging.thresholds import read_thresholds
from thalweg.realtime import LiveScenario

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
STATUSES = {
    **dict.fromkeys(("run", "suite", "score", "hunt", "gate"), (0, 1)),
    "tune": (0, 5),
    **dict.fromkeys(("study", "compare"), (0, 1, 2)),
}
"""1: a criterion, or a check of a study, has failed, which is an answer; 2: too few trials to tell; 5: no gain."""
TABLES = {
    "path": '[path]\nrate = "20 Mbps"\nrtt = "40 ms"\n',
    "flow": '[[flow]]\nname = "main"\ncontroller = "c4"\ndownload = "1 MB"\n',
}
"""What a scenario needs and a page may leave out, where it shows a part of one."""
EVERYTHING = every_command()
_PROBE = ("how-to/probe", "how-to/probe/call", "how-to/probe/explain-a-file")
_LONG = ("how-to/hunt", "how-to/own-controller", "how-to/clusters", "how-to/sweeps", *_PROBE)
LONG = {f"docs/{page}.md" for page in (*_LONG, "reference/results", "reference/transport")}
"""Pages whose blocks take five seconds or more."""
WITH_BLOCKS = [page for page in pages() if blocks(page)]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one, in which pages of the manual and examples are where a reader of the repository has them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for shared in ("docs", "examples"):
        (tmp_path / shared).symlink_to(ROOT / shared)
    return tmp_path


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.soak] if page in LONG else []) for page in WITH_BLOCKS]
)
def test_every_block_of_a_page_runs(page: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if has_passed(page):
        pytest.skip("a page has passed as it is, with this build")
    names: dict[str, Any] = {"__name__": "notebook"}
    for block in blocks(page):
        prepare(block, folder)
        play(block, names, capfd)
    passed(page)


@pytest.mark.realtime
@needs_rights
@pytest.mark.parametrize("page", [page for page in WITH_BLOCKS if any(one.noted("live") for one in blocks(page))])
def test_every_command_in_real_time_runs(page: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        prepare(block, folder)
        for command in commands(block) if block.noted("live") else ():
            run(block, command, capfd, live=True)


def prepare(block: Block, folder: Path) -> None:
    """What the notes above a block ask for."""
    for file in block.noted("file"):
        (folder / file).write_text(block.text, encoding="utf-8")
    for line in block.noted("before"):
        assert main(Command(line).words[1:]) in (0, 1), f"{block.place}: {line}"


def play(block: Block, names: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    """Does with a block what its language asks for."""
    match block.language:
        case "sh" | "console":
            for command in commands(block):
                run(block, command, capfd)
        case "python":
            python(block, names)
        case "toml":
            scenario(block)
        case "json" | "yaml":
            document(block)
        case "javascript":
            assert block.page in ("docs/how-to/lab.md", "docs/how-to/lab-controllers.md"), (
                f"{block.place}: tests/lab runs those of the lab alone"
            )
        case "rust":
            assert in_an_example(block.text), f"{block.place}: no example in Rust has these lines"
        case "csv":
            widths = {line.count(",") for line in block.text.splitlines()}
            assert len(widths) == 1, f"{block.place}: rows of different length"
        case "text" | "":
            synopsis(block, capfd)
        case "{eval-rst}":
            assert block.page == "docs/reference/api.md"  # Sphinx reads it, and fails for a name that is not there
        case other:
            pytest.fail(f"{block.place}: a block of {other!r}: tests do not know what to do with it")


def run(block: Block, command: Command, capfd: pytest.CaptureFixture[str], live: bool = False) -> None:
    """Runs a command, or holds at least that it would be accepted."""
    words = command.words
    if not words:
        return
    in_real_time = block.of_command("live", command.line) is not None
    if in_real_time != live or block.of_command("elsewhere", command.line) is not None:
        if not live:
            accept(block, words)
        return
    assert words[0] == "thalweg", f"{block.place}: tests run thalweg alone; say what to do with {command.line!r}"
    if more := block.of_command("shorter", command.line):
        words += Command(more).words
    target = words.index(">") if ">" in words else len(words)
    capfd.readouterr()
    status = main(words[1:target])
    printed = capfd.readouterr()
    if target < len(words):
        Path(words[target + 1]).write_text(printed.out, encoding="utf-8")
    allowed = (*STATUSES.get(words[1], (0,)), *((UNFAITHFUL,) if live else ()))
    assert status in allowed, f"{block.place}: {command.line}: status {status}\n{printed.err}"
    if status == 2:  # too few trials to judge are an answer, a command that is refused is none
        assert "undecided" in printed.err, f"{block.place}: {command.line}\n{printed.err}"
    if command.prints is None or block.of_command("output", command.line) is not None:
        return
    told = printed.out + printed.err
    if not shows(command.prints, told):
        pytest.fail(f"{block.place}: {command.line}\nthe page shows\n{command.prints}\nit prints\n{told}")


def shows(page: str, told: str) -> bool:
    """Whether a page shows what was told, spaces and line ends aside; its `...` stands for anything or nothing."""
    parts = [re.escape(" ".join(part.split())) for part in page.split("...")]
    return re.fullmatch(".*".join(parts), " ".join(told.split()), re.DOTALL) is not None


def accept(block: Block, words: list[str]) -> None:
    """Holds that a command exists and takes these arguments, without running it."""
    if words[0] == "make":
        assert re.search(rf"^{re.escape(words[1])}:", (ROOT / "Makefile").read_text(), re.MULTILINE), block.place
    if words[0] != "thalweg":
        return
    arguments = words[1:]
    named = EVERYTHING
    try:
        while commands_of := getattr(named, "commands", None):
            named = commands_of[arguments.pop(0)]
        named.make_context("thalweg", arguments)
    except KeyError as error:
        pytest.fail(f"{block.place}: there is no command {error}")
    except typer.TyperException as error:
        pytest.fail(f"{block.place}: {' '.join(words)}: {error.format_message()}")


def document(block: Block) -> None:
    """Reads JSON; of a workflow in YAML, holds that its commands are accepted."""
    if block.language == "json":
        json.loads(block.text)
    for line in re.findall(r"^ *- run: (thalweg .*)$", block.text, re.MULTILINE):
        accept(block, shlex.split(line))


def python(block: Block, names: dict[str, Any]) -> None:
    """Runs a block, as a doctest if it is one."""
    if not block.text.startswith(">>>"):
        exec(compile(block.text, block.place, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.page, block.line)
    told: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not failed, "".join(told)


def scenario(block: Block) -> None:
    """Runs a scenario, or tables of one beside what they lack; plans, tables of suites, real time are checked."""
    keys = tomllib.loads(block.text)
    text = block.text
    if "field" in keys or set(keys) <= set(NUMBERS):
        Path("part.toml").write_text(text, encoding="utf-8")
        assert read_statements(Path("part.toml")) if "field" in keys else read_limits("part.toml"), block.place
        return
    if "compare" in keys:
        Path("suite").mkdir()
        for name in ("a", *keys["compare"].get("without", ())):
            Path("suite", f"{name}.toml").touch()
        Path("suite", "suite.toml").write_text(text, encoding="utf-8")
        assert Suite.find("suite").compare.against, block.place
        return
    if "client" in keys:
        assert StackFile.of(keys, Path("stack.toml")).name, block.place
        return
    if "gate" in keys:
        assert read_thresholds(keys["gate"], block.place), block.place
        return
    if "objective" in keys:
        assert hunt_of(keys, PlanFile(block.place, text), Path()).base(), block.place
        return
    if "axes" in keys:
        points = [point for _, point in next(plan_of(keys, PlanFile(block.place, text), Path()).space.points(50))]
        assert points, block.place
        return
    if "title" not in keys:
        given = {"path" if key == "link" else key for key in keys}
        lacking = [table for key, table in TABLES.items() if key not in given]
        text = "\n".join(['title = "Part"', text, *lacking])
    if "kernel:" in text or "command:" in text:
        LiveScenario.from_toml(text, block.place)
    else:
        Scenario.from_toml(text, block.place).run(seed=1)


def in_an_example(text: str) -> bool:
    """Whether the lines of a block stand in some example in Rust, in this order."""
    wanted = [re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines()]
    wanted = [line for line in wanted if line]
    places = ("crates/*/examples/*.rs", "examples/*/src/*.rs", "crates/*/src/lib.rs")
    sources = [file.read_text(encoding="utf-8") for place in places for file in ROOT.glob(place)]
    return any(_stand(wanted, source) for source in sources)


def _stand(wanted: list[str], source: str) -> bool:
    place = 0
    for line in wanted:
        place = source.find(line, place)
        if place < 0:
            return False
    return True


def synopsis(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    """What a command takes: each option that is named must exist."""
    if not (match := re.match(r"thalweg ([a-z -]+)\[", block.text)):
        return
    capfd.readouterr()
    assert main([*match[1].split(), "--help"]) == 0
    options, known = (set(re.findall(r"--[a-z-]+", text)) for text in (block.text, capfd.readouterr().out))
    assert options <= known, block.place


def test_each_page_of_the_manual_has_blocks_that_are_found() -> None:
    fences = {page: (ROOT / page).read_text(encoding="utf-8").count("```") // 2 for page in pages()}
    assert {page: len(blocks(page)) for page in pages()} == fences
    assert sum(fences.values()) > 50


def everything(text: str) -> Iterator[str]:
    for block in blocks("page", text):
        yield from (command.line for command in commands(block))


def test_notes_and_output_are_read_from_a_page() -> None:
    notes = "<!-- file: a.toml -->\n<!-- shorter: thalweg run, -n 1 -->\n\n"
    (block,) = blocks("page", f"{notes}```console\n$ thalweg run x  # y\nout\n$ b\n```\n")
    first, second = commands(block)
    assert (first.words, first.prints, second.prints) == (["thalweg", "run", "x"], "out\n", "")
    assert block.noted("file") == ["a.toml"]
    assert block.of_command("shorter", first.line) == "-n 1"
    assert block.of_command("shorter", second.line) is None
    assert list(everything("```sh\na \\\n  b\n# c\n```\n")) == ["a    b"]


def test_a_note_without_a_block_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"page:2: a note"):
        blocks("page", "<!-- file: a.toml -->\nwords\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ thalweg --version\nthalweg 9\n```", "the page shows"),
        ("```console\n$ thalweg --version\nthalweg ... words\n```", "the page shows"),
        ("```sh\nthalweg runn c4/simple-20mbps\n```", "status 2"),
        ("<!-- elsewhere: thalweg quic, no host -->\n```sh\nthalweg quic get H --nosuch\n```", "No such option"),
        ("```python\n>>> 1 + 1\n3\n```", "Expected"),
        ('```toml\ntitle = "x"\n[path]\n```', "rtt"),
        ("```rust\nlet nothing = such;\n```", "no example"),
        ("```fortran\nEND\n```", "do not know"),
    ],
)
def test_what_does_not_hold_fails(text: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("page", text + "\n")
    with pytest.raises((Exception, pytest.fail.Exception), match=message):
        play(block, {}, capfd)
