"""What typer says about a wrong command line, in our words: what is wrong, and what is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

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
    (r"Option '(.*)' requires an argument\.?", lambda m: f"{m[1]}: a value is missing"),
    (
        r"Invalid value for (.*?): Value error, ('.*?') is not one of (.*)",
        lambda m: f"{_plain(m[1])} {m[2]}: accepted: {_listed(m[3])}",
    ),
)
_NUMBER = (
    r"Invalid value for (.*?): Input should be (?:a valid (?:integer|number)|(?:greater|less) than or equal to ).*"
)


_HUGE = 2**40


@dataclass(frozen=True)
class Number:
    """A number on a command line that is not accepted, and those that are."""

    text: str
    is_whole: bool = True
    least: float | None = None
    most: float | None = None

    @staticmethod
    def of(error: Exception) -> Number | None:
        """What the parser has refused; None if it is not a number."""
        found, parameter = getattr(error.__cause__, "errors", None), getattr(error, "param", None)
        if found is None or parameter is None:
            return None
        kind = getattr(parameter, "type_descriptor", None)
        return Number(
            str(found()[0].get("input")),
            getattr(kind, "annotation", int) is not float,
            getattr(parameter, "min", None),
            getattr(parameter, "max", None),
        )

    def accepted(self) -> str:
        """The numbers that are.

        >>> Number("x", least=1).accepted(), Number("0", least=1, most=65535).accepted()
        ('a whole number, 1 or more', 'a whole number from 1 to 65535')
        >>> Number("x", is_whole=False).accepted(), Number("9", most=5).accepted()
        ('a number', 'a whole number up to 5')
        >>> Number("x", least=0, most=2**63).accepted(), Number("9" * 30, least=0, most=2**63).accepted()
        ('a whole number, 0 or more', 'a whole number from 0 to 9223372036854775808')
        """
        what = "a whole number" if self.is_whole else "a number"
        # A bound that nobody meets is worth a word only where it was met.
        hidden = self.most is not None and self.most >= _HUGE and not self.text.isdecimal()
        least, most = self.least, None if hidden else self.most
        if least is None:
            return what if most is None else f"{what} up to {most}"
        return f"{what}, {least} or more" if most is None else f"{what} from {least} to {most}"


def _hint(names: str | None) -> str:
    """The nearest names, if there are any.

    >>> _hint("'--out', --only"), _hint(None)
    ('; did you mean --out or --only?', '')
    """
    return f"; did you mean {' or '.join(_listed(names).split(', '))}?" if names else ""


def in_our_words(message: str, command: str, number: Number | None = None) -> str:
    """A message of the parser of a command, as the other messages of the command line are.

    >>> wrong = "Invalid value for '--trials' / '-n': Input should be greater than or equal to 1"
    >>> in_our_words(wrong, "", Number("0", least=1))
    "--trials '0': accepted: a whole number, 1 or more"
    >>> in_our_words("Missing argument 'SCENARIO'.", "thalweg run")
    'SCENARIO is missing; see thalweg run --help'
    """
    if number and (found := re.fullmatch(_NUMBER, message, re.DOTALL)):
        return f"{_plain(found[1])} {number.text!r}: accepted: {number.accepted()}"
    for pattern, told in _WORDS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            said = told(found)
            return f"{said}; see {command} --help" if message.startswith("Missing") else said
    return message
