"""Tables in the figures of studies (altair), and the columns of tooltips."""

from __future__ import annotations

import altair as alt
import polars as pl

from thalweg.pages.figures.spec import table


def rows(frame: pl.DataFrame) -> alt.InlineData:
    """A table as the data of a chart: one text, in which altair finds nothing to copy and check."""
    data = table(frame)
    return alt.InlineData(values=data["values"], format=alt.CsvDataFormat(**data["format"]))
