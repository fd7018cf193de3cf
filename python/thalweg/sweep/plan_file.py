"""Where a value of a plan stands, so that what is wrong with it is said with its file, line and key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from thalweg.errors import ScenarioError
from thalweg.toml import read_toml

_LONGEST = 60


@dataclass(frozen=True)
class PlanFile:
    """The text that a plan was read from; a plan made in Python has none."""

    name: str
    text: str | None = None

    def refusal(self, keys: tuple[str, ...], problem: str, value: Any = ...) -> ScenarioError:
        """What is wrong with the value of a key, as the errors of scenarios say it."""
        line = self._line(keys)
        where = self.name if line is None else f"{self.name}:{line}"
        given = "" if value is ... else f" = {_shown(value)}"
        return ScenarioError(f"{where}: {dotted(keys)}{given}: {problem}")

    def _line(self, keys: tuple[str, ...]) -> int | None:
        """The line where a key is given: behind the longest beginning of the text that lacks it."""
        lines = (self.text or "").splitlines()
        while keys:
            before = 0
            for end in range(1, len(lines) + 1):
                try:
                    document = read_toml("\n".join(lines[:end]), self.name)
                except ScenarioError:
                    continue
                if _has(document, keys):
                    return before + 1
                before = end
            keys = keys[:-1]
        return None


def dotted(keys: tuple[str, ...]) -> str:
    """A key as TOML writes it.

    >>> dotted(("axes", "path.rate")), dotted(("exclude", "0"))
    ('axes."path.rate"', 'exclude.0')
    """
    return ".".join(key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"' for key in keys)


def _has(document: Any, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if isinstance(document, list):
            if not key.isdigit() or int(key) >= len(document):
                return False
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return False
    return True


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
