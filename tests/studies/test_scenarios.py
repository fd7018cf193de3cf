"""What all studies share."""

from __future__ import annotations

import pytest

from thalweg.experiments.studies.catalogue import TITLES, study_of
from thalweg.experiments.studies.fairness.parameters import Parameters


@pytest.mark.parametrize("name", [name for name in TITLES if name != "loopback"])
def test_every_scenario_of_a_study_can_be_read(name: str) -> None:
    for preset, parameters in study_of(name).presets.items():
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
