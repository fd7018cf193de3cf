"""The flow at a constant rate that the manual writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import thalweg

PAGE = Path(__file__).parents[2] / "docs/how-to/own-controller.md"


@pytest.mark.parametrize("mbps", [2, 12])
def test_the_unresponsive_flow_of_the_manual_keeps_its_rate_beside_another(mbps: int, tmp_path: Path) -> None:
    (code,) = re.findall(
        r"<!-- file: cbr.py -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    file = tmp_path / "cbr.py"
    file.write_text(code, encoding="utf-8")
    trial = thalweg.Scenario.load(
        "c4/c4-background-first", {"sample": "1 s"}, {"main": "cubic", "background": f"{file}:mbps={mbps}"}
    ).run(1)
    sent = trial.outcomes.series(0, "background").sent * 8 / 1e6
    # The first second has the handshake; headers are a few percent.
    assert sent[1:3].tolist() == pytest.approx([mbps] * 2, rel=0.05)
