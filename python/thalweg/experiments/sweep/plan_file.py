"""Where a value of a plan stands, so that what is wrong with it is said with its file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.base.errors import ScenarioError, did_you_mean
from thalweg.base.toml import place_in, read_toml, shown

_LONGEST = 60
_OWN_HEADER = re.compile(r"(\s*\[\[?\s*)scenario\s*(?:\.\s*(.*)|\]\s*(?:#.*)?)", re.DOTALL)
"""`[scenario.path]` or `[[scenario.flow]]`, with what is left of it in a file of its own; or `[scenario]`."""


@dataclass(frozen=True)
class PlanFile:
    """The text that a plan was read from; a plan made in Python has none."""

    name: str
    text: str | None = None

    def refusal(self, keys: tuple[str, ...], problem: str, value: Any = ...) -> ScenarioError:
        """What is wrong with the value of a key, as the errors of scenarios say it."""
        where = place_in(self.text or "", self.name, *keys)
        given = "" if value is ... else f" = {shown(value, _LONGEST)}"
        return ScenarioError(f"{where}: {dotted(keys)}{given}: {problem}")

    def check_keys(self, document: Mapping[str, Any], known: Sequence[str]) -> None:
        """Refuses a key that this kind of plan does not have, and a scenario. Raises ScenarioError."""
        unknown = next((key for key in document if key not in known), None)
        if unknown is None:
            return
        if "flow" in document:
            raise ScenarioError(
                f'{self.name} is a scenario, not a plan; a plan names it: scenario = "{self.name}"'
            )
        raise self.refusal((unknown,), f"unknown key{did_you_mean(unknown, known)}")

    def own_scenario(self) -> str | None:
        r"""The text of the scenario within the plan, each line where the plan has it.

        None if it is no such text: if it is an inline table, or there is none.

        >>> print(PlanFile("plan.toml", '[axes]\n\n[scenario.path]\nrate = "1 Mbps"').own_scenario())
        <BLANKLINE>
        <BLANKLINE>
        [path]
        rate = "1 Mbps"
        """
        lines, is_own = [], False
        for line in (self.text or "").split("\n"):
            kept = line
            if line.lstrip().startswith("["):
                header = _OWN_HEADER.fullmatch(line)
                is_own = header is not None
                kept = f"{header[1]}{header[2]}" if header and header[2] else ""
            lines.append(kept if is_own else "")
        text = "\n".join(lines)
        try:
            is_whole = read_toml(text, self.name) == read_toml(self.text or "", self.name).get("scenario")
        except ScenarioError:
            return None
        return text if is_whole else None


def dotted(keys: tuple[str, ...]) -> str:
    """A key as TOML writes it.

    >>> dotted(("axes", "path.rate")), dotted(("exclude", "0"))
    ('axes."path.rate"', 'exclude.0')
    """
    return ".".join(key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"' for key in keys)
