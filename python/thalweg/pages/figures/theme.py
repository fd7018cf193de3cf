"""How figures look: colours distinguishable with any colour vision, quiet axes, one width.

Colours, dashes, envelopes, and the panels of a trial with their order, titles and series stand in `looks.json`,
which the page of the lab reads too. The first colours are by Okabe and Ito (Color Universal Design, 2008), without
black and yellow, which vanish on one of the two backgrounds, some of them darker: thin lines are seen on white.
"""

from __future__ import annotations

import colorsys
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

LOOKS: Final[Mapping[str, Any]] = json.loads(
    files("thalweg.pages.figures").joinpath("looks.json").read_text(encoding="utf-8")
)
DARKER: Final[dict[str, str]] = {hue["light"]: hue["dark"] for hue in LOOKS["hues"].values()}
"""What each colour is on a dark background."""


def hue(name: str) -> str:
    """A colour by its name, on a light background."""
    return str(LOOKS["hues"][name]["light"])


BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, GREY = map(
    hue, ("blue", "vermilion", "green", "orange", "sky", "purple", "grey")
)
SERIES = [hue(name) for name in LOOKS["flows"]]
WIDTH = 820
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"

_TURN: Final = 0.618034
"""The golden section: hues that are this far apart stay apart however many there are."""

_UNSAID: Any = {"aria": False}
"""A screen reader reads the description of a figure, not each of its thousand marks."""
CONFIG: dict[str, Any] = {
    "font": FONT,
    "mark": {"color": BLUE, **_UNSAID},
    "view": {"stroke": None},
    "axis": {
        **_UNSAID,
        "gridColor": "#e6e8eb",
        "domainColor": "#b8bdc4",
        "tickColor": "#b8bdc4",
        "labelColor": "#4a4f57",
        "titleColor": "#33373d",
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "gridOpacity": 1,
    },
    "axisX": {"labelFlush": False, "labelSeparation": 4},
    "legend": {
        **_UNSAID,
        "labelColor": "#33373d",
        "titleColor": "#33373d",
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "labelLimit": 400,
    },
    "header": {"labelColor": "#33373d", "titleColor": "#33373d", "titleFontWeight": "normal"},
    "text": {"color": "#4a4f57", "fontSize": 10},
    "title": {
        "color": "#22252a",
        "subtitleColor": "#5b616b",
        "fontSize": 15,
        "anchor": "start",
        "offset": 10,
    },
}

DARK_CONFIG: dict[str, Any] = {
    **CONFIG,
    "background": "transparent",
    "mark": {"color": SKY, **_UNSAID},
    "axis": {
        **CONFIG["axis"],
        "gridColor": "#2e3238",
        "domainColor": "#4a4f57",
        "tickColor": "#4a4f57",
        "labelColor": "#b3b9c2",
        "titleColor": "#cdd1d7",
    },
    "legend": {**CONFIG["legend"], "labelColor": "#cdd1d7", "titleColor": "#cdd1d7"},
    "header": {**CONFIG["header"], "labelColor": "#cdd1d7", "titleColor": "#cdd1d7"},
    "text": {"color": "#b3b9c2", "fontSize": 10},
    "title": {**CONFIG["title"], "color": "#e6e8eb", "subtitleColor": "#9aa1ab"},
}
"""For pages on which the reader prefers a dark background."""

_BLACK = {"labelColor": "#000000", "titleColor": "#000000", "labelFontSize": 8, "titleFontSize": 8}
PAPER_CONFIG: dict[str, Any] = {
    **CONFIG,
    "font": "'Nimbus Roman', 'Times New Roman', 'Liberation Serif', serif",
    "background": "#ffffff",
    "axis": {**CONFIG["axis"], **_BLACK, "gridColor": "#dddddd", "domainColor": "#000000", "tickColor": "#000000"},
    "legend": {**CONFIG["legend"], **_BLACK, "symbolSize": 40},
    "header": {**CONFIG["header"], **_BLACK},
    "text": {"color": "#000000", "fontSize": 8},
    "title": {
        **CONFIG["title"],
        "color": "#000000",
        "subtitleColor": "#000000",
        "fontSize": 9,
        "subtitleFontSize": 8,
    },
}
"""For print: black letters of 8 points with serifs."""

THEMES = {"screen": CONFIG, "dark": {**DARK_CONFIG, "background": "#15171a"}, "paper": PAPER_CONFIG}
"""What pictures look like. They bring their background along: nobody knows where one is shown."""


def darkened(part: Any) -> Any:
    """A specification in the colours of a dark background."""
    if isinstance(part, dict):
        return {key: darkened(inner) for key, inner in part.items()}
    if isinstance(part, list):
        return [darkened(inner) for inner in part]
    return DARKER.get(part, part) if isinstance(part, str) else part


def distinct(count: int) -> list[str]:
    """This many distinct colours.

    >>> len(set(distinct(40)))
    40
    """
    more = range(max(count - len(SERIES), 0))
    return SERIES[:count] + [_hue(0.08 + _TURN * index, (0.42, 0.62)[index % 2]) for index in more]


def _hue(turn: float, lightness: float) -> str:
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(turn % 1, lightness, 0.6))
    return f"#{red:02x}{green:02x}{blue:02x}"
