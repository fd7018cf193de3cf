"""Tables at every width of a terminal: nothing is cut, nothing goes missing without being named."""

from __future__ import annotations

import io
import random
import time
from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from rich.console import Console

import thalweg
from thalweg.cli import tables
from thalweg.cli.compare.table import comparison_table
from thalweg.cli.fitting import FittingTable, plain_table
from thalweg.cli.list import _DROPPABLE, _LISTS, _TITLE, Kind
from thalweg.judging.comparison.row import Row
from thalweg.results.comparison.suites import compare_results
from thalweg.results.suite_result import SuiteResult

WIDTHS = (40, 60, 80, 100, 120, 200)
ALWAYS = ("scenario", "answer", "criterion", "median", "worst")


def rendered(table: FittingTable, width: int) -> list[str]:
    """The lines of a table on a terminal of that width, without the empty one above."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(table)
    return file.getvalue().splitlines()[1:]


def dropped(lines: Sequence[str]) -> set[str]:
    """The columns that a table says it leaves out."""
    for number, line in enumerate(lines):
        if line.startswith("not shown at "):
            names = " ".join(" ".join(lines[number:]).split()).split(": ", 1)[1]
            return set(names.split(", "))
    return set()


def verdict_rows() -> list[list[str]]:
    rows = []
    for name in ("c4/simple-20mbps", "c4/media-bad-wifi", "c4/c4-background-first"):
        outcomes = thalweg.Scenario.load(name).trials(3, 1)
        rows += tables.verdict_rows(name, outcomes.verdict())
    return rows


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_of_verdicts_fits_and_keeps_what_matters(width: int) -> None:
    rows = verdict_rows()
    lines = rendered(tables.verdict_table(rows), width)
    assert all(cell_len(line) <= width for line in lines)
    gone = dropped(lines)
    assert gone.isdisjoint(ALWAYS)
    words = " ".join(lines).split()
    for row in rows:
        for header, cell in zip(tables.HEADERS, row, strict=True):
            if header not in gone:
                missing = [word for word in cell.split() if word not in words]
                assert not missing, (header, cell)


def test_a_wide_terminal_shows_all_columns_and_a_narrow_one_says_which_it_leaves_out() -> None:
    rows = verdict_rows()
    wide, narrow = (rendered(tables.verdict_table(rows), width) for width in (200, 80))
    assert not dropped(wide)
    assert wide[0].split() == " ".join(tables.HEADERS).split()
    assert dropped(narrow) == {"floor", "n", "min", "p95", "failures", "worst trial"}
    assert narrow[0].split() == list(ALWAYS)


def test_the_suite_of_the_draft_is_a_table_at_80_columns() -> None:
    # Its longest words: 26, 7, 21 and 8 columns twice, with 8 between them.
    rows = [
        ["cubic-long-background-last", "holds", "main closed <= 22 s", *[""] * 8],
        ["media-bad-wifi", "fails (for info)", "main audio mean-delay-from-start <= 105 ms", *[""] * 8],
    ]
    cells = [row[: len(tables.HEADERS)] for row in rows]
    for row in cells:
        row[tables.HEADERS.index("median")] = row[tables.HEADERS.index("worst")] = "135.9 ms"
    lines = rendered(tables.verdict_table(cells), 80)
    assert lines[0].split() == list(ALWAYS)
    assert all(cell_len(line) <= 80 for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_of_flows_never_cuts_a_number(width: int) -> None:
    outcomes = thalweg.Scenario.load("c4/c4-background-first").trials(1, 1)
    flows = outcomes.flows
    lines = rendered(tables.flow_table(outcomes), width)
    assert all(cell_len(line) <= width for line in lines)
    for flow, rate in zip(flows["flow"], flows["mean_rate_bps"], strict=True):
        assert any(flow in line for line in lines)
        assert any(thalweg.base.quantity.text(rate, "bps") in line for line in lines)


def test_the_other_end_of_a_flow_is_a_line_only_where_it_says_something_else() -> None:
    """Documents do not say which end they mean: the suite asks for both, and one of them is for information."""

    def rows(rtt: str) -> list[list[str]]:
        verdict = thalweg.Scenario.load("c4/simple-20mbps", {"path.rtt": rtt}).trials(3, 1).verdict()
        assert len(verdict.criteria) == 3
        return [row[1:3] for row in tables.verdict_rows("x", verdict)]

    assert rows("80 ms") == [["holds", "main closed <= 5 s"]]
    assert rows("1 s") == [["infeasible", "main closed <= 5 s"]]
    # The floor of closing is a round trip above that of completion.
    assert rows("400 ms") == [
        ["infeasible", "main closed <= 5 s"],
        ["fails (for info)", "main completion <= 5 s"],
    ]


def test_random_tables_fit_or_become_lines_and_lose_nothing_unnamed() -> None:
    """Words of up to 12 characters and numbers of up to 12 leave room for a record in 30 columns."""
    draw = random.Random(7)
    forms = set()
    for _ in range(300):
        columns, left = draw.randint(2, 9), draw.randint(1, 3)
        left = min(left, columns)
        headers = [f"h{column}{'x' * draw.randint(0, 4)}" for column in range(columns)]
        droppable = draw.sample(headers[1:], draw.randint(0, columns - 1))
        table = FittingTable(headers, left, droppable, grouped=draw.random() < 0.5)
        cells = []
        for row in range(draw.randint(1, 5)):
            words = [
                " ".join(f"w{row}{column}{'y' * draw.randint(0, 9)}" for _ in range(draw.randint(1, 3)))
                for column in range(left)
            ]
            numbers = [f"{row}{column}{'0' * draw.randint(0, 10)}" for column in range(left, columns)]
            cells.append([*words, *numbers])
            table.add_row(*cells[-1])
        width = draw.randint(30, 140)
        lines = rendered(table, width)
        assert all(cell_len(line) <= width for line in lines), lines
        gone = dropped(lines)
        assert gone <= set(droppable)
        words_shown = " ".join(lines).split()
        for row_cells in cells:
            for header, cell in zip(headers, row_cells, strict=True):
                assert header in gone or set(cell.split()) <= set(words_shown), (header, cell, lines)
        forms.add((bool(gone), "─" in lines[1]))
    assert forms == {(False, True), (True, True), (False, False), (True, False)}


@pytest.mark.parametrize("width", [40, 120])
def test_ten_thousand_rows_are_lines_of_the_same_columns(width: int) -> None:
    rows = [[f"flow{n}", "cubic", f"{n} ms"] for n in range(10_000)]
    headers = ("flow", "controller", "completion")
    small, large = (plain_table(headers, rows[:most], 2, apart=False) for most in (3, 10_000))
    begin = time.process_time()
    lines = rendered(large, width)
    assert time.process_time() - begin < 20  # a second; in the styles of small ones it takes a minute
    assert [line.split() for line in lines[1:]] == [row[:2] + row[2].split() for row in rows]
    assert [line.rstrip() for line in lines] == lines
    assert rendered(small, width)[1].split() == lines[1].split()
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(large)
    assert file.getvalue().splitlines()[0].split() == list(headers)


def compared_rows() -> list[Row]:
    sides = []
    for controller in ("c4", "cubic"):
        names = ("c4/media-bad-wifi", "c4/c4-long-background-last")
        each = [thalweg.Scenario.load(name, controllers={"main": controller}).trials(6, 1) for name in names]
        sides.append(SuiteResult(None, "by hand", None, seed=1, outcomes=each))
    a, b = sides
    return compare_results(a, b)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_comparison_keeps_its_answer_with_the_interval_in_one_table(width: int) -> None:
    lines = rendered(comparison_table(compared_rows()), width)
    assert all(cell_len(line) <= width for line in lines)
    assert {"criterion", "B is", "B - A [95 %]"}.isdisjoint(dropped(lines))
    assert "B - A [95 %]" in lines[0]  # no record of lines for each row
    assert "c4-long-background-last" in " ".join(lines)


@pytest.mark.parametrize("width", [80, 100])
def test_side_by_side_each_verdict_has_its_worst_trial_and_each_comparison_its_interval(width: int) -> None:
    # README: "verdicts, intervals and a corrected comparison follow, with the worst trial of each".
    rows = []
    for controller in ("c4", "cubic", "bbr"):
        outcomes = thalweg.Scenario.load("c4/bad-wifi", controllers={"main": controller}).trials(3, 1)
        rows += tables.verdict_rows(f"main={controller}", outcomes.verdict())
    lines = rendered(tables.verdict_table(rows, heading="with"), width)
    assert {"answer", "criterion", "median", "worst", "worst trial"}.isdisjoint(dropped(lines))


def test_a_table_of_groups_has_their_names_above_their_rows_before_it_becomes_records() -> None:
    table = FittingTable(("group", "what", "n"), 2, grouped=True)
    for group, what in (("a" * 20, "one"), ("a" * 20, "two"), ("b" * 20, "three")):
        table.add_row(group, what, "12345678")
    lines = [line.rstrip() for line in rendered(table, 32)]
    assert lines[0].split() == ["what", "n"]
    assert lines[2:] == [
        "a" * 20,
        f"one{'':17}  12345678",
        f"two{'':17}  12345678",
        "b" * 20,
        f"three{'':15}  12345678",
    ]
    assert rendered(table, 25)[0] == "a" * 20  # and then records


def test_a_plain_table_goes_without_its_last_numbers_and_not_to_records() -> None:
    headers = ("first", "second", *(f"number {n}" for n in range(12)))
    rows = [["./mine.py", "cubic", *("12.3 Mbps" for _ in range(12))] for _ in range(3)]
    lines = rendered(plain_table(headers, rows, 2), 80)
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[0].split()[:4] == ["first", "second", "number", "0"]
    assert dropped(lines) == {f"number {n}" for n in range(5, 12)}
    assert len(lines) == 2 + 3 + 2


def test_a_list_of_suites_has_hardly_more_lines_than_suites() -> None:
    entries, headers = _LISTS[Kind.SUITES]()
    rows = [[str(entry.get(header) or "") for header in headers] for entry in entries]
    lines = rendered(plain_table(headers, rows, len(headers), droppable=_DROPPABLE, comfortable=_TITLE), 80)
    assert len(lines) < 1.5 * len(entries) + 4
