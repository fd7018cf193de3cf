"""The medium of a hop in the lab: its list, its neighbours, and whose the airtime is."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open, shows

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.timeout(300)
TEXT = """title = "A cell"
[path]
rate = "65 Mbps"
rtt = "20 ms"
buffer = "100 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "2 MB"
"""
WHOSE = ("access point", "client", "neighbours", "several at once", "nobody")
SHARES = """() => [...document.querySelectorAll("[data-airtime]")]
  .map((one) => [one.dataset.airtime, one.textContent])"""


def shows_medium(view: Page, word: str) -> None:
    """Waits until the trial is shown whose medium is set with this word."""
    view.evaluate("thalweg.rerun()")
    assert word in view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")


def test_a_medium_is_chosen_and_its_neighbours_take_airtime(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'cell.toml')", TEXT)
    plain = view.evaluate("thalweg.shown.trial.hash")
    assert view.evaluate(SHARES) == []
    medium = view.get_by_label("Medium", exact=True).and_(view.locator("select"))
    assert medium.input_value() == "none"
    assert not view.get_by_label("Neighbours", exact=True).count()

    taken = []
    for count in ("scan", "apartment"):
        medium.select_option(count)
        shows_medium(view, f'"{count}"')
        shares = dict(view.evaluate(SHARES))
        assert tuple(shares) == WHOSE
        percents = {whose: float(text.removesuffix(" %")) for whose, text in shares.items()}
        # Three digits of each.
        assert sum(percents.values()) == pytest.approx(100, abs=0.3)
        taken.append(percents["neighbours"])
    assert taken[0] == 0
    assert 10 < taken[1] < 60

    slider = view.get_by_label("Neighbours", exact=True).and_(view.locator("input"))
    assert slider.get_attribute("aria-valuetext") == "as apartment"
    assert not view.get_by_label("Who hears them", exact=True).count()
    slider.fill("100")
    shows_medium(view, "neighbours")
    # A third of the way from 1 to 63 on a scale of powers: 63^(1/3) is 4, one more than the number.
    written = view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")
    kind = {"airtime": "2 ms", "on": "20 ms", "off": "180 ms"}
    expected = {"model": "wifi", "preset": "apartment", "neighbours": [kind | {"count": 3}]}
    assert tomllib.loads(f"medium = {written}")["medium"] == expected

    heard = view.get_by_label("Who hears them", exact=True).and_(view.locator("select"))
    assert heard.input_value() == "both"
    heard.select_option("access-point")
    shows_medium(view, "access-point")
    assert slider.get_attribute("aria-valuetext") == "3"
    slider.fill("0")
    shows_medium(view, "neighbours = []")
    assert dict(view.evaluate(SHARES))["neighbours"] == "0 %"

    medium.select_option("none")
    shows(view, plain)
    assert view.evaluate("thalweg.shown.setup.sets") == {}
    assert view.evaluate(SHARES) == []


def test_a_medium_that_the_scenario_writes_stays_one_and_keeps_its_keys(opened: Open) -> None:
    view = opened()
    own = '{ model = "wifi", attempts = 20, neighbours = [{ count = 2, airtime = "1 ms" }, { airtime = "3 ms" }] }'
    view.evaluate(
        "(text) => thalweg.open(text, 'cell.toml')", TEXT.replace('"100 ms"', f'"100 ms"\nmedium = {own}')
    )
    medium = view.get_by_label("Medium", exact=True).and_(view.locator("select"))
    assert medium.input_value() == "wifi"
    assert "none" not in medium.locator("option").all_inner_texts()
    slider = view.get_by_label("Neighbours", exact=True).and_(view.locator("input"))
    assert slider.get_attribute("aria-valuetext") == "3"
    view.get_by_label("Who hears them", exact=True).and_(view.locator("select")).select_option("neither")
    shows_medium(view, "neither")
    written = tomllib.loads(f'medium = {view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")}')["medium"]
    kind = {"count": 3, "airtime": "1 ms", "heard": "neither"}
    assert written == {"model": "wifi", "attempts": 20, "neighbours": [kind]}
