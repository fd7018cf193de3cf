"""Stored results that are damaged, at random and on purpose: read, or refused with one message."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from short_download import SCENARIO
from thalweg.base.errors import ResultError
from thalweg.cli import main
from thalweg.engine.outcome import TABLES
from thalweg.results.provenance import Provenance
from thalweg.results.suite_result import SuiteResult
from unsealing import unseal

Capture = pytest.CaptureFixture[str]
SEED = 12
MUTATIONS = int(os.environ.get("THALWEG_MUTATIONS", "30"))
"""Each takes some half a second of processor time."""

CALL = """
[[flow]]
name = "call"
controller = "c4"
call = "500 ms"

[[pass]]
flow = "call"
stream = "audio"
metric = "mean-delay"
at_most = "200 ms"
"""

VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    0.5,
    1e308,
    "",
    "x",
    "\ud800",
    "../x",
    [],
    {},
    [[]],
    {"a": 1},
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of two scenarios."""
    root = tmp_path_factory.mktemp("stored")
    (root / "suite").mkdir()
    (root / "suite" / "download.toml").write_text(SCENARIO, encoding="utf-8")
    (root / "suite" / "second.toml").write_text(SCENARIO + CALL, encoding="utf-8")
    assert main(["suite", str(root / "suite"), "-n", "3", "--out", str(root / "result")]) == 0
    return root / "result"


def _mutate_document(file: Path, chance: random.Random) -> None:
    """Another value somewhere, a key too many, or one too few."""
    document = json.loads(file.read_text(encoding="utf-8"))
    node: Any = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = chance.choice(keys)
        inner = node[key]
        if not (isinstance(inner, dict | list) and inner and chance.random() < 0.8):
            break
        node = inner
    action = chance.randrange(4)
    if action == 0:
        del node[key]
    elif action == 1 and isinstance(node, dict):
        node[chance.choice(["new", "__class__", "name", "flow"])] = chance.choice(VALUES)
    else:
        node[key] = chance.choice(VALUES)
    file.write_text(json.dumps(document), encoding="utf-8")


def _mutate_bytes(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    action = chance.randrange(4)
    if action == 0:
        del data[chance.randrange(len(data)) :]
    elif action == 1:
        begin = chance.randrange(len(data))
        del data[begin : begin + chance.randrange(1, 50)]
    elif action == 2:  # the end of a Parquet file says what is in it
        begin = chance.randrange(max(0, len(data) - 600), len(data))
        data[begin] = chance.randrange(256)
    else:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def _mutate_table(file: Path, chance: random.Random) -> None:
    """A table that can be read and is not the one that was stored."""
    table = pl.read_parquet(file)
    column = chance.choice(table.columns)
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: table.drop(column),
        lambda: table.head(0),
        lambda: table.head(1),
        table.reverse,
        lambda: pl.concat([table, table]),
        lambda: table.with_columns(pl.lit(None).alias(column)),
        lambda: table.with_columns(pl.lit("text").alias(column)),
        lambda: table.with_columns(pl.lit(-1.0).alias(column)),
        lambda: table.with_columns(pl.lit(float("inf")).alias(column)),
        lambda: table.with_columns(pl.lit(float("nan")).alias(column)),
        lambda: table.with_columns(pl.lit(-(2**63)).alias(column)),
        lambda: table.with_columns(pl.lit([[1]]).alias(column)),
        lambda: table.rename({column: f"{column}x"}),
    ]
    chance.choice(changes)().write_parquet(file)


def _commands(result: Path, original: Path, page: Path) -> list[list[str]]:
    return [
        ["compare", str(result), str(original), "--format", "json"],
        ["compare", str(original), str(result)],
        ["replay", str(result), "download", "worst"],
        ["report", str(result), "-o", str(page)],
    ]


