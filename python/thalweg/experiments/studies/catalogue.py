"""The list of all studies."""

from __future__ import annotations

from typing import Any

from thalweg.experiments.studies.fairness.study import STUDY as FAIRNESS
from thalweg.experiments.studies.harm.study import STUDY as HARM
from thalweg.experiments.studies.hunt.study import STUDY as HUNT
from thalweg.experiments.studies.laws.study import STUDY as LAWS
from thalweg.experiments.studies.loopback.study import STUDY as LOOPBACK
from thalweg.experiments.studies.runner.study import Study
from thalweg.experiments.studies.slow_start.study import STUDY as SLOW_START
from thalweg.experiments.studies.stacks.study import STUDY as STACKS
from thalweg.experiments.studies.transient.study import STUDY as TRANSIENT
from thalweg.experiments.studies.wifi_compete.study import STUDY as WIFI_COMPETE

STUDIES: dict[str, Study[Any, Any, Any]] = {
    study.name: study
    for study in (WIFI_COMPETE, HARM, TRANSIENT, STACKS, FAIRNESS, LAWS, LOOPBACK, SLOW_START, HUNT)
}
"""By their names on the command line."""
