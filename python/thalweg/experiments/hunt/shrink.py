"""Shrinking a find: the same passes again and again, until none makes it smaller.

A step is taken if the document is smaller than before (`size.py`) and the scenario still does what it was found
for. Several are tried at once, and the first of them in their order is taken, whichever is played first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import TypeVar

from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.hunt.size import Size, at
from thalweg.experiments.hunt.smaller import PASSES, Document

AT_ONCE = 8
Y = TypeVar("Y")


def shrink(
    document: Document,
    base: Document,
    needed: frozenset[str],
    fixed: Sequence[str],
    holds: Callable[[Sequence[Document]], Generator[Y, None, list[bool]]],
    keep: Callable[[Document], None],
) -> Generator[Y, None, Document]:
    """The smallest document that holds and that the passes lead to; needed flows and fixed keys stay.

    `holds` says which of some do what the find was found for, and yields what it needs for that; `keep` gets each
    smaller one.
    """
    values = [(key, at(document, key)) for key in fixed]

    def keeps(made: Document) -> bool:
        return all(at(made, key) == value for key, value in values)

    refused: set[str] = set()
    goes_on = True
    while goes_on:
        goes_on = False
        for pass_ in PASSES:
            while True:
                size = Size.of(document, base)
                proposed = (made for made in pass_(document, base, needed) if keeps(made))
                smaller = (made for made in proposed if Size.of(made, base) < size)
                tried = list(islice((made for made in smaller if scenario_text(made) not in refused), AT_ONCE))
                if not tried:
                    break
                answers = yield from holds(tried)
                taken = answers.index(True) if True in answers else None
                refused.update(map(scenario_text, tried[:taken]))
                if taken is not None:
                    document, goes_on = tried[taken], True
                    keep(document)
    return document
