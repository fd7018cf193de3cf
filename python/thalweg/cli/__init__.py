"""The command line: one file for each command, and one place where errors become exit statuses."""

from __future__ import annotations

import atexit
import contextvars
import errno
import gc
import sys
import traceback
from collections.abc import Sequence

from thalweg._native import version
from thalweg.base.errors import AuditError, RequestError, printable
from thalweg.cli.console import complain, flush, open_missing_streams, reader_left, say
from thalweg.cli.status import AUDIT, DEFECT, INTERRUPTED, PASSED, REFUSED

_NEW_OBJECTS = 10_000
"""Python looks for garbage among as many new objects, instead of 700."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status. Errors of the user come as one message on stderr."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    open_missing_streams()
    if arguments is None:  # the process is ours
        _collect_rarely()
    try:
        _refuse_bytes(given)
        status = _tell_version() if given == ["--version"] else _command(given or ["--help"])
        flush()
    except (RequestError, AuditError, UnicodeEncodeError) as error:
        complain(_unprintable(error) if isinstance(error, UnicodeEncodeError) else str(error))
        return AUDIT if isinstance(error, AuditError) else REFUSED
    except KeyboardInterrupt as interruption:
        complain(str(interruption) or "interrupted", label="")
        return INTERRUPTED
    except (OSError, SystemExit) as error:
        return _unwritten(error)
    except Exception:
        return _defect()
    return status


def _collect_rarely() -> None:
    """Lets Python look less often for objects that hold each other, of which a command leaves few.

    A command loads 60 000 objects that stay. Python looks through them 160 times while they load, and three times
    more at the end of the process, where the system takes back all memory. Objects that nothing holds are freed as
    before.
    """
    gc.set_threshold(_NEW_OBJECTS)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _tell_version() -> int:
    """The one answer that needs no parser of commands, which takes longer to load than Python."""
    say(f"thalweg {version()}")
    return PASSED


def _command(given: list[str]) -> int:
    """Runs a command. Raises what `main` catches."""
    import typer  # noqa: PLC0415 - see _tell_version

    from thalweg.cli.commands import Interruption, application  # noqa: PLC0415

    # In a context of its own: `--audit` holds for this command.
    context = contextvars.copy_context()
    try:
        status = context.run(application(), args=given, prog_name="thalweg", standalone_mode=False)
    except typer.TyperException as error:
        from thalweg.cli.commands.words import Number, in_our_words  # noqa: PLC0415 - only for what is wrong

        # Typer asks for help itself when a group is called without a command: its message is the help text.
        at = getattr(error, "ctx", None)
        command = at.command_path if at else "thalweg"
        said = in_our_words(error.format_message(), command, Number.of(error))
        complain(said or "a command is missing; see thalweg --help")
        return REFUSED
    except (Interruption, typer.Abort) as error:
        raise KeyboardInterrupt(*error.args) from None
    return status if isinstance(status, int) else PASSED


def _refuse_bytes(arguments: Sequence[str]) -> None:
    """Refuses arguments that are not UTF-8; a command behind a path may have any. Raises RequestError."""
    foreign = arguments.index("--") if arguments[:1] == ["shell"] and "--" in arguments else len(arguments)
    for argument in arguments[:foreign]:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise RequestError(f"{printable(argument)} is not UTF-8; accepted: arguments in UTF-8") from None


def _unprintable(error: UnicodeEncodeError) -> str:
    """A name that came from the system and not from an argument, such as the name of the current folder."""
    return f"{printable(error.object[:200])} cannot be written as {error.encoding}; accepted: names that can"


def _unwritten(error: OSError | SystemExit) -> int:
    """The status when the answer could not be written; any other such error should have been met before."""
    if isinstance(error, SystemExit):
        # Typer and Rich make of a reader who has left an exit with status 1, the status of a failed verdict.
        if not isinstance(error.__context__, OSError):
            raise error
        error = error.__context__
    if error.errno not in (errno.EPIPE, errno.ENOSPC):
        return _defect()
    # Python would complain once more at exit about what it still holds.
    reader_left(sys.stdout)
    if error.errno == errno.EPIPE:
        # The reader of our output has left, as `head` does.
        return PASSED
    complain(f"cannot write the output: {error.strerror}")
    return REFUSED


def _defect() -> int:
    traceback.print_exc()
    complain("this is a defect of thalweg; please report it together with the lines above")
    return DEFECT
