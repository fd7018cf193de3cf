"""Stored results on the page of the lab: listed, and opened to the trials that they are of."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from lab.conftest import Open, Problems, shows
from lab.test_server import SIMPLE, ask, running
from thalweg.base.errors import RequestError
from thalweg.base.files.seal import hash_of
from thalweg.cli import main
from thalweg.lab.folder import Folder
from thalweg.lab.stored import opened as opened_result
from thalweg.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
PLAN = """
scenario = "c4/simple-20mbps"
trials = 3
[axes]
"path.rtt" = ["20 ms", "40 ms"]
"""
EXCLUDE = """
[[exclude]]
"path.rtt" = { from = "20 ms", to = "40 ms" }
"""


def thalweg(*words: str, cwd: Path) -> None:
    with contextlib.chdir(cwd):
        assert main(words) in (0, 1)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result of two scenarios, a score and a sweep."""
    folder = tmp_path_factory.mktemp("stored")
    suite = ("suite", "c4", "--only", "simple*", "-n", "4", "-c", "main=cubic", "--out", "results/cubic")
    thalweg(*suite, cwd=folder)
    (folder / "plan.toml").write_text(PLAN)
    thalweg("sweep", "plan.toml", "--out", "results/sweep", cwd=folder)
    thalweg("score", "reno", "--suite", "c4", "-n", "2", "--out", "results/score", cwd=folder)
    return folder


@pytest.fixture
def copy(results: Path, tmp_path: Path) -> Path:
    """The result of the suite, to damage."""
    return Path(shutil.copytree(results / "results" / "cubic", tmp_path / "copy"))


def give(view: Page, folder: Path) -> None:
    """Opens a folder of the reader."""
    view.get_by_role("tab", name="Results").click()
    view.locator(".results input[type=file]").set_input_files(folder)


def refusal(view: Page, folder: Path) -> str:
    """What the page says of a folder that it refuses."""
    give(view, folder)
    view.get_by_role("alert").wait_for()
    return view.get_by_role("alert").inner_text()


def opens_each_trial_of(view: Page, result: SuiteResult) -> None:
    """Opens the last trial of each scenario of a result that is listed."""
    assert len(result.outcomes) > 1
    for index, outcomes in enumerate(result.outcomes):
        view.get_by_label("scenario of the result").select_option(str(index))
        stored = dict(zip(outcomes.trials["seed"].to_list(), outcomes.trials["trace_hash"].to_list(), strict=True))
        listed = view.locator(".stored-trials li").all_inner_texts()
        assert listed == [f"seed {seed} {found}" for seed, found in stored.items()]
        seed, found = list(stored.items())[-1]
        view.get_by_role("button", name=f"seed {seed}", exact=True).click()
        shows(view, found)
        assert "the hashes are equal" in view.locator(".promise").inner_text()


def test_a_result_in_a_folder_of_the_reader_is_opened_by_the_static_page(opened: Open, results: Path) -> None:
    view = opened()
    give(view, results / "results" / "cubic")
    view.locator(".stored-trials").wait_for()
    opens_each_trial_of(view, SuiteResult.load(results / "results" / "cubic"))


def test_results_scores_and_sweeps_of_the_folder_are_listed_and_opened_by_the_server(
    browser: Browser, problems: Problems, results: Path
) -> None:
    with running(results) as lab:
        view = lab.page(browser, problems)
        view.get_by_role("tab", name="Results").click()
        offered = view.locator(".offered button")
        assert offered.all_inner_texts() == [
            "results/cubic (suite)",
            "results/score (study)",
            "results/sweep (sweep)",
        ]
        offered.first.click()
        view.locator(".stored-trials").wait_for()
        opens_each_trial_of(view, SuiteResult.load(results / "results" / "cubic"))
        offered.nth(1).click()
        view.get_by_label("scenario of the result").get_by_text("satellite").first.wait_for(state="attached")
        view.locator(".stored-trials button").first.click()
        shows(view, view.locator(".stored-trials code").first.inner_text())
        assert "the hashes are equal" in view.locator(".promise").inner_text()
        offered.last.click()
        view.get_by_label("scenario of the result").get_by_text("path.rtt 40 ms").wait_for(state="attached")
        for index in range(2):
            view.get_by_label("scenario of the result").select_option(str(index))
            view.locator(".stored-trials button").first.click()
            shows(view, view.locator(".stored-trials code").first.inner_text())
            assert "the hashes are equal" in view.locator(".promise").inner_text()


