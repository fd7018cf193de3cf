"""What `thalweg explain` says of the kernel's TCP, captured through our emulator on both sides."""

from __future__ import annotations

import pytest

from pages.explain.kernels import FAMILIES, explained
from real_time import needs_rights

pytestmark = [pytest.mark.realtime, pytest.mark.soak]


@needs_rights
@pytest.mark.parametrize("controller", FAMILIES)
def test_the_controllers_of_the_kernel_are_named_from_either_side_with_the_path(controller: str) -> None:
    sides = {one.side: one for one in explained(controller, 104)}
    assert set(sides) == {"sender", "receiver"}
    for one in sides.values():
        assert FAMILIES[controller] in one.families, one
        assert one.capacity == pytest.approx(0, abs=0.01)
        assert one.rtt == pytest.approx(0, abs=0.02)
        assert one.cause in ("window", "pacing")
