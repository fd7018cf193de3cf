"""Which controllers of a scenario are in Python: texts that name files, and classes that a caller hands over."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from thalweg.base.errors import RequestError
from thalweg.engine.controllers.controller import Controller
from thalweg.engine.controllers.definition import NAMELESS, Definition, is_of_file, not_run, of_class, of_file

Given: TypeAlias = "str | type[Controller] | partial[Controller]"
"""A name, a file, a class, or a class with options."""


class Resolver:
    """Finds the definition that a text names, and remembers it."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        """`texts` of files that need not be there: another process has read them."""
        self._texts = texts or {}
        self.definitions: dict[str, Definition] = {}

    def text_of(self, given: Given) -> str:
        """The text that stands for a controller in a scenario. Raises RequestError."""
        if isinstance(given, str):
            return given
        definition = of_class(given)
        self.definitions[definition.text] = definition
        return definition.text

    def __call__(self, text: str) -> Definition | None:
        """The definition; None if the text names no controller in Python. Raises RequestError."""
        if text not in self.definitions:
            if text.startswith(NAMELESS):
                raise RequestError(
                    f'"{text}" was a class of the process that ran it; a replay needs a class in a file, '
                    "such as mine.py:Mine"
                )
            if not is_of_file(text):
                return None
            self.definitions[text] = self._found(text)
        return self.definitions[text]

    def _found(self, text: str) -> Definition:
        """The controller in a file, which is run."""
        return of_file(text, self._texts)


class Reader(Resolver):
    """Runs no file: for scenarios that are read and not played."""

    def _found(self, text: str) -> Definition:
        return not_run(text)
