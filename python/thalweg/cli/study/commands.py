"""The command of each study: made of its parameters, unless it has options that are no parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thalweg.cli.study.command import command
from thalweg.cli.study.harm import harm
from thalweg.cli.study.loopback import loopback
from thalweg.cli.study.transient import transient
from thalweg.studies.catalogue import STUDIES
from thalweg.studies.runner.study import Study

_OWN: dict[str, Callable[..., int]] = {"harm": harm, "transient": transient, "loopback": loopback}
COMMANDS: list[tuple[Study[Any, Any, Any], Callable[..., int]]] = [
    (study, _OWN.get(name) or command(study)) for name, study in STUDIES.items()
]
