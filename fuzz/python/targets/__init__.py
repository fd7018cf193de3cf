"""The targets: one file each, with the generation and execution of cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Protocol

from guard import Guard
from mutations import Step
from targets.probe_client import ProbeClient
from targets.probe_file import ProbeFile
from targets.probe_server import ProbeServer
from targets.stored_study import StoredStudy
from targets.stored_suite import StoredSuite
from targets.study_page import StudyPage


class Target(Protocol):
    """A target."""

    def make(self, chance: Random) -> list[Step]:
        """A new case."""

    def play(self, case: list[Step]) -> str:
        """Runs a case; returns `played`, `refused` or `stopped`. Raises Broken, or any other exception."""


ALL: dict[str, Callable[[Path, Guard], Target]] = {
    "stored-suite": StoredSuite,
    "stored-study": StoredStudy,
    "study-page": StudyPage,
    "probe-file": ProbeFile,
    "probe-server": ProbeServer,
    "probe-client": ProbeClient,
}
"""By name; each is given the folder of its sandbox and the guard of it."""
