"""`thalweg docs`: every page of the manual, found by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thalweg import manual
from thalweg.cli import main

ROOT = Path(__file__).parents[2]
Capture = pytest.CaptureFixture[str]


def test_the_list_has_every_page_with_its_title(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["docs"]) == 0
    told = capsys.readouterr().out
    pages = [file.relative_to(ROOT / "docs").with_suffix("") for file in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 40
    for page in pages:
        assert re.search(rf"^{page} +\S", told, re.MULTILINE), page


@pytest.mark.parametrize("name", ["ci", "how-to/ci", "docs/how-to/ci.md"])
def test_a_page_is_found_by_its_name_and_printed_without_the_notes_for_tests(name: str, capsys: Capture) -> None:
    assert main(["docs", name]) == 0
    told = capsys.readouterr().out
    assert told.startswith("# ")
    assert "thalweg suite" in told
    assert "<!--" not in told


def test_an_unknown_page_is_refused_with_the_nearest_ones(capsys: Capture) -> None:
    assert main(["docs", "controlers"]) == 2
    assert (
        capsys.readouterr().err
        == "error: no page 'controlers'; did you mean controllers or lab-controllers or own-controller?\n"
    )


def test_a_page_that_is_like_none_is_told_where_all_are(capsys: Capture) -> None:
    assert main(["docs", "nosuch"]) == 2
    said = capsys.readouterr().err
    assert said == f"error: no page 'nosuch'; all {len(manual.titles())} pages: thalweg docs\n"


def test_the_page_of_the_api_has_names_and_a_line_each_in_place_of_directives(capsys: Capture) -> None:
    assert main(["docs", "api"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^- `thalweg\.Scenario`: \w.+\.$", told, re.MULTILINE)
    assert re.search(r"^- `thalweg\.judging\.statistics\.quantiles\.median_interval`: \w", told, re.MULTILINE)
    assert not re.search(r"^\.\.|eval-rst|^---", told, re.MULTILINE)
    assert [line for line in told.splitlines() if line.startswith("- ") and not re.search(r": \S", line)] == []


def test_a_value_in_prose_is_printed_without_its_name(capsys: Capture) -> None:
    assert main(["docs", "c4-05"]) == 0
    told = capsys.readouterr().out
    assert "<!--" not in told
    assert re.search(r"debt costs time against BBR\*\*: [\d.]+ % by itself", told)


def test_what_help_and_new_files_say_to_read_is_there() -> None:
    sources = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python/thalweg/cli").glob("*.toml")]
    sources += [ROOT / "python/thalweg/engine/controllers/start.txt"]
    named = {name for file in sources for name in re.findall(r"thalweg docs ([a-z][\w/-]+)", file.read_text())}
    assert {"probe", "scenarios", "score", "sweeps", "quic"} <= named
    for name in named:
        assert manual.page(name)
    assert "thalweg.github.io" not in "".join(file.read_text() for file in sources if file.name != "lab_link.py")


def test_a_wheel_has_the_pages_that_the_makefile_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual, "_HERE", tmp_path / "lib" / "thalweg" / "manual")
    pages = manual._HERE / "pages"
    assert manual.folder() == pages
    with pytest.raises(Exception, match="there are no pages"):
        manual.titles()
    pages.mkdir(parents=True)
    (pages / "index.md").write_text("# The manual\n")
    assert manual.titles() == {"index": "The manual"}
    makefile = (ROOT / "Makefile").read_text()
    assert "python/thalweg/manual/pages" in makefile
    assert re.search(r"^wheels:.* manual$", makefile, re.MULTILINE)
    assert "make lab manual" in (ROOT / ".github/workflows/wheels.yml").read_text()
