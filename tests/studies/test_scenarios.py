"""What all studies share."""

from __future__ import annotations

from typing import Any

import pytest

from thalweg.experiments.studies.catalogue import STUDIES
from thalweg.experiments.studies.fairness.parameters import Parameters
from thalweg.experiments.studies.runner.study import Study


@pytest.mark.parametrize("study", [study for name, study in STUDIES.items() if name != "loopback"])
def test_every_scenario_of_a_study_can_be_read(study: Study[Any, Any, Any]) -> None:
    for preset, parameters in study.presets().items():
        if preset == "live":  # of the kernel's TCP
            continue
        cells = list(parameters.cells())
        assert cells, preset
        for cell in cells:
            parameters.scenario(cell)


def test_fairness_among_999_flows_fits_into_the_limits() -> None:
    parameters = Parameters(controllers=("cubic",), flows=(999,))
    (cell,) = (cell for cell in parameters.cells() if cell.is_intra)
    assert len(parameters.scenario(cell).flows) == 999
