"""JSON that may stand inside a script element of HTML, whatever the texts in it are."""

from __future__ import annotations

import json
from typing import Any


class ScriptJson(json.JSONEncoder):
    r"""Writes no `<`: nothing in it ends the element, or begins a comment (HTML Standard, section 13.2.5.4).

    >>> json.dumps({"title": "</script>"}, cls=ScriptJson)
    '{"title": "\\u003c/script>"}'
    """

    def encode(self, o: Any) -> str:
        """Outside of texts, JSON has no such sign; within, it may be written as its number."""
        return super().encode(o).replace("<", "\\u003c")
