"""A shell behind a path: its prompt says behind which."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from terminal import typed
from thalweg.cli import main
from thalweg.cli.shell.prompt import shell_with_prompt


@pytest.mark.parametrize("name", ["bash", "sh"])
def test_the_prompt_of_a_shell_names_the_path(name: str, tmp_path: Path) -> None:
    with shell_with_prompt([name], "c4/bad-wifi path.rtt=1 s") as (words, variables):
        shown, status = typed([*words, "-i"], b"exit 3\n", {**variables, "HOME": str(tmp_path)})
    assert status == 3
    assert "(c4/bad-wifi path.rtt=1 s) " in shown
    assert not [word for word in words if Path(word).is_file() and word.startswith("/tmp/thalweg-")]


def test_a_path_in_a_prompt_is_never_run(tmp_path: Path) -> None:
    evil = f"$(touch {tmp_path / 'x'})`touch {tmp_path / 'y'}`"
    with shell_with_prompt(["bash"], evil) as (words, variables):
        subprocess.run([*words, "-i", "-c", "true"], check=False, env={**os.environ, **variables})
        assert not set("$`\\\"'") & set(variables["THALWEG_PATH"])
    assert list(tmp_path.iterdir()) == []


def test_a_command_with_arguments_is_left_as_it_is() -> None:
    with shell_with_prompt(["bash", "-c", "true"], "x") as (words, variables):
        assert (list(words), variables) == (["bash", "-c", "true"], {"THALWEG_PATH": "x"})
    with shell_with_prompt(["curl"], "x") as (words, _):
        assert list(words) == ["curl"]


def test_a_shell_needs_a_terminal_or_a_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert main(["shell", "c4/bad-wifi"]) == 2
    assert "a command is missing" in capsys.readouterr().err