@pytest.mark.parametrize("damage", ["format", "seed", "parquet", "missing", "json"])
def test_a_damaged_result_has_one_message(one_page: Page, copy: Path, damage: str) -> None:
    file = copy / "experiment.json"
    document: dict[str, Any] = json.loads(file.read_text())
    scenario = document["scenarios"][0]["name"]
    said = {
        "format": "is not an experiment that this version reads",
        "seed": "scenarios.0.toml is not text",
        "parquet": f"{scenario}/trials.parquet is damaged",
        "missing": "there is no experiment.json",
        "json": "experiment.json: ",
    }[damage]
    if damage == "format":
        document["format"] = "other"
    if damage == "seed":
        document["scenarios"][0]["toml"] = 3
    file.write_text("{" if damage == "json" else json.dumps(document))
    if damage == "parquet":
        table = copy / scenario / "trials.parquet"
        table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])
    if damage == "missing":
        file.unlink()
    assert said in refusal(one_page, copy)


@pytest.mark.parametrize(
    ("damage", "said"), [("codec", "packed as SNAPPY"), ("rows", "1000001 rows, at most 1000000")]
)
def test_a_table_that_thalweg_does_not_write_is_not_unpacked(
    one_page: Page, copy: Path, damage: str, said: str
) -> None:
    file = next(copy.glob("*/trials.parquet"))
    table = pl.read_parquet(file)
    if damage == "codec":
        table.write_parquet(file, compression="snappy")
    else:
        table.head(1).select(pl.all().repeat_by(1_000_001).explode()).write_parquet(file)
    assert said in refusal(one_page, copy)


def lists(view: Page, folder: Path) -> None:
    """Opens a folder that nothing is wrong with, on a page that has listed no other."""
    view.reload()
    view.wait_for_selector("[data-ready]")
    give(view, folder)
    view.locator(".stored-trials").wait_for()


def varints(data: bytes | bytearray, at: int) -> list[tuple[int, int, int]]:
    """The numbers at the begin of a header of a Parquet page: kind, bytes unpacked, bytes packed, values.

    Each with where it stands and how long it is. Fields 1 to 3 are numbers (0x15), and field 5, a table (0x2c),
    begins with one.
    """
    found = []
    for intro in (b"\x15", b"\x15", b"\x15", b"\x2c\x15"):
        assert data[at : at + len(intro)] == intro
        at += len(intro)
        begin, value, shift = at, 0, 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if not data[at - 1] & 0x80:
                break
        found.append((value >> 1, begin, at - begin))
    return found


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (None, ""),
        (1, "a page of 134217727 bytes"),
        (2, "where"),
        (3, "values, 150000 rows"),
        (0, "a page of kind"),
    ],
    ids=["nothing", "unpacked", "packed", "values", "kind"],
)
@pytest.mark.parametrize("codec", ["zstd", "uncompressed"])
def test_a_page_header_that_lies_about_sizes_is_refused_before_it_is_believed(
    one_page: Page, copy: Path, number: int | None, said: str, codec: Any
) -> None:
    file = next(copy.glob("*/trials.parquet"))
    rows = 150_000  # seeds of 1.2 MB: the sizes in the header of the page have four bytes, and can say 128 MiB
    seeds = pl.Series("seed", [(7919 * n * n + n) % 2**61 for n in range(rows)], dtype=pl.UInt64)
    table = pl.DataFrame([seeds, pl.Series("trace_hash", ["0123456789abcdef"] * rows)])
    table.write_parquet(file, compression=codec, data_page_size=1 << 24, statistics=False)
    data = bytearray(file.read_bytes())
    header = varints(data, 4)  # the file begins with PAR1, and the first page follows
    assert header[3][0] == rows
    if number is not None:
        _, begin, length = header[number]
        # The largest number in as many bytes, even since an odd one stands for a negative; of a kind, an index.
        lie = [0xFE, *[0xFF] * (length - 2), 0x7F] if length > 1 else [0x02]
        data[begin : begin + length] = bytes(lie)
        file.write_bytes(data)
    if number is None:
        lists(one_page, copy)
        return
    message = refusal(one_page, copy)
    assert said in message
    assert "trials.parquet is damaged" in message


