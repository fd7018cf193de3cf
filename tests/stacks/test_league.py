"""docs/evidence/league.md: a cell is what the command that the page gives for it prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pages.league.contestants import FAMILIES, missing

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "evidence" / "league.md").read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    """The cells of a made table, its header first."""
    found = re.search(rf"<!-- made: {re.escape(name)} -->\n(.*?)<!-- end -->", TEXT, re.DOTALL)
    assert found, name
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize(("family", "column"), [("CUBIC", "quinn"), ("Reno", "ngtcp2"), ("BBR", "model")])
def test_a_cell_is_played_again_by_its_command(family: str, column: str) -> None:
    if missing():
        pytest.skip(f"NO STACK: {', '.join(missing())} are missing; `make stacks` builds them")
    header, *rows = table(f"c4 {family}")
    cells = dict(zip(header, next(row for row in rows if row[0] == "`c4/simple-20mbps`"), strict=True))
    options = next(row[2] for row in table("replays") if row[:2] == [family, column]).strip("`")
    command = [str(Path(sys.executable).with_name("thalweg")), "run", "c4/simple-20mbps", *shlex.split(options)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    printed = re.search(r"^main +\S+ +([0-9.]+) s ", done.stdout, re.MULTILINE)
    assert printed, done.stdout
    # The page has three digits, and times before less noise of at most a millisecond.
    assert float(printed[1]) == pytest.approx(float(cells[column]), abs=0.01)


def test_every_column_has_its_options() -> None:
    listed = {tuple(row[:2]) for row in table("replays")[1:]}
    assert listed == {(family, one.title) for family, columns in FAMILIES.items() for one in columns}
