"""What can go wrong, as a tree of exceptions.

Each message is one sentence to act on::

    ThalwegError
        RequestError        the request is wrong (exit status 2)
            ScenarioError   a scenario cannot be run: the message names file, line, key and accepted forms
            ControllerError a controller in Python failed: the message has its file and line, flow, seed and time
                StackError  the library of a stack failed: the message has the call, scenario, seed and time
            ResultError     a stored result cannot be read
            RealTimeError   this host cannot do it in real time, or a program or a flow there failed
        AuditError          the auditor found that a trial contradicts physics (exit status 3)
        QuicError           a valid request over QUIC did not complete (exit status 1)

`thalweg.Interrupted`, after Ctrl-C, is a `KeyboardInterrupt` and none of these.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ThalwegError(Exception):
    """Any error of this package."""


class RequestError(ThalwegError):
    """The request is wrong. The message says what to change; the command line exits with 2."""


class ScenarioError(RequestError):
    """A scenario cannot be run as it stands. Line of the file `origin`, and key; None if there is none."""

    origin: str | None = None
    line: int | None = None
    key: str | None = None

    @staticmethod
    def of(error: Exception, message: str | None = None) -> ScenarioError:
        """The refusal of the native module, with this message instead of its own, if there is one."""
        refused = ScenarioError(str(error) if message is None else message)
        refused.__dict__.update(error.__dict__)
        return refused

    @property
    def reason(self) -> str:
        """The message without file, line and key: for who has not seen the scenario."""
        return str(self).rpartition(f"{self.key}: ")[2] if self.key else str(self)


class ResultError(RequestError):
    """A stored result cannot be read."""


class RealTimeError(RequestError):
    """Real time is not possible here, or something failed in it."""


class AuditError(ThalwegError):
    """The auditor found that a trial contradicts physics: there is no answer."""


class QuicError(ThalwegError):
    """A connection failed: the request was valid but did not complete."""


class ControllerError(RequestError):
    """A controller in Python has failed in a trial. The message has its file and line, flow, seed and time."""


class StackError(ControllerError):
    """The library of a stack has failed in a trial. The message has the call, scenario, seed and simulated time.

    Whoever goes on without a trial that a controller has ended does so here.
    """


_MANY = 12
"""More names than a message lists."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint at the names closest to a mistyped one, or at all of them if they are few; empty if there are none.

    >>> did_you_mean("bad-wfi", ["bad-wifi", "satellite"])
    '; did you mean bad-wifi?'
    >>> did_you_mean("x", ["main", "cross"])
    '; known: main, cross'
    >>> did_you_mean("x", "abcdefghijklmno")
    '; known: a, b, c and 12 more'
    """
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(close)}?"
    if len(names) > _MANY:
        return f"; known: {', '.join(names[:3])} and {len(names) - 3} more"
    return f"; known: {', '.join(names)}" if names else ""


def printable(name: str) -> str:
    r"""A name with escapes for its bytes that are not UTF-8.

    >>> printable(b"x\xff".decode(errors="surrogateescape"))
    'x\\udcff'
    """
    return name.encode(errors="backslashreplace").decode()
