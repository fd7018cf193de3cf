"""Prose is wrapped at 110 columns, and some phrases that read as translated do not come back.

Wrapped: a diff shows the words that changed, and a terminal shows the whole line.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_COLUMNS = 110
MADE = ("docs/evidence/verdicts.md", "docs/evidence/fidelity.md", "docs/explanation/statistics.md")
"""Pages that a script of `pages` writes as a whole."""
SUFFIXES = {".md", ".py", ".rs", ".ts", ".toml", ".c"}
_FENCE = re.compile(r"\s*(```+|~~~+)")
_MADE = ("<!-- made: ", "<!-- measured -->")
_NOT_PROSE = ("|", "!", "<!--")
"""How tables, images and comments begin, which have to be one line."""
PHRASES = {
    "a comment that begins with Of says what a thing is": r"^\s*(?:\"\"\"|//[/!] |/\*\* )Of ",
    "a docstring says what it means, not Those of it": r"^\s*\"\"\"(?:Those|That) (?:of|that|which) ",
    "is not a, instead of is no": (
        r"(?<![Tt]here )\b(?:is|are|was|were) no "
        r"(?!longer|(?:more|less|fewer|larger|smaller|finer|better|worse)\b|such\b|other\b|one\b)[a-z]"
    ),
    "a condition requires something, or cannot be combined": (
        r"accepted: (?:another|with|beside|it|fewer --|run again)\b|accepted: [^\";]* beside it"
    ),
    "words of the pages that were mended": (
        r"of which at most|within which alone|is the side:|in its stead|it is none that|are no part of what|"
        r"of which more is better|What it is for:|with any other controller, ours"
    ),
}
"""What a line of the product or of a page does not say, each with what it says instead."""
POINTERS = re.compile(r"\b(?:[Tt]hat|[Tt]hose) of\b(?! offered)")
"""In place of the noun: "the seed of the trial", not "that of the trial"."""
BESIDE = re.compile(r"(?<![\w\"/-])[Bb]esides?(?=[ .;:]|$)")
"""Instead: next to, with, against, compared with, in addition to. Names and modules may have the word."""
_CODE = re.compile(r'^.*?(?=//|"|$)')
"""What stands in a line of Rust before a comment or a text."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose of a page, with their numbers."""
    is_code, is_made = False, False
    for number, line in enumerate(text.splitlines(), start=1):
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        is_made = (is_made or line.startswith(_MADE)) and line != "<!-- end -->"
        if not (is_code or is_fence or is_made or line.lstrip().startswith(_NOT_PROSE)):
            yield number, line


def pages() -> list[str]:
    """What people have written: every page of the repository but the made ones."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [page for page in listed.stdout.splitlines() if page not in MADE]


@pytest.mark.parametrize("page", pages())
def test_a_line_of_prose_has_at_most_110_columns(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {f"{page}:{number}": line for number, line in prose(text) if len(line) > MOST_COLUMNS} == {}


def test_code_tables_and_made_parts_are_no_prose() -> None:
    long = "x" * (MOST_COLUMNS + 1)
    page = f"{long}\n```\n{long}\n```\n| {long} |\n<!-- made: x -->\n{long}\n<!-- end -->\n- {long}\n"
    assert [number for number, _ in prose(page)] == [1, 9]


def phrases(line: str) -> list[str]:
    """What to say instead of the phrases of a line that are not to come back."""
    return [instead for instead, phrase in PHRASES.items() if re.search(phrase, line)]


def test_phrases_that_were_mended_do_not_come_back() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "python/*.py", "crates/*.rs", "lab/src/*.ts", "examples", "pages", "fuzz"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    files = [ROOT / file for file in listed.stdout.splitlines() if file != "CHANGELOG.md"]
    written = {file: file.read_text(encoding="utf-8") for file in files if file.suffix in SUFFIXES}
    assert [
        f"{file.relative_to(ROOT)}:{number}: {phrase}"
        for file, text in written.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for phrase in phrases(line)
    ] == []


def found(files: list[str], phrase: re.Pattern[str]) -> list[str]:
    """The lines of these files in which a phrase is."""
    return [
        f"{file}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), start=1)
        if phrase.search(_CODE.sub("", line) if file.endswith(".rs") else line)
    ]


def sources() -> list[str]:
    """The files of the package, its suites too, of the scripts that make pages, and of the crates."""
    kinds = ["python/*.py", "python/*.pyi", "python/*.toml", "pages/*.py", "pages/*.toml", "bench/*.py"]
    kinds += ["crates/*.rs", "fuzz/*.py", "fuzz/*.rs"]
    listed = subprocess.run(["git", "ls-files", *kinds], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


@pytest.mark.parametrize("phrase", [POINTERS, BESIDE])
def test_pages_and_sources_say_the_noun_and_do_not_say_beside(phrase: re.Pattern[str]) -> None:
    """The lab and the tests are not there yet."""
    assert found([*pages(), *MADE, *sources()], phrase) == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("a flow beside CUBIC", True),
        ("what is stored besides.", True),
        ('name = f"beside-{other}"', False),
        ("from settings import alone, beside, calls", False),
        ("`search/beside-cubic`", False),
    ],
)
def test_beside_is_found_in_prose_and_not_in_names(line: str, is_found: bool) -> None:
    assert (BESIDE.search(line) is not None) == is_found


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ('    """Of a dossier."""', 1),
        ("    /// Of each hop.", 1),
        ('    """Those of a profile."""', 1),
        ('"{name}" is no name; accepted: letters', 1),
        ("it is no longer there, and there is no other", 0),
        ("times are no larger than before", 0),
        ('"has packets overtake; accepted: reorder = true beside it"', 1),
        ("accepted: no, yes", 0),
    ],
)
def test_a_phrase_is_found_where_it_reads_as_translated(line: str, count: int) -> None:
    assert len(phrases(line)) == count
