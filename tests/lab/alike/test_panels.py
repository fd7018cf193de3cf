"""The panels of a trial: the lab draws those of `thalweg plot`, with the same order, words and colours."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lab.conftest import Open
from thalweg import Scenario
from thalweg.pages.figures import plot_trial
from thalweg.pages.figures.theme import DARKER

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
CASE = "c4/media-bad-wifi"
LINES = (
    "congestion window",
    "bytes in flight",
    "latest RTT",
    "smoothed RTT",
    "delivery rate",
    "pacing rate",
    "capacity",
)


def legends(part: dict[str, Any]) -> list[dict[str, Any]]:
    """What a panel of a figure encodes in colours."""
    own = [part["encoding"]["color"]] if "color" in part.get("encoding", {}) else []
    return own + [found for layer in part.get("layer", ()) for found in legends(layer)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_titles_order_names_and_colours_of_panels_are_those_of_the_figure(opened: Open, scheme: Any) -> None:
    figure = plot_trial(Scenario.load(CASE).run(seed=1, trace=True)).spec["vconcat"]
    titles = [legends(panel)[0]["legend"]["title"] for panel in figure]
    shades = {
        name: shade
        for panel in figure
        for legend in legends(panel)
        for name, shade in zip(legend["scale"]["domain"], legend["scale"]["range"], strict=True)
    }
    view = opened(settled=True, scheme=scheme, scenario=CASE)
    shown = view.locator(".chart .panel figcaption > :first-child").all_inner_texts()
    assert [title.strip() for title in shown] == titles
    swatches = dict(
        view.evaluate(
            "[...document.querySelectorAll('.chart [data-panel] .legend li:has(.swatch)')]"
            ".map((one) => [one.querySelector('.value').dataset.line, one.querySelector('.swatch').style.color])"
        )
    )
    for name in (*LINES, "queue, downlink", "in time"):
        shade = DARKER[shades[name]] if scheme == "dark" else shades[name]
        red, green, blue = (int(shade[at : at + 2], 16) for at in (1, 3, 5))
        assert re.findall(r"\d+", swatches[name]) == [str(red), str(green), str(blue)], name
