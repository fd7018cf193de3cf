"""`thalweg study loopback`: throughput over 127.0.0.1."""

from __future__ import annotations

from functools import wraps
from typing import Any

from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.study.command import command
from thalweg.experiments.studies.loopback.study import STUDY

_measured = command(STUDY)


@wraps(_measured)
def loopback(**given: Any) -> int:
    """Runs the study; its server ends with it."""
    with stopped_by_terminate():
        return _measured(**given)
