"""A broken rule: a kind, by which failures are counted and minimised, and a message for people."""

from __future__ import annotations

import traceback
from pathlib import Path


class Broken(Exception):  # noqa: N818 - what it names is a rule that does not hold
    """A rule does not hold."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind
        self.message = message


def of_exception(error: BaseException) -> Broken:
    """An exception that no user should see, by its type and the innermost place of ours that it left."""
    if isinstance(error, Broken):
        return error
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "thalweg" in Path(frame.filename).parts
    ]
    where = f" in {Path(frames[-1].filename).name} {frames[-1].name}" if frames else ""
    lines = "".join(traceback.format_exception(error)).strip()
    return Broken(f"{type(error).__name__}{where}", lines[-2000:])
