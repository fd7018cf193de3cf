"""Stores of sweeps that were damaged: the right numbers, or one message with the file; nothing counts twice."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from thalweg import ResultError, Sweep, SweepResult, _native
from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT
from thalweg.base.files.seal import hash_of, sealed
from thalweg.cli import main
from thalweg.trials.store.trial_files import trial_files, write_trials
from thalweg.trials.store.trial_store import TrialStore

Capture = pytest.CaptureFixture[str]
SEED = 16
DAMAGES = 150
FLOW = {"name": "main", "controller": "cubic", "download": "100 kB"}
SCENARIO: dict[str, Any] = {"title": "x", "path": {"rate": "10 Mbps", "rtt": "40 ms"}, "flow": [FLOW]}
OTHER_ENGINE = "0.0.9+0123456789abcdef"


def sweep(trials: int = 6) -> Sweep:
    return Sweep(SCENARIO, {"path.rate": ["5 Mbps", "20 Mbps"]}, trials=trials)


def values(folder: Path) -> pl.DataFrame:
    return SweepResult.load(folder).scan().drop("core_s", "replay").collect().sort("index", "seed")


def medians(folder: Path) -> pl.DataFrame:
    return SweepResult.load(folder).rows.drop("core_s", strict=False)


@pytest.fixture(scope="module", name="stores")
def two_stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two stores of several files each, one with trials of another engine too."""
    root = tmp_path_factory.mktemp("stores")
    for name, engine in (("one", OTHER_ENGINE), ("two", None)):
        with pytest.MonkeyPatch.context() as patch:
            if engine:
                patch.setattr(_native, "engine", lambda: OTHER_ENGINE)
                sweep(3).run(root / name)
        for trials in (2, 4, 6):
            sweep(trials).run(root / name)
    return root / "one", root / "two"


def own_files(store: Path) -> list[Path]:
    return sorted((store / "trials" / _native.engine()).iterdir())


