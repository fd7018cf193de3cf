"""The states of controllers: how long each lasted, its colour, and what it means.

A state has one colour in all figures, and no two states share one. What a state means is said here in a few
words, with the document that defines it, in `control/states.json`, which the page of the lab reads too.
"""

from __future__ import annotations

import json
from importlib.resources import files

import polars as pl

from thalweg.pages.figures.downsample import changes
from thalweg.pages.figures.theme import GREY

_MOST_SPANS = 1500

_DESCRIBED = json.loads(files("thalweg.engine.controllers").joinpath("states.json").read_text(encoding="utf-8"))
STATES: dict[str, tuple[str, str]] = {
    name: (state["colour"], state["meaning"]) for name, state in _DESCRIBED.items()
}
"""Colour and meaning."""


def spans(flows: pl.DataFrame) -> pl.DataFrame:
    """Intervals in which a controller stays in one state: flow, state, time_s, until_s."""
    steps = changes(flows, "state", ["flow"]).select("time_s", "flow", "state")
    found = steps.with_columns(pl.col("time_s").shift(-1).over("flow").alias("until_s"))
    return found.filter(pl.col("until_s").is_not_null() & (pl.col("until_s") > pl.col("time_s"))).head(_MOST_SPANS)


def colours(names: list[str]) -> list[str]:
    """The colour of each state; states without a description are grey."""
    return [STATES[name][0] if name in STATES else GREY for name in names]


def meanings(names: list[str]) -> dict[str, str]:
    """The descriptions of those states that have one."""
    return {name: STATES[name][1] for name in names if name in STATES}
