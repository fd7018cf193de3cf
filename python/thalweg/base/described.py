"""What an interpreter and a notebook show of scenarios, outcomes and trials: five lines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from thalweg.base.quantity import text
from thalweg.base.toml import read_toml

_MOST = 3
"""How many of the things that a line lists are named."""


class Described:
    """Something that says what it is in a few lines, the first of which names it."""

    @abstractmethod
    def described(self) -> Iterator[tuple[str, str]]:
        """Heading and content of each line."""

    def __repr__(self) -> str:
        (kind, name), *rest = self.described()
        widest = max((len(heading) for heading, _ in rest), default=0)
        return "\n".join([f"{kind} {name}", *(f"  {heading.ljust(widest)}  {what}" for heading, what in rest)])

    def _repr_html_(self) -> str:
        (kind, name), *rest = self.described()
        left = 'style="text-align:left"'
        left = 'style="text-align:left"'
        rows = "".join(
            f"<tr><th {left}>{escape(heading)}</th><td {left}>{escape(what)}</td></tr>" for heading, what in rest
        )
        return f"<table><caption>{escape(kind)} <b>{escape(name)}</b></caption>{rows}</table>"


def listed(parts: Sequence[str], none: str = "none") -> str:
    """The first of them.

    >>> listed(["a", "b", "c", "d", "e"]), listed([])
    ('a; b; c; and 2 more', 'none')
    """
    more = [f"and {len(parts) - _MOST} more"] if len(parts) > _MOST else []
    return "; ".join([*parts[:_MOST], *more]) or none


def path_of(toml: str) -> str:
    """The path of a scenario in a few words.

    >>> path_of('path = { rate = "20 Mbps", rtt = "40 ms", buffer = "1 bdp", loss = "1 %" }')
    '20 Mbps, 40 ms, buffer 1 bdp, loss'
    """
    path = read_toml(toml, "scenario").get("path", {})
    if not isinstance(path, dict):
        return f"{len(path)} hops"
    parts = [str(path.get("rate", "a trace" if "trace" in path else "?")), str(path.get("rtt", "?"))]
    parts += [f"buffer {path['buffer']}"] if "buffer" in path else []
    parts += [key for key in ("queue", "loss", "jitter", "medium", "policer", "change", "up") if key in path]
    return ", ".join(parts)


def criterion_of(criterion: Mapping[str, Any]) -> str:
    """A pass criterion in words: `main completion <= 5 s`."""
    side, sign = ("at_most", "<=") if criterion.get("at_most") is not None else ("at_least", ">=")
    subject = " ".join(filter(None, (criterion["flow"], criterion.get("stream"), criterion["metric"])))
    return f"{subject} {sign} {text(criterion[side], criterion['unit'])}"