def flip(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def truncate(file: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def append(file: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randrange(1, 100)))


def duplicate(file: Path, chance: random.Random) -> None:
    number, dash, rest = file.name.partition("-")
    names = [f"{int(number) + 50:06d}{dash}{rest}"] if dash else []
    shutil.copy(
        file, file.with_name(chance.choice([*names, f"copy of {file.name}", f"{file.stem}-2{file.suffix}"]))
    )


def rename(file: Path, chance: random.Random) -> None:
    file.rename(
        file.with_name(chance.choice(["000009.parquet", "9" * 40 + file.name[6:], "x", f"{file.name}.bak"]))
    )


def swap(file: Path, chance: random.Random) -> None:
    """With another file of the same store."""
    others = [other for other in store_of(file).rglob("*") if other.is_file() and other != file]
    other, first = chance.choice(sorted(others)), file.read_bytes()
    file.write_bytes(other.read_bytes())
    other.write_bytes(first)


def into_another_engine(file: Path, chance: random.Random) -> None:
    homes = [home for home in sorted((store_of(file) / "trials").iterdir()) if home != file.parent]
    shutil.copy(file, chance.choice(homes) / file.name)


def store_of(file: Path) -> Path:
    return next(folder for folder in file.parents if (folder / "trials").is_dir())


@pytest.mark.soak
def test_a_damaged_store_has_the_right_numbers_or_one_message(
    stores: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    chance, tally = random.Random(SEED), Counter[tuple[str, str]]()
    right, right_medians = values(stores[0]), medians(stores[0])
    damages: list[Callable[[Path, random.Random], None]] = [flip, flip, truncate, append, duplicate, rename, swap]
    for number in range(DAMAGES):
        store = tmp_path / "store"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(stores[0], store)
        files = sorted(file for file in store.rglob("*") if file.is_file())
        file = chance.choice(files)
        damage = chance.choice([*damages, into_another_engine])
        damage(file, chance)
        what = f"damage {number}, {damage.__name__} of {file.relative_to(store)}"
        status = main(["sweep", "report", str(store), "--out", str(tmp_path / "page.html"), "-q"])
        said = capsys.readouterr().err
        if status == 0:
            assert values(store).equals(right, null_equal=True), what
            assert medians(store).equals(right_medians, null_equal=True), what
        else:
            assert status == 2, f"{what}: {said}"
            assert re.fullmatch(rf"error: [^\n]*{store}[^\n]+\n", said), f"{what}: {said}"
        tally[damage.__name__, "read" if status == 0 else "refused"] += 1
    print(f"seed {SEED}: {dict(tally)}")
    assert tally["flip", "read"] < 0.5 * tally["flip", "refused"]  # some are in files of the other engine
    assert tally["truncate", "refused"] > 0


def test_a_folder_in_place_of_the_points_is_named(stores: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(stores[0], store)
    (store / "points.parquet").unlink()
    (store / "points.parquet").mkdir()
    with pytest.raises(RequestError, match=rf"^cannot remove {re.escape(str(store / 'points.parquet'))}: "):
        sweep().run(store)


def test_each_flipped_bit_of_a_file_of_trials_is_found(stores: tuple[Path, Path], tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(60):
        store = tmp_path / "store"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(stores[1], store)
        file = chance.choice(own_files(store))
        flip(file, chance)
        with pytest.raises(ResultError, match=rf"^{re.escape(str(file))} is damaged"):
            values(store)
        with pytest.raises(ResultError, match=rf"^{re.escape(str(file))} is damaged"):
            sweep().run(store)


@pytest.mark.parametrize("damage", [flip, truncate, rename])
def test_a_store_whose_damaged_file_is_moved_away_is_filled_again(
    damage: Callable[[Path, random.Random], None], stores: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    store, aside = tmp_path / "store", tmp_path / "aside"
    shutil.copytree(stores[1], store)
    aside.mkdir()
    damage(own_files(store)[1], random.Random(SEED))
    for _ in range(3):
        assert main(["sweep", "report", str(store), "--out", str(tmp_path / "page.html"), "-q"]) in (0, 2)
        named = re.search(rf"{store}/trials/\S+", capsys.readouterr().err)
        if not named:
            break
        Path(named[0]).rename(aside / Path(named[0]).name)
    sweep().run(store)
    assert values(store).equals(values(stores[1]), null_equal=True)


def test_a_file_of_trials_that_is_there_twice_counts_once(stores: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(stores[1], store)
    file = own_files(store)[0]
    shutil.copy(file, file.with_name("000077" + file.name[6:]))
    result = SweepResult.load(store)
    assert result.rows["trials"].to_list() == [6, 6]
    assert medians(store).equals(medians(stores[1]), null_equal=True)
    assert sweep().estimate(store).present == 12


def test_trials_of_two_runs_in_one_folder_count_once(stores: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(stores[1], store)
    for file in own_files(stores[0]):
        shutil.copy(file, store / "trials" / _native.engine())
    assert len(own_files(store)) == len(own_files(stores[0])) + len(own_files(stores[1]))
    result = SweepResult.load(store)
    assert result.rows["trials"].to_list() == [6, 6]
    assert values(store).equals(values(stores[1]), null_equal=True)
    assert sweep().estimate(store).present == 12
    assert main(["merge", str(store), "--out", str(tmp_path / "merged"), "-q"]) == 0
    assert SweepResult.load(tmp_path / "merged").scan().collect().height == 12


def test_files_beyond_the_millionth_are_written_and_read(tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep(2).run(store)
    (file,) = own_files(store)
    file.rename(file.with_name("999999" + file.name[6:]))
    for trials in (3, 4, 5, 6):
        sweep(trials).run(store)
        assert SweepResult.load(store).rows["trials"].to_list() == [trials, trials]
    numbers = [file.name.partition("-")[0] for file in trial_files(store, _native.engine())]
    assert numbers == ["999999", "1000000", "1000001", "1000002", "1000003"]


@pytest.mark.parametrize("name", ["trials/x.parquet", "trials/ENGINE/x.parquet", "trials/ENGINE/000007.parquet"])
def test_a_stray_table_is_named_and_nothing_is_lost(
    name: str, stores: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    store = tmp_path / "store"
    shutil.copytree(stores[1], store)
    stray = store / name.replace("ENGINE", _native.engine())
    pl.DataFrame({"a": [1]}).write_parquet(stray)
    for command in (
        ["sweep", "report", str(store), "--out", str(tmp_path / "page.html"), "-q"],
        ["merge", str(store), "--out", str(tmp_path / "merged"), "-q"],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {stray} is not a ")
        assert "Move it out of the store" in said
        assert said.count("\n") == 1
    stray.unlink()
    assert values(store).equals(values(stores[1]), null_equal=True)


def test_a_table_without_trials_is_refused_although_its_hash_is_right(tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep(2).run(store)
    write_trials(store / "trials" / _native.engine(), 2, pl.DataFrame({"a": [1]}))
    with pytest.raises(ResultError, match=r"000002-.* has no columns point, seed, error"):
        values(store)
    with pytest.raises(ResultError, match=r"000002-.* has no columns point, seed, error"):
        sweep(3).run(store)


def test_a_store_of_another_time_names_its_file(stores: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    for name in ("points.parquet", "scenario.toml"):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(stores[1], store)
        (store / name).write_bytes((store / "experiment.json").read_bytes())
        with pytest.raises(ResultError, match=rf"^{re.escape(str(store / name))} is damaged"):
            SweepResult.load(store)
        sweep().run(store)
        assert values(store).equals(values(stores[1]), null_equal=True)


def test_a_run_that_was_killed_while_it_wrote_its_points_is_run_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep(2).run(store)
    text = (store / "experiment.json").read_text()
    begun = re.sub(r',\n  "hashes": \{.*', "\n}\n", text, flags=re.DOTALL)
    (store / "experiment.json").write_text(sealed(begun))
    with pytest.raises(ResultError, match="stopped before its points were written; run it again"):
        SweepResult.load(store)
    sweep(2).run(store)
    assert (store / "experiment.json").read_text().count('"hashes"') == 1
    assert SweepResult.load(store).rows["trials"].to_list() == [2, 2]


def test_a_merge_that_fails_midway_keeps_the_points_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        assert main(_shard(tmp_path, number)) == 0
    folders = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
    out = tmp_path / "merged"
    assert main(["merge", folders[0], "--out", str(out), "-q"]) == 0
    with monkeypatch.context() as full:

        def refuse(*_: object) -> None:
            raise RequestError("the disk is full")

        full.setattr(TrialStore, "write_frame", refuse)
        assert main(["merge", folders[1], "--out", str(out), "-q"]) == 2
    assert main(["merge", folders[1], "--out", str(out), "-q"]) == 0
    assert SweepResult.load(out).points.height == 4
    assert SweepResult.load(out).rows["trials"].to_list() == [1, 1, 1, 1]


def _shard(root: Path, number: int) -> list[str]:
    plan = root / "plan.toml"
    plan.write_text(
        'scenario = "c4/simple-20mbps"\ntrials = 1\n[axes]\n'
        '"path.rate" = ["5 Mbps", "10 Mbps"]\n"path.rtt" = ["20 ms", "40 ms"]\n'
    )
    return ["sweep", str(plan), "--out", str(root / f"shard-{number}"), "--shard", f"{number}/2", "-q"]


def test_the_hash_in_a_name_is_of_the_engine_and_the_bytes(stores: tuple[Path, Path]) -> None:
    for file in own_files(stores[0]):
        assert hash_of(file, f"{_native.engine()}\n".encode())[:32] == file.stem.partition("-")[2]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("axes", [], "axes = []; accepted: one axis or more"),
        ("axes", [{"key": None, "column": "path.rate_bps", "unit": "bps"}], "axes.0.key = null; accepted: text"),
        ("axes", [{"key": "x", "column": "path.rate_bps", "unit": "bps"}], "columns are missing"),
        ("axes", [3], "axes.0 = 3; accepted: a table"),
        ("flows", [{"name": "main", "controller": True}], "flows.0.controller = true; accepted: text"),
    ],
)
def test_a_document_that_was_edited_wrongly_has_one_message(
    stores: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    key: str,
    value: object,
    told: str,
) -> None:
    shutil.copytree(stores[0], tmp_path / "store")
    file = tmp_path / "store" / DOCUMENT
    document = json.loads(file.read_text())
    del document["sha256"]
    file.write_text(json.dumps({**document, key: value}))
    assert main(["compare", str(tmp_path / "store"), str(stores[0])]) == 2
    assert told in capsys.readouterr().err
