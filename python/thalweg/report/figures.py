"""The figures of a page until it is written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from thalweg.plots import Chart
from thalweg.script_json import ScriptJson


class Figures:
    """What is drawn, by the name of its place.

    The page of a suite carries more than 10 MB of figures, and they stand at its end: they wait packed, in a
    fifth of that.
    """

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def __setitem__(self, place: str, chart: Chart) -> None:
        self._packed[place] = zlib.compress(spec(chart).encode(), level=1)

    def items(self) -> Iterator[tuple[Markup, Markup]]:
        """Places and figures as the page carries them, in the order in which they came, one by one."""
        for place, packed in self._packed.items():
            yield embedded(place), Markup(zlib.decompress(packed).decode())


def spec(chart: Chart) -> Markup:
    """A figure as the page carries it: JSON, without colours of its own."""
    drawn: dict[str, Any] = chart.to_dict(validate=False)
    del drawn["config"]  # the page lends the one that suits the reader
    return embedded(drawn)


def embedded(value: object) -> Markup:
    """JSON that may stand inside a script element."""
    return Markup(json.dumps(value, cls=ScriptJson, separators=(",", ":"), allow_nan=False))
