"""The files with trials: `trials/<engine>/000001-<hash>.parquet`, in the order in which they were written.

The hash is the beginning of the SHA-256 of the engine, a line feed and the bytes of the file. A file counts if its
hash is the one in its name: then it is whole, and of this engine. A trial counts once, however many files have it.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from thalweg.base.errors import ResultError
from thalweg.base.files.folder import TRIALS
from thalweg.base.files.seal import hash_of
from thalweg.base.files.whole_file import whole_file

TEXT = "text"
"""The column of outcomes as text, where rows have one."""
KEY = ("point", "seed")
"""The columns that tell trials apart."""
_DIGITS = 32
"""Digits of a hash in a name: 128 bits."""
_NAME = re.compile(rf"(\d{{6,}})-([0-9a-f]{{{_DIGITS}}})\.parquet", re.ASCII)
_AGAIN = "move it out of the store and run the same command again: its trials run again"


def of_all() -> dict[str, type[pl.DataType]]:
    """The columns of all files, and of a trial without numbers: fingerprint, seed, and why it failed."""
    return {"point": pl.String, "seed": pl.UInt64, "error": pl.String}


def engines(folder: Path) -> list[str]:
    """Engines that trials in a folder were run with. Raises ResultError for a file among their folders."""
    home = folder / TRIALS
    return [entry.name for entry in _visible(home) if _is_folder(entry, home)]


def trial_files(folder: Path, engine: str) -> list[Path]:
    """The files with trials of an engine, each whole, and of files with the same bytes the first.

    All of them are read. Raises ResultError.
    """
    engines(folder)
    home = folder / TRIALS / engine
    found: dict[str, Path] = {}
    for file in sorted(_visible(home), key=lambda file: (_number(file), file.name)):
        name = _NAME.fullmatch(file.name)
        if name is None or file.is_symlink() or not file.is_file():
            raise ResultError(
                f"{file} is not a file with trials of this version; accepted: NUMBER-HASH.parquet as it was. "
                "Move it out of the store"
            )
        if hash_of(file, _prefix(engine))[:_DIGITS] != name[2]:
            raise ResultError(
                f"{file} is damaged or not of this engine: its hash is not the one in its name; {_AGAIN}"
            )
        found.setdefault(name[2], file)
    return list(found.values())


def next_number(files: Sequence[Path]) -> int:
    """The number of the next file behind these."""
    return max(map(_number, files), default=0) + 1


def write_trials(home: Path, number: int, frame: pl.DataFrame) -> None:
    """Writes one file of rows into the folder of an engine, whole or not at all. Raises RequestError."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    data = buffer.getvalue()
    own = hashlib.sha256(_prefix(home.name) + data).hexdigest()[:_DIGITS]
    with whole_file(home / f"{number:06d}-{own}.parquet") as partial:
        partial.write_bytes(data)


def key_schema() -> dict[str, type[pl.DataType]]:
    """The schema of the columns that tell trials apart."""
    return {name: kind for name, kind in of_all().items() if name in KEY}


def schema_of(file: Path) -> dict[str, pl.DataType]:
    """The columns of a file. Raises ResultError."""
    try:
        return dict(pl.read_parquet_schema(file))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(file, error) from None


def parquet(files: Path | list[Path]) -> pl.LazyFrame:
    """The rows of files as they are.

    Polars asks Python for its defaults once, and panics where a Ctrl-C comes meanwhile.
    """
    try:
        return pl.scan_parquet(files, glob=False)
    except pl.exceptions.PanicException as panic:
        if "KeyboardInterrupt" in str(panic):
            raise KeyboardInterrupt from None
        raise


def scan(files: Sequence[Path]) -> pl.LazyFrame:
    """All rows of some files, each trial once; a column that a file lacks is null there. Raises ResultError."""
    if not files:
        return pl.LazyFrame(schema=of_all())
    groups: dict[tuple[tuple[str, Any], ...], list[Path]] = {}
    for file in files:
        schema = schema_of(file)
        if not of_all().items() <= schema.items():
            raise ResultError(f"{file} has no columns {', '.join(of_all())}: it has no trials; {_AGAIN}")
        groups.setdefault(tuple(schema.items()), []).append(file)
    scans = [parquet(group) for group in groups.values()]
    rows = scans[0] if len(scans) == 1 else pl.concat(scans, how="diagonal_relaxed")
    seen = read(files[0].parent, rows.select(n=pl.len(), distinct=pl.struct(*KEY).n_unique()))
    if seen["n"][0] != seen["distinct"][0]:
        rows = rows.unique([*KEY], keep="first", maintain_order=True)
    return rows


def read(where: Path, query: pl.LazyFrame) -> pl.DataFrame:
    """What a query of a file, or of the files in a folder, finds. Raises ResultError."""
    try:
        return query.collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(where, error) from None


def _visible(home: Path) -> list[Path]:
    """What is in a folder without hidden files, which belong to systems and to writers at work."""
    try:
        return sorted(entry for entry in home.iterdir() if not entry.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ResultError(f"cannot read {home}: {error.strerror}") from None


def _is_folder(entry: Path, home: Path) -> bool:
    if not entry.is_dir():
        raise ResultError(
            f"{entry} is not a folder of an engine; accepted in {home}: folders with trials. "
            "Move it out of the store"
        )
    return True


def _number(file: Path) -> int:
    name = _NAME.fullmatch(file.name)
    return int(name[1]) if name else 0


def _prefix(engine: str) -> bytes:
    return f"{engine}\n".encode()


def _damaged(where: Path, error: BaseException) -> ResultError:
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return ResultError(f"{where}: the store is damaged: {reason}; {_AGAIN}")
