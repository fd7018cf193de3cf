"""What the author of a dossier writes: sections that no experiment answers, and evidence from the field.

```toml
"5.3.1" = "The algorithm deviates from RFC 2914 in ..."

[[field]]
section = "5.2.1"
text    = "A deployment on 1 % of ... for three months: ..."
source  = "https://..."
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.toml import place, shown
from thalweg.experiments.dossier.limits import read_tables
from thalweg.experiments.dossier.sections import CRITERIA, ENVIRONMENTS

UNWRITTEN = "The author has not written on this."
TEXTS = {
    "3.2": "the status that is sought, and why",
    "4": "the scope: general use, or a controlled environment and how usage is kept to it",
    "5.3.1": "deviations from the principles of RFC 2914 and RFC 7141, and their reasons",
    "5.3.2": "incremental deployment, and the behavior with routers, proxies, optimizers and firewalls",
    "7.10": "failover and concurrent use of paths, if the algorithm is for multipath transport",
    "8": "issues of security and privacy",
}
"""Sections that the author answers, and what belongs there."""
_FIELD = ("section", "text", "source")


@dataclass(frozen=True)
class Field:
    """Evidence from the field, as the author tells it."""

    section: str
    text: str
    source: str


@dataclass(frozen=True)
class Statements:
    """The statements of one author."""

    texts: Mapping[str, str] = field(default_factory=dict)
    field: tuple[Field, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The sections without a text."""
        return [section for section in TEXTS if section not in self.texts]


def read_statements(file: Path | None) -> Statements:
    """The statements of a file; none without one. Raises RequestError."""
    if file is None:
        return Statements()
    texts, fields = {}, []
    for key, value in read_tables(file).items():
        if key == "field":
            entries = value if isinstance(value, list) else [value]
            fields = [_field(entry, file, str(number)) for number, entry in enumerate(entries)]
        elif key not in TEXTS:
            known = ", ".join(f'"{section}"' for section in TEXTS)
            raise RequestError(f"{place(file, key)}: unknown key {key!r}; accepted: {known} and [[field]]")
        elif not isinstance(value, str) or not value.strip():
            raise RequestError(f'{place(file, key)}: "{key}" = {shown(value)}: expected a text')
        else:
            texts[key] = value.strip()
    return Statements(texts, tuple(fields))


def _field(entry: Any, file: Path, number: str) -> Field:
    def at(*keys: str) -> str:
        return f"{place(file, 'field', number, *keys)}: {'.'.join(('field', number, *keys))}"

    if not isinstance(entry, dict):
        raise RequestError(f"{at()} = {shown(entry)}: expected a table [[field]] with {', '.join(_FIELD)}")
    for key, value in entry.items():
        if key not in _FIELD:
            raise RequestError(f"{at(key)}: unknown key{did_you_mean(key, _FIELD)}")
        if not isinstance(value, str) or not value.strip():
            raise RequestError(f"{at(key)} = {shown(value)}: expected a text")
    for key in _FIELD:
        if key not in entry:
            raise RequestError(f'{at()}: the key "{key}" is missing')
    if entry["section"] not in {**CRITERIA, **ENVIRONMENTS}:
        said = f"{at('section')} = {shown(entry['section'])}"
        raise RequestError(f'{said}: expected a section such as "5.2.1" or "6.4"')
    return Field(**{key: entry[key].strip() for key in _FIELD})
