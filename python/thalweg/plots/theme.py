"""How figures look: colours that people with any colour vision tell apart, quiet axes, one width.

The colours are those of Okabe and Ito (Color Universal Design, 2008), without black and yellow, which
vanish on one of the two backgrounds.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import altair as alt

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart

BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7"
SERIES = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY]
GREY = "#8a8f98"
STATES = [SKY, ORANGE, GREEN, PURPLE, "#F0E442", VERMILION, BLUE, GREY]
"""Colours of areas; yellow is good enough for those."""
WIDTH = 820
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"

CONFIG: dict[str, Any] = {
    "font": FONT,
    "mark": {"color": BLUE},
    "view": {"stroke": None},
    "axis": {
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
    "legend": {
        "labelColor": "#33373d",
        "titleColor": "#33373d",
        "titleFontWeight": "normal",
        "labelFontSize": 11,
    },
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
    "mark": {"color": SKY},
    "axis": {
        **CONFIG["axis"],
        "gridColor": "#2e3238",
        "domainColor": "#4a4f57",
        "tickColor": "#4a4f57",
        "labelColor": "#b3b9c2",
        "titleColor": "#cdd1d7",
    },
    "legend": {**CONFIG["legend"], "labelColor": "#cdd1d7", "titleColor": "#cdd1d7"},
    "title": {**CONFIG["title"], "color": "#e6e8eb", "subtitleColor": "#9aa1ab"},
}
"""For pages on which the reader prefers a dark background."""
