"""Writes what studies measured into their pages: tables, checks and findings, and the figures made only of rows.

A page has one part for each table, so that the text between them can say what they mean. A study is run unless
its folder is there of this commit (`made.study`); the loopback needs a quiet machine for half an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pages.made import DOCS, fill, made, read, row, study
from thalweg.base.quantity import percent, text
from thalweg.experiments.studies.catalogue import study_of
from thalweg.experiments.studies.fairness import figures as fairness_figures
from thalweg.experiments.studies.fairness.figures import base_rows
from thalweg.experiments.studies.harm import figures as harm_figures
from thalweg.experiments.studies.harm.measure import COMPLETION
from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import Table
from thalweg.experiments.studies.slow_start import figures as slow_start_figures
from thalweg.experiments.studies.slow_start.measure import level_column
from thalweg.pages.figures import Chart
from thalweg.pages.figures.figure import figure

IMAGES = DOCS / "images" / "studies"
Parts = dict[str, list[Table]]
"""Tables by the part of the page that they fill."""


def markdown(table: Table) -> list[str]:
    """Its lines in Markdown; columns of numbers are aligned to the right."""
    rule = [":--"] * table.words + ["--:"] * (len(table.headers) - table.words)
    return [row(*cells) for cells in (table.headers, rule, *table.lines)]


def checks(result: StudyResult) -> Table:
    """Each check with its verdict."""
    return Table(
        ("check", "answer", "measured"),
        [(check.name, check.answer, check.measured) for check in result.checks],
        3,
    )


def findings(result: StudyResult) -> Table:
    """Each published statement next to what was measured."""
    lines = [(finding.name, finding.published, finding.measured, finding.answer) for finding in result.findings]
    return Table(("published statement", "published", "measured", "here"), lines, 4)


def ran(result: StudyResult) -> str:
    """What was run, in a line."""
    held = sum(check.holds for check in result.checks)
    said = f" {held} of {len(result.checks)} checks hold." if result.checks else ""
    return (
        f"Version {result.version}, preset `{result.preset}`, {result.trials} trials, seed {result.seed}, "
        f"{result.core_s:.0f} s of processor time.{said}"
    )


@dataclass(frozen=True)
class Run:
    """One run of a study, and what of it a page shows."""

    name: str
    """The name of its folder."""
    study: str
    given: dict[str, Any]
    """Parameters other than the defaults."""
    trials: int | None
    parts: Callable[[str, StudyResult], Parts]
    figures: Callable[[StudyResult], dict[str, Chart]] = lambda _: {}

    def make(self) -> None:
        """Runs it unless it was, and fills its parts of the page."""
        study_ = study_of(self.study)
        folder = study(self.name, lambda: study_.run(study_.choose(self.given), self.trials))
        result = read(folder)
        page = DOCS / "evidence" / "studies" / f"{self.study}.md"
        for part, tables in self.parts(self.name, result).items():
            lines = [line for table in tables for line in (*markdown(table), "")]
            head = [ran(result), "", made(self.study), ""] if part == self.name else []
            fill(page, part, "\n".join([*head, *lines]))
        for name, chart in self.figures(result).items():
            figure(chart).save(IMAGES / name, dots=1)


def everything(name: str, result: StudyResult) -> Parts:
    """All tables, the checks, and the findings."""
    of = study_of(result.study)
    tables = {name: list(of.tables(result)), "checks": [checks(result)]}
    return {**tables, "findings": [of.finding_table(result) or findings(result)]} if result.findings else tables


def later_steps(name: str, result: StudyResult) -> Parts:
    """The first table, of the larger buffer, without the start, which is the same for all presets."""
    result.rows = [
        row for row in result.rows if row["buffer"] == "100 packets" and row["step"] != "0 s: flow main"
    ]
    return {name: list(study_of(result.study).tables(result)[:1])}


def in_one(name: str, result: StudyResult) -> Parts:
    """All of it, in one part."""
    return {name: [table for tables in everything(name, result).values() for table in tables]}


def square(rows: Sequence[Row], down: str, across: str, cell: Callable[[Row], str], head: str) -> Table:
    """One number of each pair."""
    names = list(dict.fromkeys(str(row[down]) for row in rows))
    found = {(str(row[down]), str(row[across])): cell(row) for row in rows}
    return Table((head, *names), [(name, *(found.get((name, other), "") for other in names)) for name in names], 1)


PAIRS = (
    ("c4", "c4"),
    ("c4", "cubic"),
    ("cubic", "c4"),
    ("c4", "reno"),
    ("c4", "prague"),
    ("bbr", "cubic"),
    ("bbr1", "cubic"),
    ("prague", "cubic"),
    ("cubic", "prague"),
    ("cubic", "cubic"),
    ("reno", "reno"),
    ("prague", "prague"),
)
"""What the page of fairness shows of each condition."""


def conditions(rows: Sequence[Row]) -> Table:
    """Shares of PAIRS under each condition, of the first flow and of the second, and the range of all pairs."""
    by_condition: dict[tuple[str, str, str], dict[tuple[str, str], tuple[float, float]]] = {}
    for pair in (one for one in rows if one["flows"] == 2):
        condition = (str(pair["queue"]), f"{pair['buffer_bdp']:g} BDP", f"{pair['rtt_ratio']:g}")
        shares = (float(pair["first_of_fair"] or 0), float(pair["second_of_fair"] or 0))
        by_condition.setdefault(condition, {})[str(pair["first"]), str(pair["second"])] = shares
    lines = []
    for condition, found in by_condition.items():
        shown = (found[pair] for pair in PAIRS)
        each = [share for both in found.values() for share in both]
        cells = (f"{100 * first:.0f} %, {100 * second:.0f} %" for first, second in shown)
        lines.append((*condition, *cells, f"{100 * min(each):.0f} % to {100 * max(each):.0f} %"))
    heads = (f"{first}, {second}" for first, second in PAIRS)
    return Table(("queue", "buffer", "RTT ratio", *heads, "all pairs"), lines, 3)


def weakest(rows: Sequence[Row]) -> Table:
    """What the weakest of many flows of one controller has, of its fair share.

    >>> weakest([{"flows": 5, "first": "c4", "least_of_fair": 0.5}, {"flows": 2, "first": "c4"}]).lines
    [('5', '50 %')]
    """
    many = [one for one in rows if one["flows"] != 2]
    names = list(dict.fromkeys(str(one["first"]) for one in many))
    found = {(one["flows"], str(one["first"])): f"{100 * float(one['least_of_fair'] or 0):.0f} %" for one in many}
    flows = list(dict.fromkeys(one["flows"] for one in many))
    return Table(("flows", *names), [(str(n), *(found[n, name] for name in names)) for n in flows], 1)


def shares(name: str, result: StudyResult) -> Parts:
    """The matrix of the base, some pairs of all conditions, and the checks: all rows are too many for a page."""

    def share(row: Row) -> str:
        return percent(float(row["first_of_fair"] or 0.0))

    return {
        name: [square(base_rows(result.rows), "first", "second", share, "first")],
        "conditions": [conditions(result.rows)],
        "weakest": [weakest(result.rows)],
        "checks": [checks(result)],
    }


def matrix(name: str, result: StudyResult) -> Parts:
    """Harm to the geometric mean, of all pairs."""
    pairs = [row for row in result.rows if row["competitor"]]

    def harm(row: Row) -> str:
        return f"{float(row['geomean_harm'] or 0.0):.2f}"

    return {name: [square(pairs, "controller", "competitor", harm, "short flows of")]}


def starts(name: str, result: StudyResult) -> Parts:
    """Times, exits and losses of each path by start, the checks, and the findings."""

    def until(level: int) -> Callable[[Row], str]:
        def cell(row: Row) -> str:
            value = row[level_column(level)]
            return "never" if value is None else text(float(value), "s", 3)

        return cell

    def number(column: str, form: str) -> Callable[[Row], str]:
        def cell(row: Row) -> str:
            value = row[column]
            return "-" if value is None else format(float(value), form)

        return cell

    def exits(row: Row) -> str:
        shares = (float(row[column] or 0) for column in ("early", "late"))
        return " / ".join(f"{100 * share:.0f} %" for share in shares)

    paths = list(dict.fromkeys(str(row["condition"]) for row in result.rows))
    columns = list(dict.fromkeys(str(row["start"]) for row in result.rows))
    found = {(row["condition"], row["start"]): row for row in result.rows}

    def by_start(head: str, cell: Callable[[Row], str]) -> Table:
        lines = [(path, *(cell(found[path, start]) for start in columns)) for path in paths]
        return Table((head, *columns), lines, 1)

    return {
        name: [
            by_start(f"until {text(float(level), 'B')}", until(level))
            for level in (150_000, 1_500_000, 15_000_000)
        ],
        "reached": [by_start("largest window, BDP", number("reached_of_pipe", ".1f"))],
        "left": [by_start("window left, BDP", number("left_of_pipe", ".2f"))],
        "exits": [by_start("early / late", exits)],
        "dropped": [by_start("packets dropped", number("dropped", ".0f"))],
        "checks": [checks(result)],
        "findings": [findings(result)],
    }


def _harm(result: StudyResult) -> dict[str, Chart]:
    return {"harm-ccafct.svg": harm_figures.plot_harm(result.rows, COMPLETION, "Harm to completion times")}


def _harm_matrix(result: StudyResult) -> dict[str, Chart]:
    title = "Harm to the geometric mean of short flows, 20 ms"
    return {"harm-matrix.svg": harm_figures.plot_matrix(result.rows, COMPLETION[0], title)}


def _fairness(result: StudyResult) -> dict[str, Chart]:
    title = "What the first flow gets of its fair share"
    return {"fairness-matrix.svg": fairness_figures.plot_matrix(base_rows(result.rows), title)}


def _slow_start(result: StudyResult) -> dict[str, Chart]:
    far = [row for row in result.rows if row["rtt"] == "600 ms"]
    return {
        "slow-start-exits.svg": slow_start_figures.plot_exits(result.rows, "Where slow start ends"),
        "slow-start-satellite.svg": slow_start_figures.plot_arrival(far, "How soon bytes arrive: 50 Mbps, 600 ms"),
    }


RUNS = (
    Run("harm", "harm", {}, None, everything, _harm),
    Run("harm-matrix", "harm", {"preset": "matrix"}, None, matrix, _harm_matrix),
    Run("transient", "transient", {}, None, everything),
    *(
        Run(f"transient-{preset}", "transient", {"preset": preset}, 20, later_steps)
        for preset in ("capacity", "rtt", "arrival")
    ),
    Run("wifi-compete", "wifi-compete", {}, None, everything),
    Run("fairness", "fairness", {}, None, shares, _fairness),
    Run("stacks", "stacks", {}, None, everything),
    Run("slow-start", "slow-start", {}, None, starts, _slow_start),
    Run("hunt", "hunt", {}, None, everything),
    Run("loopback", "loopback", {"length": "2s"}, 6, in_one),
    Run("loopback-size", "loopback", {"size": "10GB", "length": "25s"}, 6, in_one),
    Run("loopback-load", "loopback", {"size": "10GB", "length": "25s", "load": 2}, 6, in_one),
)


def make(name: str) -> None:
    """Fills all parts of the page of a study."""
    for run in RUNS:
        if run.study == name:
            run.make()