@pytest.mark.parametrize(
    ("run", "lie", "said"),
    [
        ("", "", ""),
        ("03 00 00 00 f0 2e 01", "03 00 00 00 fe 7f 01", "a run of 8191 values where 3000 are left"),
        ("03 00 00 00 f0 2e 01", "ff ff ff ff f0 2e 01", "levels of 4294967295 bytes"),
        ("b8 17 00 b8 17 01", "fe 7f 00 b8 17 01", "a run of 8191 values where 3000 are left"),
        ("b8 17 00 b8 17 01", "b8 17 00 ba 17 01", "a run of 1501 values where 1500 are left"),
        ("b8 17 00 b8 17 01", "ff 7f 00 b8 17 01", "a run of 65528 values where 3000 are left"),
        ("b8 17 00 b8 17 01", "80 00 00 b8 17 01", "a run of 0 values"),
        ("b8 17 00 b8 17 01", "ff ff ff ff ff 7f", "a run whose length is too long"),
        ("b8 17 00 b8 17 01", "b8 17 00 02 01 02", "runs that end beyond their page"),
    ],
)
@pytest.mark.parametrize("codec", ["zstd", "uncompressed"])
def test_a_run_that_lies_about_its_length_is_refused_before_it_is_believed(
    one_page: Page, copy: Path, codec: Any, run: str, lie: str, said: str
) -> None:
    first = json.loads((copy / "experiment.json").read_text())["scenarios"][0]["name"]
    file = copy / first / "trials.parquet"
    draw = random.Random(1)
    # Seeds that nothing packs, and 1500 times each of two hashes: pages as they are, with runs of both.
    rows = 3000
    seeds = pl.Series("seed", [draw.getrandbits(64) for _ in range(rows)], dtype=pl.UInt64)
    table = pl.DataFrame([seeds, pl.Series("trace_hash", [f"{row // 1500:016x}" for row in range(rows)])])
    table.write_parquet(file, compression=codec, statistics=False)
    data = file.read_bytes()
    assert bytes.fromhex(run) in data
    file.write_bytes(data.replace(bytes.fromhex(run), bytes.fromhex(lie)) if run else data)
    if not run:
        lists(one_page, copy)
        assert one_page.locator(".stored-trials li").first.inner_text().startswith(f"seed {seeds[0]} ")
        return
    message = refusal(one_page, copy)
    assert said in message
    assert "trials.parquet is damaged" in message


def varint(number: int) -> bytes:
    """A number in a header of Parquet: its sign in the last bit, seven bits a byte."""
    rest, found = 2 * number if number >= 0 else -2 * number - 1, bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def test_groups_of_rows_that_only_add_up_are_refused(one_page: Page, copy: Path) -> None:
    file = next(copy.glob("*/trials.parquet"))
    seeds = pl.Series("seed", range(150_000), dtype=pl.UInt64)
    table = pl.DataFrame([seeds, pl.Series("trace_hash", ["0123456789abcdef"] * 150_000)])
    table.write_parquet(file, row_group_size=100_000, statistics=False)
    data = file.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # the end of a file says how long its footer is
    footer = data[begin:]
    for rows, lie in ((100_000, 170_000), (50_000, -20_000)):  # 0x16 begins a number of 64 bits
        assert b"\x16" + varint(rows) in footer
        assert len(varint(rows)) == len(varint(lie))
        footer = footer.replace(b"\x16" + varint(rows), b"\x16" + varint(lie))
    file.write_bytes(data[:begin] + footer)
    assert "170000 rows in a group, 150000 in all" in refusal(one_page, copy)


def test_a_result_is_opened_while_many_trials_run(browser: Browser, results: Path) -> None:
    with running(results) as lab:
        view = lab.page(browser)
        view.get_by_role("tab", name="Results").click()
        view.evaluate(
            "{window.running = true; void thalweg.trials(thalweg.shown.setup, Array.from({length: 10000}, "
            "(_, index) => index)).finally(() => { window.running = false; })}"
        )
        view.locator(".offered button").first.click()
        view.locator(".stored-trials").wait_for()
        assert view.evaluate("window.running")


