"""A figure, and the files that it is written to: HTML that needs no network, PNG, SVG, PDF."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from thalweg.base.errors import RequestError
from thalweg.base.extras import require
from thalweg.base.files.whole_file import whole_file
from thalweg.pages.figures.spec import DASH_PX, LETTER, SCHEMA, SYMBOL_PX, TITLE_ABOVE, TITLE_BESIDE, Spec, columns
from thalweg.pages.figures.theme import THEMES, darkened

FORMATS = (".html", ".png", ".svg", ".pdf")
Theme: TypeAlias = Literal["screen", "dark", "paper"]
VEGA_LITE = "6.4"
"""The version that pictures are drawn with; pages carry the same."""
_POINTS_PER_MM = 72 / 25.4
_DOTS_PER_POINT = 300 / 72
"""The resolution of pictures that are printed."""
_TITLE, _BESIDE, _UNKNOWN = 64, 28, 300
"""Heights: of a title, of the legend or the axis of a panel, and of a figure that does not say, in pixels,
about."""
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_LEAST = 40
"""Width of the narrowest panels, in pixels."""
_NARROW = 520
"""Pictures with less width have their legends one below the other."""
_MARGIN = 70
"""Approximate width of the labels next to panels, in pixels."""
_LETTERS = {"screen": LETTER, "dark": LETTER, "paper": 4.4}
"""Widths of letters, in pixels, about."""
_TITLE_LETTER = 1.2
"""Approximate width of a letter of a panel's title, in letters of its legend."""
_NOTE_LINE = 14
_NOTE_LETTER = 6.2
"""Width of a letter of the notes, in pixels, about."""


class Chart(Protocol):
    """What can be drawn: a figure of ours, or one of a study, which altair makes."""

    def to_dict(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
        """The specification."""


@dataclass(frozen=True)
class Table:
    """Numbers that go with a figure; the first cell of a row names it."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A figure: what Vega-Lite draws, without the colours of a theme, and words to go with it."""

    spec: Spec
    description: str = ""
    """What the figure shows and its result, for screen readers."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What the words on it mean."""
    readings: Spec = field(default_factory=dict)
    """What a cursor on a page reads at a time; see `cursor.js`."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Addresses at which its trials open in the lab, by what the page calls them."""
    tables: tuple[Table, ...] = ()
    """Below the figure on a page."""

    @property
    def height_px(self) -> int:
        """How high it is drawn, about: a page reserves as much."""
        return round(_height(self.spec) + (_TITLE if self.spec.get("title") else 0))

    def to_dict(self, theme: Theme = "screen") -> Spec:
        """The specification, complete with the looks of a theme."""
        drawn = self._dressed(theme)
        width = _widest(drawn)
        return scaled(drawn, 1.0, width + _MARGIN, _LETTERS[theme]) if width else drawn

    def _dressed(self, theme: Theme) -> Spec:
        """With the looks of a theme; sentences are for the caption where it is printed."""
        bare = darkened(self.bare()) if theme == "dark" else self.bare()
        drawn = {**bare, "config": THEMES[theme]}
        title = drawn.get("title")
        if theme == "paper" and isinstance(title, dict):
            drawn["title"] = {key: part for key, part in title.items() if key != "subtitle"}
        return drawn

    def bare(self) -> Spec:
        """The specification as a page has it, which lends its own looks."""
        return {
            "$schema": SCHEMA,
            **self.spec,
            "description": self.description,
            "usermeta": {"readings": self.readings},
        }

    def save(
        self, file: str | Path, size_mm: float | None = None, theme: Theme = "screen", dots: float = 2
    ) -> None:
        """Writes the figure, whole or not at all; the ending of the name chooses the format.

        `size_mm` is the width of a picture for print, all letters included: sizes in it are points then, of
        letters too, and a PNG has 300 dots to the inch; others have `dots` for one of the figure. Raises
        RequestError.
        """
        target = Path(file)
        if target.suffix not in FORMATS:
            raise RequestError(f"{target}: a figure ends in one of {', '.join(FORMATS)}")
        if target.suffix == ".html":
            from thalweg.pages.figures.page import page  # noqa: PLC0415 - pictures need no template

            with whole_file(target) as partial:
                partial.write_text("".join(page(self)), encoding="utf-8")
            return
        require("plots", str(target))
        drawn = self.to_dict(theme)
        if size_mm is not None:
            drawn = fitted(self._dressed(theme), size_mm * _POINTS_PER_MM, _LETTERS[theme])
        if theme != "paper":
            drawn = self._noted(drawn)
        with whole_file(target) as partial:
            partial.write_bytes(_picture(drawn, target.suffix, dots, in_points=size_mm is not None))

    def _noted(self, drawn: Spec) -> Spec:
        """A drawing with the notes below the last panel, where no page can show them."""
        if not self.notes or "vconcat" not in drawn:
            return drawn
        width = _widest(drawn)
        lines = [
            line
            for word, meaning in self.notes.items()
            for line in textwrap.wrap(f"{word}: {meaning}", int(width / _NOTE_LETTER), subsequent_indent="    ")
        ]
        text: Spec = {
            "data": {"values": [{}]},
            "height": _NOTE_LINE * len(lines),
            "width": width,
            "view": {"stroke": None},
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "top",
                "fontSize": 10.5,
                "lineHeight": _NOTE_LINE,
                "limit": width,
            },
            "encoding": {"x": {"value": 0}, "y": {"value": 0}, "text": {"value": lines}},
        }
        return {**drawn, "vconcat": [*drawn["vconcat"], text]}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """How notebooks show it."""
        return {"application/vnd.vegalite.v6+json": self.to_dict(), "text/plain": self.description}