@pytest.mark.soak
@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
def test_a_damaged_result_is_read_or_refused_with_one_message(
    stored: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)
    tally: Counter[tuple[str, int]] = Counter()
    for number in range(MUTATIONS):
        result = tmp_path / "result"
        shutil.rmtree(result, ignore_errors=True)
        shutil.copytree(stored, result)
        if chance.random() < 0.5:  # without hashes, only what it says is checked
            unseal(result / "experiment.json")
        table = result / chance.choice(["download", "second"]) / f"{chance.choice(TABLES)}.parquet"
        mutate, file = chance.choice(
            [
                (_mutate_document, result / "experiment.json"),
                (_mutate_document, result / "experiment.json"),
                (_mutate_bytes, result / "experiment.json"),
                (_mutate_bytes, table),
                (_mutate_table, table),
            ]
        )
        mutate(file, chance)
        command = chance.choice(_commands(result, stored, tmp_path / "page.html"))
        what = f"mutation {number}, {mutate.__name__} of {file.relative_to(result)}: {command[0]}"
        status = main(command)
        err = capfd.readouterr().err
        assert status in (0, 1, 2), f"{what}: {err}"
        if status == 2:
            assert err.startswith("error: "), f"{what}: {err}"
            assert len(err.splitlines()) == 1, f"{what}: {err}"
            assert len(err) < 1000, f"{what}: {err}"
        assert "Traceback" not in err, what
        tally[mutate.__name__, status] += 1
    print(f"{MUTATIONS} mutations: {dict(tally)}")
    assert {status for _, status in tally} >= {0, 2}


@pytest.mark.parametrize(
    ("table", "column"), [("flows", "flow"), ("flows", "controller"), ("links", "link"), ("streams", "stream")]
)
def test_a_table_that_lacks_its_words_is_refused(
    stored: Path, tmp_path: Path, capsys: Capture, table: str, column: str
) -> None:
    shutil.copytree(stored, tmp_path / "r")
    file = tmp_path / "r" / "second" / f"{table}.parquet"
    pl.read_parquet(file).drop(column).write_parquet(file)
    unseal(tmp_path / "r" / "experiment.json")
    assert main(["report", str(tmp_path / "r"), "-o", str(tmp_path / "page.html")]) == 2
    assert f"{table}.parquet: {column}: accepted: a column of String" in capsys.readouterr().err


def test_each_flipped_bit_of_a_result_is_found(stored: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(100):
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        shutil.copytree(stored, tmp_path / "r")
        shutil.rmtree(tmp_path / "r" / "trials")  # which the next run reads, and no reader of the result
        file = chance.choice(sorted(file for file in (tmp_path / "r").rglob("*") if file.suffix != ".html"))
        if file.is_dir():
            continue
        data, place = bytearray(file.read_bytes()), -1
        # Not one that turns the key of the seal into another key: then nothing else is damaged.
        while place < 0 or (file.suffix == ".json" and place >= len(data) - len(f'"sha256": "{64 * "0"}"\n}}\n')):
            place = chance.randrange(len(data))
        data[place] ^= 1 << chance.randrange(8)
        file.write_bytes(data)
        with pytest.raises(ResultError, match=rf"^{re.escape(str(file))}(:| is damaged)"):
            SuiteResult.load(tmp_path / "r")


def test_a_table_of_another_scenario_or_run_is_refused(stored: Path, tmp_path: Path) -> None:
    shutil.copytree(stored, tmp_path / "r")
    one, other = (tmp_path / "r" / name / "trials.parquet" for name in ("download", "second"))
    shutil.copy(other, one)
    with pytest.raises(ResultError, match=rf"^{re.escape(str(one))} is damaged: .* Run the suite again"):
        SuiteResult.load(tmp_path / "r")


def test_a_result_of_an_earlier_version_is_read_without_hashes(stored: Path, tmp_path: Path) -> None:
    shutil.copytree(stored, tmp_path / "r")
    unseal(tmp_path / "r" / "experiment.json")
    assert SuiteResult.load(tmp_path / "r").document() == SuiteResult.load(stored).document()


def test_a_document_that_is_nested_too_deeply_is_refused(stored: Path, tmp_path: Path, capsys: Capture) -> None:
    shutil.copytree(stored, tmp_path / "r")
    (tmp_path / "r" / "experiment.json").write_text("[" * 200_000, encoding="utf-8")
    assert main(["compare", str(tmp_path / "r"), str(stored)]) == 2
    assert "nested too deeply" in capsys.readouterr().err


def test_a_study_is_not_a_suite_whatever_its_document_contains(tmp_path: Path, capsys: Capture) -> None:
    head = json.dumps(Provenance().head("study", "laws", "Laws", None, seed=1, trials=1), indent=2)
    for text in (head, head.replace('"laws"', "[" * 200_000), f"{head[:-1]}\0"):
        (tmp_path / "experiment.json").write_text(text, encoding="utf-8")
        (tmp_path / "report.html").touch()
        assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
        told = f"{tmp_path} holds a study, and not a suite; its page is {tmp_path / 'report.html'}"
        assert told in capsys.readouterr().err
