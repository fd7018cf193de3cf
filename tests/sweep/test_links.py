"""Links within the store of a sweep: none leads a writer or a merge out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thalweg import Sweep, SweepResult, _native
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.experiments.sweep.merge import merge

FLOW = {"name": "main", "controller": "cubic", "download": "100 kB"}
SCENARIO: dict[str, Any] = {"title": "x", "path": {"rate": "10 Mbps", "rtt": "40 ms"}, "flow": [FLOW]}


def swept(folder: Path, trials: int = 1) -> SweepResult:
    return Sweep(SCENARIO, {"path.rate": ["5 Mbps"]}, trials=trials).run(folder)


def linked(file: Path, elsewhere: Path) -> None:
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", ["scenario.toml", "experiment.json", "trials", f"trials/{_native.engine()}"])
def test_a_link_where_a_store_writes_is_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    swept(out)
    swept(other)
    linked(out / name, tmp_path / "elsewhere")
    (out / ".whole").mkdir()
    (out / ".whole" / "scenario.toml").touch()
    before = contents(tmp_path)
    with pytest.raises(RequestError, match=r"is a link|is in the way|leads out of"):
        swept(out, trials=2)
    with pytest.raises(RequestError, match=r"is a link|is in the way|leads out of"):
        merge([other], out)
    assert contents(tmp_path) == before


def test_a_merge_takes_no_scenario_from_outside_of_the_folder_of_a_shard(tmp_path: Path) -> None:
    shard = tmp_path / "shard"
    swept(shard)
    linked(shard / "scenario.toml", tmp_path / "secret")
    with pytest.raises(RequestError, match="leads out of"):
        merge([shard], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_page_is_not_written_through_a_link_in_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    swept(out)
    (out / "report.html").symlink_to(victim)
    assert main(["sweep", "report", str(out), "-q"]) == 2
    assert f"{out}/report.html is a link" in capsys.readouterr().err
    assert not victim.exists()