def save(chart: Chart, file: str | Path, size_mm: float | None = None, theme: Theme = "screen") -> None:
    """Writes a figure of ours or of altair, whole or not at all; see `Figure.save`. Raises RequestError."""
    figure(chart).save(file, size_mm, theme)


def figure(chart: Chart) -> Figure:
    """A figure of studies, which altair makes, as ours."""
    if isinstance(chart, Figure):
        return chart
    drawn: Spec = chart.to_dict(validate=False)
    drawn.pop("config", None)
    head = drawn.get("title", "")
    return Figure(drawn, head if isinstance(head, str) else str(head.get("text", "")))


def fitted(drawn: Spec, width_px: float, letter_px: float) -> Spec:
    """A figure whose picture has a width: its panels have the width that the letters next to them leave."""
    panels = _widest(drawn)
    if not panels:
        raise RequestError("a width cannot be combined with this figure, whose panels have a fixed size")
    if width_px < _NARROW:
        # Vega's own: Vega-Lite hands it on, although its schema does not know it.
        legend = {**drawn["config"]["legend"], "layout": {"top": {"direction": "vertical", "anchor": "start"}}}
        drawn = {**drawn, "config": {**drawn["config"], "legend": legend}}
    fit = scaled(drawn, 1.0, width_px, letter_px)
    for _ in range(3):  # letters change with the panels, a little
        wide, now = _width(fit), _widest(fit)
        wanted = now + width_px - wide
        if wanted < _LEAST:
            raise RequestError(
                f"a figure {width_px / _POINTS_PER_MM:.0f} mm wide has no room for its panels; "
                f"accepted: at least {math.ceil((wide - now + _LEAST) / _POINTS_PER_MM)} mm"
            )
        fit = scaled(drawn, wanted / panels, width_px, letter_px)
    return fit


def scaled(part: Spec, factor: float, width_px: float, letter_px: float) -> Spec:
    """A specification whose panels are wider by a factor, with titles and legends that fit; as in figure.js."""
    made = {**part}
    if isinstance(part.get("width"), int | float):
        made["width"] = part["width"] * factor
    for joint in ("vconcat", "hconcat", "layer"):
        if joint in part:
            made[joint] = [scaled(inner, factor, width_px, letter_px) for inner in part[joint]]
    if isinstance(part.get("spec"), dict):
        made["spec"] = scaled(part["spec"], factor, width_px, letter_px)
    title = part.get("title")
    if isinstance(title, dict) and "subtitle" in title:
        wide = [title["subtitle"]] if isinstance(title["subtitle"], str) else title["subtitle"]
        lines = [line for text in wide for line in textwrap.wrap(text, int(width_px / letter_px))]
        heads = textwrap.wrap(str(title["text"]), int(width_px / letter_px / 1.3)) if title.get("text") else []
        made["title"] = {**title, "text": heads, "subtitle": lines}
    encoding = part.get("encoding", {})
    for channel, symbol in (("color", SYMBOL_PX), ("strokeDash", DASH_PX)):
        legend = encoding.get(channel, {}).get("legend")
        if legend and "columns" in legend:
            names = legend.get("values") or encoding[channel]["scale"]["domain"]
            room = width_px
            shown = dict(legend)
            if "titleOrient" in legend:  # the title of a panel: next to its legend, or above it
                shown |= TITLE_BESIDE if width_px >= _NARROW else TITLE_ABOVE
                room -= _TITLE_LETTER * letter_px * len(legend["title"]) if width_px >= _NARROW else 0.0
            shown["columns"] = columns(names, room, letter_px, symbol)
            encoding = made["encoding"] = {**encoding, channel: {**encoding[channel], "legend": shown}}
    return made


def _height(part: Spec) -> float:
    """The height of the panels one below the other, with their legends and axes."""
    own = part.get("height")
    if isinstance(own, int | float):
        return float(own) + _BESIDE
    down = part.get("vconcat", ())
    across = [_height(inner) for inner in part.get("hconcat", ())]
    inner = [_height(part["spec"])] if isinstance(part.get("spec"), dict) else []
    return sum(_height(height) for height in down) or max([*across, *inner], default=_UNKNOWN)


def _widest(part: Spec) -> float:
    """The width of the panels that stand side by side, in pixels."""
    own = part.get("width")
    if isinstance(own, int | float):
        return float(own)
    down = [_widest(inner) for inner in part.get("vconcat", ())]
    across = sum(_widest(inner) for inner in part.get("hconcat", ()))
    facets = _widest(part["spec"]) * part.get("columns", 1) if isinstance(part.get("spec"), dict) else 0.0
    return max([*down, across, facets])


def _width(drawn: Spec) -> float:
    import vl_convert  # noqa: PLC0415 - 80 MB that pages do without

    svg = vl_convert.vegalite_to_svg(drawn, vl_version=VEGA_LITE)
    return float(svg.split('width="', 1)[1].split('"', 1)[0])


def _picture(drawn: Spec, suffix: str, dots: float, *, in_points: bool) -> bytes:
    import vl_convert  # noqa: PLC0415 - 80 MB that pages do without

    if suffix == ".png":
        return vl_convert.vegalite_to_png(
            drawn, vl_version=VEGA_LITE, scale=_DOTS_PER_POINT if in_points else dots
        )
    if suffix == ".pdf":  # which counts in points
        return vl_convert.vegalite_to_pdf(drawn, vl_version=VEGA_LITE)
    svg = vl_convert.vegalite_to_svg(drawn, vl_version=VEGA_LITE)
    return (_SIZE.sub(r'\1="\2pt"', svg, count=2) if in_points else svg).encode()
