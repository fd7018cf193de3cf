"""What an interpreter and a notebook show, and messages that speak Python."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.base.errors import RequestError


@pytest.mark.parametrize("name", ["c4/simple-20mbps", "c4/c4-background-first", "c4/media-bad-wifi"])
def test_scenarios_outcomes_and_trials_show_themselves_in_five_lines(name: str) -> None:
    scenario = thalweg.Scenario.load(name)
    for kind, shown in (
        ("Scenario", scenario),
        ("Outcomes of", scenario.trials(2)),
        ("Trial of", scenario.run(3, trace=True)),
    ):
        lines = repr(shown).splitlines()
        assert len(lines) == 5
        assert lines[0].startswith(f"{kind} {name}")
        assert any("main (c4)" in line for line in lines)
        assert shown._repr_html_().count("<tr>") == 4


def test_a_hostile_title_is_text_in_a_notebook() -> None:
    toml = thalweg.Scenario.load("c4/simple-20mbps").toml.replace("Simple 20 Mbps", "<script>")
    shown = thalweg.Scenario.from_toml(toml, "mine")._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown


def test_a_refused_override_or_controller_is_named_as_a_program_gave_it() -> None:
    with pytest.raises(RequestError, match=r'overrides\["path.rtt"\] = "1": .*1 has no unit') as refused:
        thalweg.Scenario.load("c4/simple-20mbps", {"path.rtt": 1}, allow_unseeded=True)
    assert "--set" not in str(refused.value)
    with pytest.raises(RequestError, match=r'^controllers\["main"\]: unknown controller "cubik"'):
        thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": "cubik"})


def test_outcomes_and_results_are_compared_criterion_by_criterion() -> None:
    a, b = (
        thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": name}).trials(20) for name in ("c4", "reno")
    )
    row, *_ = thalweg.compare(a, b).table.rows(named=True)
    assert (row["scenario"], row["criterion"], row["unit"]) == ("simple-20mbps", "main closed", "s")
    # The gap and its share come from the median of the differences; the medians differ by about as much.
    assert row["change_share"] == pytest.approx(row["b"] / row["a"] - 1, rel=0.01)
    with pytest.raises(RequestError, match="accepted: outcomes, a result, or the folder of one"):
        thalweg.compare(a, 3)  # type: ignore[arg-type]


def test_the_controllers_that_are_shipped_have_options() -> None:
    found = {controller["name"]: controller for controller in thalweg.controllers()}
    assert {"c4", "cubic", "bbr"} <= found.keys()
    assert all({"name", "default", "accepted"} <= option.keys() for option in found["cubic"]["options"])
