"""Writes the columns of each study into its page, from where they are declared: `make columns`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pages.made import DOCS, fill, row
from thalweg.experiments.studies.catalogue import TITLES, study_of
from thalweg.experiments.studies.runner.study import Study
from thalweg.experiments.studies.runner.table import Column

PART = "columns"


def page_of(name: str) -> Path:
    """The page of a study."""
    return DOCS / "evidence" / "studies" / f"{name}.md"


def columns(study: Study[Any, Any, Any]) -> str:
    """The columns of its rows and of its own tables."""
    lines = ["Each of `rows` in `experiment.json`:", "", *_table(study.columns)]
    for name, own in study.stored_columns.items():
        outcomes = ", before the columns of [outcomes](../../reference/results.md)"
        lines += ["", f"`{name}.parquet`{outcomes if name in ('flows', 'requests') else ''}:", "", *_table(own)]
    return "\n".join(lines)


def _table(columns: Sequence[Column]) -> Iterator[str]:
    yield row("column", "in tables", "unit", "meaning")
    yield row(":--", ":--", ":--", ":--")
    for column in columns:
        yield row(f"`{column.key}`", column.heading, column.unit, column.meaning)


def main() -> None:
    """Fills the pages of all studies."""
    for name in TITLES:
        fill(page_of(name), PART, columns(study_of(name)))


if __name__ == "__main__":
    main()
