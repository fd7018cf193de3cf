"""Makes docs/evidence/league.md from the libraries of `make stacks`: about ten minutes of processor time.

The prose is in the page; tables are filled in. A cell is played again by the command under its table.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable
from functools import partial

from pages.league import outage
from pages.league.contestants import FAMILIES, Contestant, missing
from pages.league.rows import GROUPS, SLOW_TRIALS, TRIALS, Row, cells
from pages.made import DOCS, ROOT, fill, made, row

PAGE = DOCS / "evidence" / "league.md"
_LAW_OF = {"CUBIC": "cubic", "Reno": "reno"}


def make() -> None:
    """Fills in the tables."""
    if missing():
        raise FileNotFoundError(f"{', '.join(missing())}: `make stacks` builds these libraries")
    for group, rows in GROUPS.items():
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
    found = cells(rows, contestants)
    lines = (line(family, one, [found[one.scenario, by.title] for by in contestants]) for one in rows)
    return "\n".join([row(*header), "|:--" + "|--:" * (len(header) - 1) + "|", *lines])


def line(family: str, of: Row, measured: list[str]) -> str:
    """A line of a table: the cells of the contestants, in their order."""
    law = [of.law(_LAW_OF[family])] if of.law and has_law(family, of) else []
    return row(f"`{of.scenario}`", *law, *measured)


def has_law(family: str, one: Row) -> bool:
    """Whether documents say a number."""
    return one.law is not None and family in _LAW_OF


def replays() -> list[str]:
    """The options of each column."""
    lines = [row("table", "column", "options"), "|:--|:--|:--|"]
    for family, contestants in FAMILIES.items():
        for one in contestants:
            words = ["-n", str(SLOW_TRIALS if one.is_slow else TRIALS), *one.options(("main",))]
            lines.append(row(family, one.title, f"`{' '.join(words)}`"))
    return lines


def parts() -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """The lines of the tables, measured again; none where a library is missing, which is said."""
    if missing():
        print(f"SKIPPED {PAGE.relative_to(ROOT)}: `make stacks` has not built {', '.join(missing())}")
        return []
    return [
        *(
            (f"{one.scenario}, {family}", partial(_again, group, family, one))
            for group, rows in GROUPS.items()
            for one in rows()
            for family in FAMILIES
        ),
        *((f"outage, {one.title} {one.controller}", partial(_outage_again, one)) for one in outage.contestants()),
    ]


def _again(group: str, family: str, of: Row) -> list[str]:
    """A line, with what is on the page for a contestant whose trials do not repeat."""
    contestants = FAMILIES[family]
    found = cells([of], [one for one in contestants if one.repeats])
    said = _said(f"{group} {family}", of)[-len(contestants) :]
    measured = [
        found[of.scenario, one.title] if one.repeats else text for one, text in zip(contestants, said, strict=True)
    ]
    return [line(family, of, measured)]


def _said(part: str, of: Row) -> list[str]:
    """The cells of a line that are on the page."""
    text = PAGE.read_text(encoding="utf-8")
    _, _, after = text.partition(f"<!-- made: {part} -->")
    table, _, _ = after.partition("<!-- end -->")
    found = [one for one in table.splitlines() if one.startswith(f"| `{of.scenario}` |")]
    if len(found) != 1:
        raise ValueError(f"{PAGE}, {part}: expected one line of {of.scenario}, found {len(found)}")
    return [cell.strip() for cell in found[0].strip("|").split("|")]


def _outage_again(contestant: Contestant) -> list[str]:
    return [outage.line(contestant)]
