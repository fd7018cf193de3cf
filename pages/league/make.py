"""Makes docs/evidence/league.md from the libraries of `make stacks`: about ten minutes of processor time.

The prose is in the page; tables are filled in. A cell is played again by the command under its table.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable
from functools import partial

from pages.league import outage
from pages.league.contestants import FAMILIES, Contestant, missing
from pages.league.rows import GROUPS, Row, cells
from pages.made import DOCS, ROOT, fill, made, row

PAGE = DOCS / "evidence" / "league.md"
_LAW_OF = {"CUBIC": "cubic", "Reno": "reno"}
_UNREPEATED = "BBR"
"""The family with a contestant that draws from the system: its lines need not repeat."""


def make() -> None:
    """Fills in the tables."""
    if missing():
        raise FileNotFoundError(f"{', '.join(missing())}: `make stacks` builds these libraries")
    for group, (_, rows) in GROUPS.items():
        for family, contestants in FAMILIES.items():
            fill(PAGE, f"{group} {family}", table(family, contestants, list(rows())))
            print(f"league: {group} {family}", flush=True)
    fill(PAGE, "outage", outage.table())
    fill(PAGE, "replays", "\n".join(replays()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    core_s = sum(one.ru_utime + one.ru_stime for one in used)
    fill(PAGE, "provenance", f"{made('league')} It took {core_s:.0f} s of processor time.")


def table(family: str, contestants: tuple[Contestant, ...], rows: list[Row]) -> str:
    """A table of a family."""
    header = ["scenario", *(["law"] if has_law(family, rows[0]) else []), *(one.title for one in contestants)]
    return "\n".join([row(*header), "|:--" + "|--:" * (len(header) - 1) + "|", *lines(family, contestants, rows)])


def lines(family: str, contestants: tuple[Contestant, ...], rows: list[Row]) -> list[str]:
    """The lines of a table."""
    found = cells(rows, contestants)
    return [
        row(
            f"`{one.scenario}`",
            *([one.law(_LAW_OF[family])] if one.law and has_law(family, one) else []),
            *(found[one.scenario, by.title] for by in contestants),
        )
        for one in rows
    ]


def has_law(family: str, one: Row) -> bool:
    """Whether documents say a number."""
    return one.law is not None and family in _LAW_OF


def replays() -> list[str]:
    """The options of each column."""
    lines = [row("table", "column", "options"), "|:--|:--|:--|"]
    for family, contestants in FAMILIES.items():
        for one in contestants:
            trials = "-n 1 " if one.is_slow else "-n 3 "
            lines.append(row(family, one.title, f"`{trials}{' '.join(one.options(('main',)))}`"))
    return lines


def parts() -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """The lines of the tables, measured again; none where a library is missing, which is said."""
    if missing():
        print(f"SKIPPED {PAGE.relative_to(ROOT)}: `make stacks` has not built {', '.join(missing())}")
        return []
    return [
        (f"{one.scenario}, {family}", partial(_again, family, contestants, one))
        for _, rows in GROUPS.values()
        for one in rows()
        for family, contestants in FAMILIES.items()
        if family != _UNREPEATED
    ]


def _again(family: str, contestants: tuple[Contestant, ...], of: Row) -> list[str]:
    return lines(family, contestants, [of])
