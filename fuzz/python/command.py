"""Commands of the user, run in this process, and the rules of their output."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from failure import Broken
from guard import Guard
from thalweg.cli import main
from thalweg.cli.commands import everything
from thalweg.cli.status import INTERRUPTED

_LONGEST = 4000
"""Characters of a message."""
_ALL = everything()
patch("thalweg.cli.commands.application", lambda: _ALL).start()  # to make it takes longer than most commands


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    status: int
    out: str
    err: str


def run(arguments: Sequence[str], guard: Guard) -> Answer:
    """Runs a command. Raises Broken if it ends in any other way than the documented ones."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    said = err.getvalue()
    name = " ".join(arguments[:2]) if arguments[0] == "probe" else arguments[0]
    if "Traceback" in said:
        errors = re.findall(r"^([\w.]+)(?::|$)", said, re.MULTILINE)
        places = re.findall(r'File "[^"]*/thalweg/([^"]*)", line \d+, in (\w+)', said)
        kind = next((error for error in reversed(errors) if error not in ("error", "Traceback")), "exception")
        raise Broken(f"{name}: {kind} in {' '.join(places[-1]) if places else '?'}", said[-2500:])
    accepted = (0, 1, 2, INTERRUPTED) if guard.was_asked else (0, 1, 2)
    if status not in accepted:
        raise Broken(f"{name}: status {status}", said[-500:])
    if status == 2:
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        if len(errors) != 1:
            raise Broken(f"{name}: refused without one message", said[-500:])
    if len(said) > _LONGEST:
        raise Broken(f"{name}: a message of {len(said)} characters", said[:200])
    return Answer(status, out.getvalue(), said)
