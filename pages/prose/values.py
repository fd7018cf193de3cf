"""Values in the prose of pages: each has a name, and stands between `<!--=NAME-->` and `<!--=-->`.

A module of this folder says from which tables a value follows. `python -m pages` writes all values after it has
made a page; a test and `python -m pages --check` compare them. A value keeps the decimals that it has on the page,
and its sign only if it has one there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pages.made import DOCS
from pages.prose import c4_05, experiments, l4s, laws, league, studies
from pages.prose.tables import forget

Values = Mapping[str, Callable[[], float]]
PAGES: dict[str, Values] = {
    c4_05.PAGE: {**c4_05.VALUES, "slow": laws.VALUES["c4-slow"]},
    l4s.PAGE: l4s.VALUES,
    laws.PAGE: laws.VALUES,
    league.PAGE: league.VALUES,
    **experiments.PAGES,
    **studies.PAGES,
}
_VALUE = re.compile(r"<!--=([\w.-]+)-->([^<]*)<!--=-->")


def shown(value: float, like: str) -> str:
    """A value in the form of another one.

    >>> shown(-2.24, "+1.0"), shown(-2.24, "7"), shown(1702.3, "9 999"), shown(0.5, "")
    ('-2.2', '2', '1 702', '0.5')
    """
    if not like:
        return f"{value:g}"
    decimals = len(like.partition(".")[2])
    sign = "+" if like[0] in "+-" else ""
    grouping = "_" if " " in like else ""
    return format(value if sign else abs(value), f"{sign}{grouping}.{decimals}f").replace("_", " ")


def written(page: str, text: str) -> str:
    """The text of a page with its values as they are."""
    values = PAGES.get(page, {})
    return _VALUE.sub(lambda found: f"<!--={found[1]}-->{shown(values[found[1]](), found[2])}<!--=-->", text)


def write() -> None:
    """Writes the values of all pages."""
    forget()
    for page in PAGES:
        file = DOCS / page
        before = file.read_text(encoding="utf-8")
        if (after := written(page, before)) != before:
            file.write_text(after, encoding="utf-8")


def wrong(page: str, text: str) -> Iterator[str]:
    """What stands on a page and is not what it should be: values, names without one, and names not used."""
    values = PAGES.get(page, {})
    found = _VALUE.findall(text)
    for name, said in found:
        if name not in values:
            yield f"{page}: no value {name!r}"
        elif (is_ := shown(values[name](), said)) != said:
            yield f"{page}: {name} is {is_}, the page says {said}"
    yield from (f"{page}: {name} is not used" for name in values if name not in {name for name, _ in found})
