"""The page of evidence on the medium of Wi-Fi: docs/evidence/wifi.md.

Every series is of seeds that no test and no reference table has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pages.made import DOCS, fill, made
from pages.wifi import agreement, controllers, mechanisms, published, spacing

PAGE = DOCS / "evidence" / "wifi.md"


def make() -> None:
    """Measures all of it."""
    fill(PAGE, "made", made("wifi"))
    for name, lines in _tables():
        fill(PAGE, name, "\n".join(lines))


def _tables() -> Iterator[tuple[str, Iterable[str]]]:
    printed = agreement.printed()
    yield "bianchi", agreement.bianchi(printed)
    yield "ns3", agreement.ns3(printed)
    yield "hidden", agreement.hidden(printed)
    found = mechanisms.held_out()
    yield "confusion", mechanisms.confusion(found)
    yield "coverage", mechanisms.coverage(found)
    yield "second", mechanisms.second()
    draws = published.drawn()
    yield "posterior", published.posterior(draws)
    yield "parameters", published.parameters(draws)
    yield "spacing", spacing.lines()
    yield "airtime", controllers.airtime()
    yield "controllers", controllers.lines()


def parts() -> list[tuple[str, Callable[[], str]]]:
    """What is cheap to measure again."""
    cases = [(" ".join(case), partial(controllers.case, *case)) for case in controllers.CASES]
    return [*cases, *((name, partial(spacing.line, name)) for name in spacing.ELEMENTS)]
