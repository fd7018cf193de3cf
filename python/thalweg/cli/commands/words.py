"""What typer says of a wrong command line, in our words: what is wrong, and what is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable

_Told = Callable[[re.Match[str]], str]


def _plain(names: str) -> str:
    """`'--trials' / '-n'` as one of them."""
    return names.partition(" / ")[0].strip("'")


def _listed(names: str) -> str:
    return names.replace("'", "").rstrip(".")


_WORDS: tuple[tuple[str, _Told], ...] = (
    (
        # Where a value without quotes is the usual cause.
        r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)",
        lambda m: (
            f'unexpected argument {m[1]!r}; accepted: a value with spaces in quotes, as in path.rate="10 Mbps"'
        ),
    ),
    (r"Missing argument '(.*)'\.?", lambda m: f"{m[1]} is missing"),
    (r"Missing option (.*?)\.?", lambda m: f"{_plain(m[1])} is missing"),
    (
        r"No such option: (\S+?)\.?(?: (?:\(Possible options: (.*)\)|Did you mean (.*)\?))?",
        lambda m: f"unknown option {m[1]}" + _hint(m[2] or m[3]),
    ),
    (
        r"No such command '(.*?)'\.?(?: Did you mean (.*)\?)?",
        lambda m: f"unknown command {m[1]!r}" + _hint(m[2]),
    ),
    (r"Option '(.*)' requires an argument\.?", lambda m: f"{m[1]}: a value is missing"),
    (
        r"Invalid value for (.*?): Value error, ('.*?') is not one of (.*)",
        lambda m: f"{_plain(m[1])} {m[2]}: accepted: {_listed(m[3])}",
    ),
    (
        r"Invalid value for (.*?): Input should be a valid (?:integer|number).*",
        lambda m: f"{_plain(m[1])}: not a {'whole ' if 'integer' in m[0] else ''}number",
    ),
    (
        r"Invalid value for (.*?): Input should be (greater|less) than or equal to (\S+)",
        lambda m: (
            f"{_plain(m[1])}: too {'small' if m[2] == 'greater' else 'large'}; "
            f"accepted: at {'least' if m[2] == 'greater' else 'most'} {m[3]}"
        ),
    ),
)


def _hint(names: str | None) -> str:
    """The nearest names, if there are any.

    >>> _hint("'--out', --only"), _hint(None)
    ('; did you mean --out or --only?', '')
    """
    return f"; did you mean {' or '.join(_listed(names).split(', '))}?" if names else ""


def in_our_words(message: str, command: str) -> str:
    """A message of the parser of a command, as the other messages of the command line are.

    >>> in_our_words("Invalid value for '--trials' / '-n': Input should be greater than or equal to 1", "")
    '--trials: too small; accepted: at least 1'
    >>> in_our_words("Missing argument 'scenario'.", "thalweg run")
    'scenario is missing; see thalweg run --help'
    """
    for pattern, told in _WORDS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            said = told(found)
            return f"{said}; see {command} --help" if message.startswith("Missing") else said
    return message
