"""Tables as figures carry them within themselves, and the columns of them that a pointer is told."""

from __future__ import annotations

import altair as alt
import polars as pl
import polars.selectors as cs


def rows(frame: pl.DataFrame) -> alt.InlineData:
    """A table as the data of a chart, with seven significant digits.

    The rows are CSV in one text: a quarter of the size of JSON, and altair, which copies and checks whatever
    is inside a chart at each step of its making, has nothing to look at.
    """
    short = frame.with_columns(cs.float().round_sig_figs(7)).fill_nan(None)
    numbers = dict.fromkeys(frame.select(cs.numeric()).columns, "number")
    return alt.InlineData(values=short.write_csv(), format=alt.CsvDataFormat(type="csv", parse=numbers))


def told(*columns: str) -> list[alt.Tooltip]:
    """Columns that are shown at the pointer. Where a name is given as text, altair searches all its classes."""
    return [alt.Tooltip(column) for column in columns]
