"""The folder that a study is stored in.

experiment.json         the document that `--format json` prints
scenarios/*.toml        the scenarios as they ran: `thalweg run FILE --seed N` plays any trial again from here
controllers/*, stacks/* the files that they name: `portable.py`
trials.parquet          the value of each trial by cell and measure, of studies that have such values
*.parquet, *.png, *.md  what else the study stores
report.html             the page
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Any, TypeVar

import numpy as np
import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT, check
from thalweg.base.files.folder import ResultFolder, homes_of_trials, reserve
from thalweg.base.files.seal import hash_of, sealed
from thalweg.base.files.whole_file import reason_of
from thalweg.experiments.studies.runner.portable import CONTROLLERS, STACKS
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.judging.statistics.interval import Values

C = TypeVar("C")
PAGE = "report.html"
_SCENARIOS = "scenarios"
TRIALS = "trials"
"""The table of the values of all trials, by which `compare` judges: `cell`, `measure`, `seed`, `value`."""


def reserve_folder(folder: Path) -> AbstractContextManager[None]:
    """Holds the folder from before the first trial on. Raises RequestError as `reserve` does."""
    return reserve(folder, "study", _files, [_SCENARIOS, *homes_of_trials(_native.engine())])


def write_study_files(
    folder: Path,
    result: StudyResult,
    scenarios: Mapping[str, str],
    tables: Mapping[str, pl.DataFrame],
    pictures: Mapping[str, Callable[[Path], None]] | None = None,
    named: Mapping[str, bytes] | None = None,
    *,
    complete: bool = True,
) -> Path:
    """Writes `scenarios/<name>.toml`, `<name>.parquet`, pictures and the document, in place of an older study.

    `pictures` are functions that write a picture or a text to a file, by its name; `named` are the files that
    scenarios name. An older study stays until all
    of the new one is there; a part of one does not replace it, but stays next to it. Returns where the new one is:
    the page goes there. Raises RequestError if something cannot be written.
    """
    homes = [_SCENARIOS] if scenarios else []
    named = named or {}
    homes += sorted({str(home) for name in named for home in [*PurePath(name).parents][-2::-1]})
    files = [
        *(f"{_SCENARIOS}/{name}.toml" for name in scenarios),
        *(f"{name}.parquet" for name in tables),
        *(pictures or {}),
        *named,
    ]
    for number, name in enumerate(files):
        _checked(folder / DOCUMENT, number, name)
    with ResultFolder(folder, "study", _files, homes, in_place=False) as results:
        try:
            for home in homes:
                (results.root / home).mkdir(exist_ok=True)
            for name, toml in scenarios.items():
                (results.root / _SCENARIOS / f"{name}.toml").write_text(toml, encoding="utf-8")
            for name, content in named.items():
                (results.root / name).write_bytes(content)
            for name, table in tables.items():
                table.write_parquet(results.root / f"{name}.parquet")
            for name, write in (pictures or {}).items():
                write(results.root / name)
            hashes = {name: hash_of(results.root / name) for name in files if name.endswith(".parquet")}
            about = {**result.document(), "files": files, "hashes": hashes}
            document = json.dumps(about, indent=2, allow_nan=False) + "\n"
            (results.root / DOCUMENT).write_text(sealed(document), encoding="utf-8")
        except (OSError, pl.exceptions.PolarsError) as error:
            # A disk that fills while Parquet is written is an error of Polars.
            raise RequestError(f"cannot write results to {folder}: {reason_of(error, results.root)}") from None
        if complete or not results.replaces:
            results.finish()
        else:
            results.keep()
        return results.root


def samples_table(samples: Mapping[str, Mapping[str, Values]], seed: int) -> dict[str, pl.DataFrame]:
    """The table TRIALS by its name, of values by cell and measure from `seed` on; nothing without values."""
    parts = [
        pl.DataFrame({"value": np.asarray(values, dtype=np.float64)}).select(
            pl.lit(cell).alias("cell"),
            pl.lit(measure).alias("measure"),
            pl.int_range(seed, seed + len(values)).alias("seed"),
            "value",
        )
        for cell, measures in samples.items()
        for measure, values in measures.items()
    ]
    return {TRIALS: pl.concat(parts)} if parts else {}


def with_cells(
    tables: Mapping[C, pl.DataFrame], names: Callable[[C], Mapping[str, str | float | None]]
) -> pl.DataFrame:
    """The tables of all cells as one, behind columns that say which cell a row is of."""
    parts = [
        table.select(*(pl.lit(value, _type(value)).alias(name) for name, value in names(cell).items()), pl.all())
        for cell, table in tables.items()
    ]
    return pl.concat(parts, how="diagonal_relaxed")


def _type(value: str | float | None) -> type[pl.DataType]:
    return pl.Float64 if isinstance(value, float) else pl.String


def _files(file: Path, document: Mapping[str, Any]) -> list[PurePath]:
    """The files of the study with this document: those that it names, and its page. Raises RequestError."""
    check(file, "", document, {"files": (list,)})
    return [_checked(file, number, name) for number, name in enumerate(document["files"])] + [PurePath(PAGE)]


def _checked(document: Path, number: int, name: object) -> PurePath:
    """A name in a document leads to a file of a study in its folder, and to nothing else."""
    path = PurePath(name) if isinstance(name, str) and "\0" not in name else PurePath()
    homes = {(): (".parquet", ".png", ".md"), (_SCENARIOS,): (".toml",)}
    is_named = len(path.parts) > 1 and path.parts[0] in (CONTROLLERS, STACKS)
    fits = is_named or path.suffix in homes.get(path.parts[:-1], ())
    if str(path) != name or any(part.startswith(".") for part in path.parts) or not fits:
        raise RequestError(
            f"{document}: files.{number} = {json.dumps(name)[:60]}: accepted: NAME.parquet, NAME.png, "
            f"a Markdown file, {_SCENARIOS}/NAME.toml, or a file in {CONTROLLERS} or {STACKS}"
        )
    return path
