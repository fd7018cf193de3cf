"""The tables of a stored scenario, checked to have the columns that statistics need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import polars as pl

from thalweg.base.errors import RequestError, ResultError
from thalweg.base.files.folder import find_file
from thalweg.base.files.seal import check_file
from thalweg.engine.outcome import TABLES, Description
from thalweg.judging.verdict import column_of

_WORDS: Mapping[str, Sequence[str]] = {
    "flows": ("flow", "controller"),
    "links": ("link",),
    "trials": ("trace_hash",),
    "requests": ("flow",),
    "streams": ("flow", "stream"),
}
"""The columns of each table that hold words."""
_OTHERS = {"finished", "tripped_by"}.union(*_WORDS.values())
"""Columns that do not hold numbers."""
_TRY = """
import sys, polars
for number, file in enumerate(sys.argv[1:]):
    print(number, flush=True)
    with open(file, "rb") as data:
        polars.read_parquet(data)
"""


def check_hashes(folder: Path, scenarios: Sequence[Description], hashes: Mapping[str, str]) -> None:
    """Refuses a result with a table that is not the one that was stored. Raises ResultError."""
    names = [f"{scenario.name}/{table}.parquet" for scenario in scenarios for table in TABLES]
    for name in names:
        if (file := find_file(folder, PurePath(name))) is not None:
            check_file(file, hashes, name, "Run the suite again")


def check_readable(folder: Path, scenarios: Sequence[Description]) -> None:
    """Refuses a result with a table that cannot be read. Raises ResultError.

    Another process tries: over some tables that are damaged within, Polars ends the process that reads them.
    """
    paths = [PurePath(scenario.name, f"{table}.parquet") for scenario in scenarios for table in TABLES]
    files = [file for path in paths if (file := find_file(folder, path)) is not None]
    if not files:
        return
    command = [sys.executable, "-P", "-c", _TRY, *(str(file.absolute()) for file in files)]
    tried = subprocess.run(command, capture_output=True, check=False)
    if tried.returncode != 0:
        last = files[int(tried.stdout.split()[-1])] if tried.stdout else folder
        said = tried.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if tried.returncode == 1 and said else "this is not a readable Parquet file"
        raise ResultError(f"{last}: the result is damaged: {reason}")


def read_tables(folder: Path, scenario: Description) -> dict[str, pl.DataFrame] | None:
    """The tables of a scenario of the result in a folder by their names; None if it was not finished.

    Raises ResultError if they cannot be read, or belong to another scenario.
    """
    files = [find_file(folder, PurePath(scenario.name, f"{table}.parquet")) for table in TABLES]
    if not any(files):
        return None
    tables = {}
    for name, file in zip(TABLES, files, strict=True):
        if file is None:
            raise ResultError(f"{folder}: the result is damaged: {scenario.name} lacks {name}.parquet")
        tables[name] = _read(file)
    try:
        for name, table in tables.items():
            _numbers(table, name)
            _words(table, name)
        _check(tables["flows"], tables["trials"], tables["streams"], scenario)
    except RequestError as error:
        raise ResultError(f"{folder / scenario.name}: the result is damaged: {error}") from None
    return tables


def _read(file: Path) -> pl.DataFrame:
    try:
        # An open file: in a path, Polars would take brackets and stars for a pattern.
        with file.open("rb") as data:
            return pl.read_parquet(data)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ResultError(f"{file}: the result is damaged: {reason}") from None


def _check(flows: pl.DataFrame, trials: pl.DataFrame, streams: pl.DataFrame, scenario: Description) -> None:
    of_flows = {"flows": flows} if streams.is_empty() else {"flows": flows, "streams": streams}
    for name, table in {**of_flows, "trials": trials}.items():
        _whole_numbers(table, name, "trial")
        _whole_numbers(table, name, "seed")
    if trials.is_empty() or trials["trial"].to_list() != list(range(trials.height)):
        raise ResultError("trials.parquet: trial: accepted: 0, 1, 2, ... in this order, at least one")
    for name, table in of_flows.items():
        if table.is_empty() or not table["trial"].is_between(0, trials.height - 1).all():
            raise ResultError(f"{name}.parquet: trial: accepted: at least one row, 0 to {trials.height - 1}")
    _column(trials, "trials", "core_s", pl.Float64)
    if not trials["core_s"].is_finite().all():
        raise ResultError("trials.parquet: core_s: accepted: finite numbers")
    _column(flows, "flows", "finished", pl.Boolean)
    for criterion in scenario.criteria:
        table = flows if criterion.get("stream") is None else streams
        column_of(criterion, table.columns)


def _numbers(table: pl.DataFrame, name: str) -> None:
    """Refuses a column without numbers that should have them."""
    for column, dtype in table.schema.items():
        is_number = dtype.is_integer() or dtype.is_float() or dtype == pl.Null
        if column not in _OTHERS and not is_number:
            raise ResultError(f"{name}.parquet: {column} holds {dtype}; accepted: numbers")


def _words(table: pl.DataFrame, name: str) -> None:
    """Refuses a table that lacks a column of words; one without rows may."""
    for column in _WORDS[name] if table.height else ():
        _column(table, name, column, pl.String)


def _whole_numbers(table: pl.DataFrame, name: str, column: str) -> None:
    found = table[column] if column in table.columns else pl.Series(dtype=pl.Null)
    if not found.dtype.is_integer() or found.has_nulls() or not (found >= 0).all():
        raise ResultError(f"{name}.parquet: {column}: accepted: whole numbers from 0 on, one in each row")


def _column(table: pl.DataFrame, name: str, column: str, accepted: type[pl.DataType]) -> None:
    if column not in table.columns or table[column].dtype != accepted or table[column].has_nulls():
        raise ResultError(f"{name}.parquet: {column}: accepted: a column of {accepted.__name__}, without gaps")
