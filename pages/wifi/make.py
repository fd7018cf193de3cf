"""The page of evidence on the medium of Wi-Fi: docs/evidence/wifi.md.

Every series is of seeds that no test and no reference table has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pages.made import DOCS, fill, made
from pages.wifi import agreement, controllers, mechanisms, published, rivals, spacing
from pages.wifi.ns3 import access, third

PAGE = DOCS / "evidence" / "wifi.md"


def make() -> None:
    """Measures what has no page command of its own."""
    fill(PAGE, "made", made("wifi"))
    for name, lines in _tables():
        fill(PAGE, name, "\n".join(lines))


def make_agreement() -> None:
    """Measures what needs nothing but the tests of the medium."""
    printed = agreement.printed()
    tables = {"bianchi": agreement.bianchi, "ns3": agreement.ns3, "hidden": agreement.hidden}
    _fill("agreement", {name: "\n".join(lines(printed)) for name, lines in tables.items()})


def make_posterior() -> None:
    """Plays the hypotheses of what was published."""
    draws = published.drawn()
    tables = {
        "posterior": published.posterior,
        "tolerances": published.tolerances,
        "parameters": published.parameters,
    }
    _fill("posterior", {name: "\n".join(lines(draws)) for name, lines in tables.items()})


def make_access() -> None:
    """Measures what needs ns-3, if its package is there."""
    tables = access.tables()
    if tables:
        _fill("access", {name: "\n".join(lines) for name, lines in tables.items()})


def make_third() -> None:
    """Measures which rules of a collision make the delays next to saturated stations."""
    _fill("third", {"third": "\n".join(third.lines())})


def make_rivals() -> None:
    """Measures controllers in both directions, alone, against CUBIC, and as calls."""
    _fill("rivals", {name: "\n".join(rivals.lines(name)) for name in rivals.TABLES})


def make_load() -> None:
    """Measures the delay of probes next to the load that closer ones have."""
    _fill("load", {"loaded": "\n".join(spacing.loaded())})


def _fill(of: str, tables: dict[str, str]) -> None:
    fill(PAGE, f"made-{of}", made(f"wifi-{of}"))
    for name, lines in tables.items():
        fill(PAGE, name, lines)


def _tables() -> Iterator[tuple[str, Iterable[str]]]:
    found = mechanisms.held_out()
    yield "confusion", mechanisms.confusion(found)
    yield "coverage", mechanisms.coverage(found)
    yield "second", mechanisms.second()
    yield "spacing", spacing.lines()
    yield "airtime", controllers.airtime()
    yield "controllers", controllers.lines()


def parts() -> list[tuple[str, Callable[[], str]]]:
    """What is cheap to measure again."""
    cases = [(" ".join(case), partial(controllers.case, *case)) for case in controllers.CASES]
    return [*cases, *((name, partial(spacing.line, name)) for name in spacing.ELEMENTS)]


def load_parts() -> list[tuple[str, Callable[[], str]]]:
    """Each preset."""
    return [(name, partial(spacing.loaded_line, name)) for name in ("home", "hidden")]


def rivals_parts() -> list[tuple[str, Callable[[], str]]]:
    """Each line of transfers."""
    return [
        (f"{name} {element} {way}", partial(rivals.line, name, element, way))
        for name in ("alone", "against", "across")
        for element in rivals.ELEMENTS
        for way in rivals.WAYS
    ]
