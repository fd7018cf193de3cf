"""The pictures of the README and of docs/how-to/read-a-figure.md, as `make picture` makes them.

The second is the first with a number at each part, which the page explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import thalweg
from thalweg.pages.figures import plot_trial, save

IMAGES = Path(__file__).parent.parent / "docs" / "images"
PARTS = ("completes in", "State of the", "Window and", "Round-trip", "Rates", "Queue delay")
"""Words of the texts that the numbers stand at, in their order."""
_BUCKETS = 200
"""Fewer points than a figure to zoom into has."""
_SVG = "http://www.w3.org/2000/svg"
_RADIUS = 10
_COLUMN = 16
"""Where numbers stand, in pixels from the left: next to the titles of panels."""


def main() -> None:
    """Makes both."""
    trial = thalweg.Scenario.load("c4/simple-20mbps").run(seed=1, trace=True)
    plain = IMAGES / "simple-20mbps.svg"
    save(plot_trial(trial, buckets=_BUCKETS), str(plain))
    (IMAGES / "reading-a-figure.svg").write_text(numbered(plain.read_text(encoding="utf-8")), encoding="utf-8")


def numbered(svg: str) -> str:
    """A figure with a number at each of its parts. Raises ValueError if a part is not there."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)
    texts = list(_texts(root, 0.0, 0.0))
    for number, part in enumerate(PARTS, start=1):
        found = [(x, y, upright) for x, y, upright, text in texts if part in text]
        if not found:
            raise ValueError(f"the figure has no text with {part!r}: {[text for *_, text in texts]}")
        _, y, upright = found[0]
        # Next to the lines below the title, above the titles of axes, and at the height of a legend.
        right = float(root.attrib["width"]) - 2 * _RADIUS
        root.extend(_mark(number, right if number == 1 else _COLUMN, y if upright else y - 60))
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _texts(element: ElementTree.Element, x: float, y: float) -> Iterator[tuple[float, float, bool, str]]:
    """Each text, where it begins, and whether it is upright."""
    moved = element.get("transform", "")
    if match := re.search(r"translate\(([-\d.]+),\s*([-\d.]+)\)", moved):
        x, y = x + float(match[1]), y + float(match[2])
    if element.tag == f"{{{_SVG}}}text":
        yield x, y, "rotate" not in moved, "".join(element.itertext())
    for inner in element:
        yield from _texts(inner, x, y)


def _mark(number: int, x: float, y: float) -> list[ElementTree.Element]:
    centre = {"cx": f"{x:g}", "cy": f"{y:g}", "r": str(_RADIUS)}
    circle = ElementTree.Element(f"{{{_SVG}}}circle", {**centre, "fill": "#b3261e"})
    style = {"fill": "white", "font-family": "sans-serif", "font-size": "13", "font-weight": "bold"}
    where = {"x": centre["cx"], "y": f"{y + 4.5:g}", "text-anchor": "middle"}
    text = ElementTree.Element(f"{{{_SVG}}}text", {**style, **where})
    text.text = str(number)
    return [circle, text]


if __name__ == "__main__":
    main()
