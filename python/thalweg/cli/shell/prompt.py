"""A shell behind a path, whose prompt says behind which."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_BASH = """\
[ -r ~/.bashrc ] && . ~/.bashrc
PS1="($THALWEG_PATH) ${PS1-\\$ }"
"""
_ZSH = """\
ZDOTDIR=$HOME
[ -r ~/.zshrc ] && . ~/.zshrc
PROMPT="($THALWEG_PATH) $PROMPT"
"""


def quoted(where: str) -> str:
    """A name in a prompt, which is a text to the shell: what would end it, or be run in it, stays out.

    >>> quoted('c4/bad-wifi path.rate="1 Mbps"')
    'c4/bad-wifi path.rate=1 Mbps'
    """
    return "".join(letter for letter in where if letter not in "`$\\\"'%!\n")


@contextmanager
def shell_with_prompt(
    command: Sequence[str] | None, where: str
) -> Iterator[tuple[Sequence[str], Mapping[str, str]]]:
    """A command and its variables; without a command, or for a bare shell, one whose prompt names the path.

    `$THALWEG_PATH` names it too. Limits: bash and zsh read their own settings first; other shells take the prompt
    from the variable PS1.
    """
    words = list(command or [os.environ.get("SHELL") or "sh"])
    named = quoted(where)
    variables = {"THALWEG_PATH": named}
    name = Path(words[0]).name
    if len(words) > 1 or name not in ("sh", "dash", "ash", "ksh", "bash", "zsh"):
        yield words, variables
        return
    with tempfile.TemporaryDirectory(prefix="thalweg-") as folder:
        if name == "bash":
            settings = Path(folder, "bashrc")
            settings.write_text(_BASH, encoding="utf-8")
            yield [*words, "--rcfile", str(settings)], variables
        elif name == "zsh":
            Path(folder, ".zshrc").write_text(_ZSH, encoding="utf-8")
            yield words, {**variables, "ZDOTDIR": folder}
        else:
            yield words, {**variables, "PS1": f"({named}) $ "}
