"""Names of senders, of ours and of others, and what decides on them: parts of docs/evidence/explain.md.

A command of its own makes them, since the stacks are built first: `make stacks`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

from pages.explain import speed, stacks
from pages.explain.make import NAME_KINDS, PAGE
from pages.explain.measure import Case, named_in
from pages.explain.nulls import null, rows
from pages.made import fill, made, row
from thalweg.base.quantity import percent
from thalweg.foreign.inference.who import CANDIDATES

NAME_SEEDS = range(20_000, 20_002)
STACK_SEEDS = (20_000, 7)
"""The first seed, and how many: with fifteen controllers, 105 traces."""


def make_senders() -> None:
    """Measures all of it."""
    fill(PAGE, "senders", made("explain-senders"))
    make_names()
    make_stacks()
    fill(PAGE, "speed", "\n".join(speed.lines()))


def make_names() -> None:
    """Names of senders on four kinds of paths, and the nulls of the constants that decide on them."""
    lines = _head("paths", "traces", "answers", "right of these", "one name")
    mistaken: Counter[tuple[str, str]] = Counter()
    nulls = []
    for kind, words in NAME_KINDS.items():
        found = []
        for name, seed in product(CANDIDATES, NAME_SEEDS):
            case = Case.of(kind, seed, name)
            found.append((name, named_in(case)))
            nulls.append(null(case, found[-1][1]))
        answers = [(name, who.named) for name, who in found if who.named]
        right = [(name, said) for name, said in answers if name in said]
        mistaken.update((name, said[0]) for name, said in answers if name not in said)
        alone = sum(len(said) == 1 for _, said in right)
        shares = (len(answers) / len(found), len(right) / max(1, len(answers)), alone / max(1, len(answers)))
        lines.append(row(words, str(len(found)), *map(percent, shares)))
    fill(PAGE, "names", "\n".join([*lines, "", *_wrong(mistaken)]))
    fill(PAGE, "constants", "\n".join(rows(nulls)))


def _wrong(mistaken: Counter[tuple[str, str]]) -> list[str]:
    wrong = [row(truth, said, str(count)) for (truth, said), count in mistaken.most_common()]
    return [*_head("wrong: the controller", "is named", "times"), *wrong] if wrong else ["No answer was wrong."]


def make_stacks() -> None:
    """Names of senders that others wrote."""
    head = row("stack", "controller", "traces", "named", "right of these", "closest where none is named")
    lines = [head, row(":--", ":--", "--:", "--:", "--:", ":--")]
    mistaken: Counter[tuple[str, str]] = Counter()
    played = [of for of in stacks.PLAYED if of.is_built]
    for of in played:
        found = [stacks.named(of, seed) for seed in stacks.seeds(*STACK_SEEDS)]
        answers = [{one.partition(":")[0] for one in who.named} for who in found if who.named]
        right = [families for families in answers if families & set(of.families)]
        mistaken.update(
            (f"{of.stack} {of.controller}", " or ".join(sorted(one))) for one in answers if one not in right
        )
        closest = Counter(who.best.controller for who in found if not who.named and who.best)
        said = ", ".join(f"{name} {count}" for name, count in closest.most_common(2))
        lines.append(row(of.stack, of.controller, str(len(found)), str(len(answers)), str(len(right)), said))
    missing = sorted({of.stack for of in stacks.PLAYED} - {of.stack for of in played})
    said = f" Not built here, and not played: {', '.join(missing)}." if missing else ""
    fill(PAGE, "stacks", "\n".join([*lines, "", *_wrong(mistaken), *([said.strip()] if said else [])]))


def _head(*cells: str) -> list[str]:
    return [row(*cells), row(":--", *("--:" for _ in cells[1:]))]
