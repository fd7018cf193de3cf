"""Trials as rows of one table: what `Outcomes` has in several tables, side by side.

    point      what the trial is a trial of: a hash of the resolved scenario and its controllers
    seed
    error      why there are no numbers: the simulator, or a controller in Python, failed; null otherwise
    flow.main.completion_s, link.down.utilisation, link.far up.utilisation, stream.main.video.p95_delay_s, ...
    end_s, events, packets, core_s, trace_hash

Names have no dots (`schema/src/name.rs`), so no two columns are one. Columns are the columns of `Outcomes`,
whose rows come trial by trial, each with the same flows, links and streams in the same order. Requests of flows of
requests are left out: their number differs between trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from thalweg import _native
from thalweg.engine.scenario import Scenario
from thalweg.trials.store.trial_files import of_all

if TYPE_CHECKING:
    import numpy.typing as npt


PLANNED = "planned_start_s"
"""When the scenario has a flow start; `start_s` adds noise."""
_KEYS = {"trial", "seed", "flow", "link", "stream", "controller"}
_NAMED: Mapping[str, tuple[str, ...]] = {"flow": ("flow",), "link": ("link",), "stream": ("flow", "stream")}
_Part: TypeAlias = "npt.NDArray[np.generic] | list[str]"


class Rows:
    """Rows of finished trials that are not yet stored."""

    def __init__(self) -> None:
        self.height = 0
        self._groups: dict[tuple[str, ...], list[tuple[str, dict[str, _Part]]]] = {}
        self._failed: list[tuple[str, int, str]] = []

    def add(self, point: str, scenario: Scenario, outcomes: _native.Outcomes) -> None:
        """Adds the trials of one point."""
        columns = dict(_columns(outcomes))
        starts = {str(flow["name"]): float(flow["start_s"]) for flow in scenario.flows}
        n = len(columns["seed"])
        for flow, start_s in starts.items():
            columns[f"flow.{flow}.{PLANNED}"] = np.full(n, start_s)
        self._groups.setdefault(tuple(columns), []).append((point, columns))
        self.height += n

    def add_failed(self, point: str, seed: int, error: str) -> None:
        """Adds a trial that failed."""
        self._failed.append((point, seed, error))
        self.height += 1

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows, those with the same columns together."""
        for names, parts in self._groups.items():
            lengths = [len(columns["seed"]) for _, columns in parts]
            hashes = pl.Series("point", [point for point, _ in parts], pl.String)
            parents = np.repeat(np.arange(len(parts), dtype=np.uint32), lengths)
            series = [hashes.gather(pl.Series(parents)), _joined("seed", parts)]
            series.append(pl.Series("error", [None], pl.String).new_from_index(0, sum(lengths)))
            yield pl.DataFrame([*series, *(_joined(name, parts) for name in names if name != "seed")])
        if self._failed:
            yield pl.DataFrame(self._failed, schema=of_all(), orient="row")


def _joined(name: str, parts: list[tuple[str, dict[str, _Part]]]) -> pl.Series:
    values = [columns[name] for _, columns in parts]
    if isinstance(values[0], list):
        return pl.Series(name, [word for words in values for word in words], pl.String)
    return pl.Series(name, np.concatenate(values))


def _columns(outcomes: _native.Outcomes) -> Iterator[tuple[str, _Part]]:
    trials = outcomes.trials
    yield "seed", _part(trials["seed"], 0, 1)
    n = len(trials["seed"])
    for prefix, table in (("flow", outcomes.flows), ("link", outcomes.links), ("stream", outcomes.streams)):
        first = next(iter(table.values()), None)
        rows = 0 if first is None else len(first[0] if isinstance(first, tuple) else first)
        each = rows // n
        if each * n != rows:
            raise RuntimeError(f"{rows} rows of {prefix}s are not the same number for each of {n} trials")
        names = {key: _words(table[key], each) for key in _NAMED[prefix]} if each else {}
        for position in range(each):
            whose = ".".join([prefix, *(names[key][position] for key in _NAMED[prefix])])
            for name, column in table.items():
                if name not in _KEYS:
                    yield f"{whose}.{name}", _part(column, position, each)
    for name, column in trials.items():
        if name not in _KEYS:
            yield name, _part(column, 0, 1)


def _part(column: _native.Column, position: int, each: int) -> _Part:
    """Every so manyth value."""
    if isinstance(column, tuple):
        codes, words = column
        return [words[int(number)] for number in codes[position::each]]
    return column[position::each]


def _words(column: _native.Column, n: int) -> list[str]:
    """The first n words."""
    assert isinstance(column, tuple)
    codes, words = column
    return [words[int(number)] for number in codes[:n]]