def test_the_server_opens_nothing_outside_of_its_folder(results: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(results / "results" / "cubic")
    (inside / "outer").symlink_to(results / "results")
    outer = os.path.relpath(results / "results" / "cubic", inside)
    with running(inside) as lab, lab.socket() as connection:
        assert ask(connection, name="results")["result"] == []
        for path in ("link", outer, str(results / "results" / "cubic"), "\0"):
            refused = ask(connection, name="result", path=path)["refused"]["message"]
            assert "outside of the folder" in refused or "is not a name of a file" in refused
        assert "holds no suite" in ask(connection, name="result", path=".")["refused"]["message"]


@pytest.mark.parametrize(("more", "words"), [(EXCLUDE, ()), ("", ("--shard", "1/2"))], ids=["exclude", "shard"])
def test_a_sweep_that_lacks_points_of_its_grid_opens_with_the_values_of_those_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)  # as the process does that answers
    rtts = [f"{number} ms" for number in range(20, 52)]
    (tmp_path / "plan.toml").write_text(PLAN.replace('["20 ms", "40 ms"]', json.dumps(rtts)) + more)
    thalweg("sweep", "plan.toml", "--out", "sweep", *words, cwd=tmp_path)
    scenarios = opened_result(Folder.at(tmp_path), "sweep")["scenarios"]
    names = [scenario["name"] for scenario in scenarios]
    assert 0 < len(names) < len(rtts)
    assert names != [f"path.rtt {rtt}" for rtt in rtts[: len(names)]]
    run = [f"path.rtt {tomllib.loads(scenario['toml'])['path']['rtt']}" for scenario in scenarios]
    assert names == run


EVIL = """
from pathlib import Path
import thalweg

Path("it-has-run").touch()

class Evil(thalweg.Controller):
    pass
"""


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("setting", "requires thalweg lab --python"),
        ("axis", "requires thalweg lab --python"),
        ("trace", "outside of the folder"),
        ("reference", "outside of the folder"),
        ("upper case", "outside of the folder"),
        ("base", "outside of the folder"),
        ("experiment.json", "is a link"),
        ("points.parquet", "is a link"),
        ("trials", "is a link"),
    ],
)
def test_a_sweep_of_a_stranger_runs_no_python_and_reads_no_other_file(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)  # as the process does that answers
    folder, place = Folder.at(tmp_path), tmp_path / "sweep"
    shutil.copytree(results / "results" / "sweep", place)
    assert len(opened_result(folder, "sweep")["scenarios"]) == 2
    (tmp_path / "evil.py").write_text(EVIL)
    document: dict[str, Any] = json.loads((place / "experiment.json").read_text())
    del document["sha256"]  # whoever changes it on purpose can write the hashes too
    outer = results / "plan.toml"
    match damage:
        case "setting":
            document["settings"] = [["controller.main", str(tmp_path / "evil.py")]]
        case "axis":
            document["axes"].append({"key": "controller.main", "column": "controller.main", "unit": ""})
            points = pl.read_parquet(place / "points.parquet")
            evil = pl.lit(str(tmp_path / "evil.py"))
            points = points.with_columns(evil.alias("=controller.main"), evil.alias("controller.main"))
            points.write_parquet(place / "points.parquet")
            document["hashes"]["points.parquet"] = hash_of(place / "points.parquet")
        case "trace":
            document["settings"] = [["path.trace", str(outer)]]
        case "reference":
            (results / "plain").write_text(SIMPLE)
            document["reference"] = str(results / "plain")
        case "upper case":
            (results / "a.TOML").write_text(SIMPLE)
            document["reference"] = str(results / "a.TOML")
        case "base":
            document["reference"] = str(tmp_path / "own.toml")
            own = re.sub(r'rate\s*=\s*"20 Mbps"', f'trace = "{outer}"', SIMPLE)
            assert own != SIMPLE
            (tmp_path / "own.toml").write_text(own)
        case name:
            (place / name).rename(tmp_path / f"other-{name}")
            (place / name).symlink_to(tmp_path / f"other-{name}")
    if not (place / "experiment.json").is_symlink():
        (place / "experiment.json").write_text(json.dumps(document))
    with pytest.raises(RequestError, match=said):
        opened_result(folder, "sweep")
    assert not (tmp_path / "it-has-run").exists()


@pytest.mark.parametrize("name", ["experiment.json", "trials.parquet", "scenario"])
def test_a_result_with_links_is_refused(results: Path, tmp_path: Path, name: str) -> None:
    folder, place = Folder.at(tmp_path), tmp_path / "result"
    shutil.copytree(results / "results" / "cubic", place)
    scenarios = opened_result(folder, "result")["scenarios"]
    own = place / scenarios[0]["name"]
    file = {"experiment.json": place / name, "trials.parquet": own / name, "scenario": own}[name]
    file.rename(tmp_path / "other")
    file.symlink_to(tmp_path / "other")
    with pytest.raises(RequestError, match="is a link"):
        opened_result(folder, "result")
