"""Reads a page like a browser, and checks that nothing on it but its own scripts is more than text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

from failure import Broken
from thalweg.pages.lab_link import LAB

# Within the page, or to the lab and a trial in it: packed text has no sign that means anything elsewhere.
_TARGET = re.compile(rf"#.*|{re.escape(LAB)}(#trial=[A-Za-z0-9_-]+)?", re.DOTALL)

Element: TypeAlias = tuple[str, tuple[str, ...]]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: set[Element] = set()
        self.leads_to: list[str] = []
        self.raw: list[tuple[str, str]] = []
        """Scripts and style sheets: the element, and what is in it."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, tuple(sorted(name for name, _ in attrs))))
        self.leads_to += [value or "" for name, value in attrs if name in ("href", "src", "action", "data")]
        if tag in ("script", "style"):
            self.raw.append((" ".join([tag, *(f"{name}={value}" for name, value in attrs)]), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            element, before = self.raw[-1]
            self.raw[-1] = element, before + data


def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    reader.close()
    return reader


class PageRule:
    """What a page may consist of, learnt from one with harmless names."""

    def __init__(self, harmless: Path) -> None:
        """Learns its elements with their attributes, and its programs."""
        page = _read(harmless)
        self._elements = page.elements
        self._programs = [(element, None if "json" in element else text) for element, text in page.raw]

    def hold(self, page: Path) -> None:
        """Raises Broken if a page has other elements, attributes or programs, or leads elsewhere."""
        found = _read(page)
        if strange := found.elements - self._elements:
            raise Broken("page: element that came from data", repr(sorted(strange)[:3]))
        if leaving := [target for target in found.leads_to if not _TARGET.fullmatch(target)]:
            raise Broken("page: reference that came from data", repr(leaving[:3]))
        if len(found.raw) != len(self._programs):
            raise Broken("page: script that came from data", repr([element for element, _ in found.raw]))
        for (element, text), (known, program) in zip(found.raw, self._programs, strict=True):
            if element != known or (program is not None and text != program):
                raise Broken("page: script that came from data", text[:200])
            if program is None:
                _hold_json(text)


def _hold_json(text: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)  # a browser reads no NaN
    except ValueError as error:
        raise Broken("page: data that no browser reads", str(error)) from None
