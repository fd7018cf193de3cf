"""Shrinking: it ends, keeps what it must, and is the same each time; what sizes count."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from thalweg.experiments.hunt.shrink import shrink
from thalweg.experiments.hunt.size import Size
from thalweg.experiments.hunt.smaller import PASSES, Document

Values = Generator[None, None, list[bool]]

BASE: Document = tomllib.loads("""
title = "base"
path = { rate = "20 Mbps", rtt = "40 ms" }
flow = [{ name = "main", controller = "cubic", download = "1 MB" }]
pass = [{ flow = "main", metric = "completion", at_most = "10 min" }]
""")


def found(seed: int) -> Document:
    """A scenario as a search finds it, with long numbers and much that does nothing."""
    draw = random.Random(seed)
    text = {"s": lambda: f"{draw.uniform(0, 9):.6g} s", "ms": lambda: f"{draw.uniform(1, 300):.6g} ms"}
    changes = [{"at": text["s"](), "rtt": text["ms"]()} for _ in range(draw.randrange(1, 7))]
    changes += [
        {"at": text["s"](), "buffer": f"{draw.randrange(2, 99)} packets"} for _ in range(draw.randrange(3))
    ]
    flows = [
        {"name": f"flow{n}", "controller": "cubic", "start": text["s"](), "download": f"{draw.randrange(10**6)} B"}
        for n in range(draw.randrange(4))
    ]
    path = {**BASE["path"], "rtt": text["ms"](), "jitter": {"model": "wifi", "mean": text["ms"]()}}
    return {**BASE, "path": {**path, "change": changes}, "flow": [*BASE["flow"], *flows]}


def shrunk(document: Document, needs: Any, *fixed: str) -> tuple[Document, list[Document]]:
    """What shrinking makes of a document where `needs` says what holds, and all that it kept on its way."""
    kept: list[Document] = []

    def holds(documents: Sequence[Document]) -> Values:
        yield
        return [needs(one) for one in documents]

    steps = shrink(document, BASE, frozenset({"main"}), fixed, holds, kept.append)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value, kept


def has_a_late_change(document: Document) -> bool:
    return any("rtt" in change for change in document.get("path", {}).get("change", []))


@pytest.mark.parametrize("seed", range(20))
def test_each_step_is_smaller_and_still_holds(seed: int) -> None:
    document = found(seed)
    least, kept = shrunk(document, has_a_late_change)
    sizes = [Size.of(one, BASE) for one in [document, *kept]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert all(map(has_a_late_change, kept))
    assert least == (kept[-1] if kept else document)
    assert shrunk(document, has_a_late_change)[0] == least, "the same each time"


def test_what_is_not_needed_goes_and_what_is_needed_stays() -> None:
    least, _ = shrunk(found(3), has_a_late_change)
    # One change with the one key that is asked for: nothing here says that it needs a time.
    assert [list(change) for change in least["path"]["change"]] == [["rtt"]]
    assert least["flow"] == [{}], "of a needed flow its keys may go"
    assert (least["title"], least["pass"]) == ("base", BASE["pass"])
    assert list(least["path"]) == ["change"]


def test_numbers_are_rounded_as_far_as_the_objective_lets_them() -> None:
    document = {**BASE, "path": {**BASE["path"], "rtt": "123.456 ms"}}

    def holds(one: Document) -> bool:
        return 118 <= float(one.get("path", {}).get("rtt", "0 ms").split()[0]) <= 126

    least, _ = shrunk(document, holds)
    assert least["path"]["rtt"] == "120 ms"


def test_nothing_smaller_is_left_untried() -> None:
    least, _ = shrunk(found(5), has_a_late_change)
    smaller = [
        one
        for pass_ in PASSES
        for one in pass_(least, BASE, frozenset({"main"}))
        if Size.of(one, BASE) < Size.of(least, BASE) and has_a_late_change(one)
    ]
    assert smaller == []


def test_a_size_counts_from_numbers_to_digits() -> None:
    size = Size.of(BASE, BASE)
    # rate, rtt and download; of name and controller no numbers; 1 MB are 20 binary digits.
    assert (size.numbers, size.leaves, size.length, size.changes, size.digits) == (3, 5, 20, 0, 3)
    longer = {**BASE, "flow": [{**BASE["flow"][0], "download": "2.5 MB"}]}
    assert (Size.of(longer, BASE).length, Size.of(longer, BASE).changes, Size.of(longer, BASE).digits) == (
        22,
        1,
        4,
    )


def test_fixed_keys_stay_as_they_were_found() -> None:
    document = found(4)
    least, _ = shrunk(document, has_a_late_change, "path.jitter.mean", "flow.main.download")
    assert least["path"]["jitter"]["mean"] == document["path"]["jitter"]["mean"]
    assert least["flow"] == [{"name": "main", "download": "1 MB"}]
