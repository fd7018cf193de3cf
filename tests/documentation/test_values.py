"""Values in prose are those of the tables that they follow from (`pages/prose`)."""

from __future__ import annotations

import pytest

from documentation.blocks import ROOT
from pages.prose import values
from pages.prose.tables import PageTables

TEXT = "before <!--=debt-->2.0<!--=--> % after"


@pytest.mark.parametrize("page", values.PAGES)
def test_a_value_in_prose_is_that_of_the_tables(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert list(values.wrong(page, text)) == []
    # A line that begins with a comment is not part of a paragraph.
    assert [line for line in text.splitlines() if line.lstrip().startswith("<!--=")] == []


def test_no_other_page_has_values() -> None:
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    marked = {page for page in pages if "<!--=" in (ROOT / "docs" / page).read_text(encoding="utf-8")}
    assert marked == set(values.PAGES)


def test_a_value_that_differs_has_no_name_or_is_not_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(values.PAGES, "a page", {"debt": lambda: 3.14, "other": lambda: 1.0})
    assert list(values.wrong("a page", TEXT)) == [
        "a page: debt is 3.1, the page says 2.0",
        "a page: other is not used",
    ]
    assert values.written("a page", TEXT) == "before <!--=debt-->3.1<!--=--> % after"
    monkeypatch.setitem(values.PAGES, "a page", {})
    assert list(values.wrong("a page", TEXT)) == ["a page: no value 'debt'"]


def test_a_cell_is_found_by_part_or_heading_and_by_the_cells_before_it() -> None:
    table = "| test | main | rate |\n|--|--|--:|\n| a | x | 1.5 Mbps |\n| a | y | - |\n| b | x | 1 700 kbps |\n"
    tables = PageTables("a page", f"# Rates\n<!-- made: part -->\n{table}<!-- end -->\n# Others\n{table}")
    assert tables.cell("part", "a | x", "rate") == 1.5
    assert tables.cell("Rates", "b", "rate") == 1700
    assert tables.column("part", "rate") == [1.5, 1700]
    for where, row, said in (
        ("none", "a", "a page has no table in 'none'"),
        ("part", "a", "a page: part: a has 2 cells below 'rate'"),
        ("part", "a | y", "a page: part: a | y is '-', which has no number 1"),
    ):
        with pytest.raises(LookupError, match=said.replace("|", r"\|")):
            tables.cell(where, row, "rate")
