"""The help of every command: an example in each, and nothing that the terminal has eaten."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from thalweg.cli import main, study, sweep
from thalweg.cli.commands import COMMANDS, everything
from thalweg.cli.commands.later import Later

Capture = pytest.CaptureFixture[str]
EVERYTHING = everything()


def commands() -> Iterator[tuple[str, ...]]:
    """Every command that does something, by the words that call it."""
    for name, command in EVERYTHING.commands.items():
        inner = getattr(command, "commands", None)
        yield from ((name, one) for one in inner) if inner else [(name,)]


@pytest.mark.parametrize(
    ("postponed", "group"),
    [
        (COMMANDS, EVERYTHING),
        (study.STUDIES, EVERYTHING.commands["study"]),
        (sweep.COMMANDS, EVERYTHING.commands["sweep"]),
    ],
)
def test_a_group_says_of_each_command_what_its_own_help_says_first(
    postponed: dict[str, Later], group: Any
) -> None:
    first = {name: " ".join(command.help.split("\n\n")[0].split()) for name, command in group.commands.items()}
    assert {name: later.summary for name, later in postponed.items()} == first


def help_of(words: tuple[str, ...], capture: Capture, monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([*words, "--help"]) == 0
    return capture.readouterr().out


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_help_has_an_example_that_the_command_understands(
    words: tuple[str, ...], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of(words, capsys, monkeypatch, 200)
    (example,) = re.findall(r"Example: (.+?) *$", text, re.MULTILINE)
    given = shlex.split(example.split(" > ")[0])
    assert given[: 1 + len(words)] == ["thalweg", *words]
    own = given[: given.index("--")] if "--" in given else given
    for option in (word for word in own if word.startswith("-")):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", text.replace(example, "")), option


@pytest.mark.parametrize("words", [(), *commands(), ("study",), ("probe",), ("quic",)], ids=" ".join)
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_help_is_wider_than_the_terminal_or_has_lost_words(
    words: tuple[str, ...], columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of(words, capsys, monkeypatch, columns)
    assert max(map(len, text.splitlines())) <= columns
    # What stands in angle or square brackets is eaten by Markdown or by Rich.
    assert not re.search(r"results/-|\(\)|``|: *$", text.replace("Example: ", ""), re.MULTILINE), text


def test_the_names_of_the_lists_in_a_scenario_are_shown_with_their_brackets(capsys: Capture) -> None:
    assert main(["run", "nowhere [bold]x[/bold].toml"]) == 2
    assert "nowhere [bold]x[/bold].toml" in capsys.readouterr().err


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_help_has_no_types_of_python_and_no_ranges(
    command: tuple[str, ...], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    main([*command, "--help"])
    shown = capsys.readouterr().out
    assert re.findall(r"<\w|bool|int range|<=x", shown) == []
    (usage,) = re.findall(r"Usage: (.*)", shown)
    assert re.findall(r"\[\[|\.\]|[{}]|\[[a-z]", usage) == []
