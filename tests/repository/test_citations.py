"""Every document and section that code and pages cite exists, and every link between pages leads somewhere."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from repository.citations import Cited, anchors, citations, headings, links, numbers, page

ROOT = Path(__file__).parents[2]
DOCUMENTS: dict[str, dict[str, Any]] = tomllib.loads(
    (ROOT / "docs/reference/documents.toml").read_text(encoding="utf-8")
)
NAMES = {name: key for key, entry in DOCUMENTS.items() for name in (key, *entry.get("called", []))}
SCANNED = ("crates", "python", "docs", "tests", "fuzz", "bench", "lab/src", "*.md")
SUFFIXES = (".rs", ".py", ".md", ".toml", ".ts", ".tsx", "states.json")
EXAMPLES = (
    "docs/site/sources.py",
    "tests/documentation/test_tables.py",
    "tests/repository/citations.py",
    "tests/repository/test_citations.py",
    "docs/reference/documents.toml",
)
LEAST_WORDS = 5
"""Below a heading that a link leads to."""
CITED_BY_SCENARIOS = "draft-huitema-ccwg-c4-test"


def files(*suffixes: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", *SCANNED], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [
        name for name in dict.fromkeys(listed.splitlines()) if name.endswith(suffixes) and name not in EXAMPLES
    ]


@cache
def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def cited(name: str) -> list[Cited]:
    return list(citations(name, text(name), [*NAMES]))


def entry_of(document: str) -> tuple[str, str | None]:
    """The name under which the table has a document, and the version that the citation gives it."""
    named = NAMES.get(document, document)
    version = re.fullmatch(r"(draft-.*)-(\d\d)", named)
    return (version.group(1), version.group(2)) if version else (named, None)


def plain(heading: str) -> str:
    return re.sub(r"[^a-z0-9]", "", heading.lower())


def has(document: str, section: str, citing: str) -> bool:
    """Whether a document, of the table or a page, has the section."""
    if document.endswith(".md"):
        found = page(document, ROOT / citing, ROOT)
        return found is not None and section in numbers(found.read_text(encoding="utf-8"))
    entry = DOCUMENTS.get(entry_of(document)[0], {})
    return section in entry.get("sections", {}) or plain(section) in map(plain, entry.get("headings", []))


def above(name: str) -> Iterator[str]:
    """The file and the modules of Rust that hold it."""
    yield name
    for folder in Path(name).parents:
        module = folder / "mod.rs"
        if name.endswith(".rs") and (ROOT / module).is_file():
            yield str(module)


def wrong(name: str) -> Iterator[str]:
    """What a file cites that is not there, one message each."""
    for citation in cited(name):
        where = f"{citation.file}:{citation.line}"
        if citation.document is None:
            known = {other.document for module in above(name) for other in cited(module) if other.document} | {
                name
            }
            if not any(has(document, str(citation.section), name) for document in known):
                yield f"{where}: no document cited in this file or its modules has a section {citation.section}"
        elif citation.document.endswith(".md"):
            if page(citation.document, ROOT / name, ROOT) is None:
                yield f"{where}: there is no page {citation.document}"
            elif citation.section and not has(citation.document, citation.section, name):
                yield f"{where}: {citation.document} has no section {citation.section}"
        else:
            entry, version = entry_of(citation.document)
            if entry not in DOCUMENTS:
                yield f"{where}: docs/reference/documents.toml has no {entry}"
            elif version is not None and version != DOCUMENTS[entry].get("version"):
                kept = DOCUMENTS[entry].get("version")
                yield f"{where}: documents.toml has version {kept} of {entry}, not {version}"
            elif citation.section and not has(citation.document, citation.section, name):
                yield f"{where}: documents.toml has no section {citation.section} of {entry}"


def test_every_document_and_section_that_is_cited_exists() -> None:
    found = [message for name in files(*SUFFIXES) for message in wrong(name)]
    assert not found, "\n".join(found)


def test_every_scenario_of_the_draft_names_a_heading_of_it() -> None:
    known = {plain(heading) for heading in DOCUMENTS[CITED_BY_SCENARIOS]["headings"]}
    prefix = f"{CITED_BY_SCENARIOS}, "
    sources = {name: tomllib.loads(text(name)).get("source", "") for name in files(".toml") if "/suites/" in name}
    quoting = {name: source.removeprefix(prefix) for name, source in sources.items() if source.startswith(prefix)}
    assert len(quoting) > 30
    assert not {name: heading for name, heading in quoting.items() if plain(heading) not in known}


def test_every_entry_of_the_table_is_cited() -> None:
    used: set[tuple[str, str | None]] = set()
    for name in files(*SUFFIXES):
        for citation in cited(name):
            if citation.document is not None:
                used |= {
                    (entry_of(citation.document)[0], None),
                    (entry_of(citation.document)[0], citation.section),
                }
            else:
                modules = {other.document for module in above(name) for other in cited(module) if other.document}
                used |= {(entry_of(document)[0], citation.section) for document in modules}
    entries = {
        (name, section) for name, entry in DOCUMENTS.items() for section in (None, *entry.get("sections", {}))
    }
    assert sorted(entries - used, key=str) == []


def test_the_table_says_where_each_document_is_and_whether_it_was_checked() -> None:
    shapes = re.compile(r"RFC \d+|draft-[a-z0-9-]+")
    fields = {"title", "version", "called", "where", "checked", "unchecked", "sections", "headings"}
    for name, entry in DOCUMENTS.items():
        assert entry["title"]
        assert set(entry) <= fields, name
        assert shapes.fullmatch(name) or entry.get("where"), f"{name}: where is it?"
        assert "unchecked" in entry or all(entry.get("sections", {}).values()), f"{name}: a heading is missing"
    listed = re.findall(r"^- (.+)$", text("docs/reference/index.md").split("## Not checked")[1], re.MULTILINE)
    assert listed == [name for name, entry in DOCUMENTS.items() if "unchecked" in entry]


def test_every_link_leads_to_a_file_and_to_a_heading_that_says_something() -> None:
    broken = []
    for name in files(".md"):
        for line, target in links(text(name)):
            path, _, anchor = target.partition("#")
            file = (ROOT / name).parent / path if path else ROOT / name
            if not file.exists():
                broken.append(f"{name}:{line}: there is no {target}")
            elif anchor and (below := anchors(file.read_text(encoding="utf-8")).get(anchor)) is None:
                broken.append(f"{name}:{line}: {path or name} has no heading for #{anchor}")
            elif anchor and below is not None and below < LEAST_WORDS:
                broken.append(f"{name}:{line}: {path or name} says nothing below #{anchor}")
    assert not broken, "\n".join(broken)


def test_every_test_that_is_cited_exists() -> None:
    missing = []
    for name in [*files(*SUFFIXES, ".mjs"), "Makefile", "lab/README.md"]:
        for number, line in enumerate(text(name).splitlines(), start=1):
            for cited_test in re.findall(r"(?<![\w./-])tests/[\w/]*\w\.(?:rs|py|ts|json)\b", line):
                # From the root, or from the crate that the file is in.
                if not any((folder / cited_test).exists() for folder in (ROOT / name).parents):
                    missing.append(f"{name}:{number}: there is no {cited_test}")
    assert not missing, "\n".join(missing)


def test_something_stands_below_every_heading() -> None:
    empty = {name: [anchor for anchor, words in anchors(text(name)).items() if not words] for name in files(".md")}
    assert {name: found for name, found in empty.items() if found} == {}


@pytest.mark.parametrize(
    ("comment", "document", "sections"),
    [
        ("/// Loss (RFC 9002 section 6.1.2).", "RFC 9002", ["6.1.2"]),
        ("//! (RFC 8033 sections 4.2, 4.4\n//! and 5.5)", "RFC 8033", ["4.2", "4.4", "5.5"]),
        ("# RFC9002 appendix A.8", "RFC 9002", ["A.8"]),
        ("// c4-history.md section 2.3 (`on_rtt`)", "c4-history.md", ["2.3"]),
        ('//! draft-a-b, "One thing" and\n//! "Another"', "draft-a-b", ["One thing", "Another"]),
        ("// section 5 of the PI2 paper", "PI2 paper", ["5"]),
        ("// what RFC 8289 says, and more in section 3", None, ["3"]),
    ],
)
def test_citations_are_found_in_the_forms_that_people_write(
    comment: str, document: str | None, sections: list[str]
) -> None:
    found = [citation for citation in citations("f", comment, [*NAMES]) if citation.section]
    assert [(citation.document, citation.section) for citation in found] == [
        (document, section) for section in sections
    ]
    assert all(1 <= citation.line <= 2 for citation in found)


def test_a_citation_of_something_unknown_fails_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.rs"
    file.write_text(
        "//! RFC 9002 section 7\n//! RFC 9002 section 99, RFC 1,\n//! nowhere.md, draft-ietf-ccwg-bbr-05\n"
    )
    found = "\n".join(wrong(str(file)))
    assert len(found.splitlines()) == 4
    for line, what in [(2, "section 99"), (2, "RFC 1"), (3, "nowhere.md"), (3, "version 06")]:
        assert re.search(rf"wrong\.rs:{line}: .*{what}", found), found


def test_headings_make_the_anchors_that_github_makes() -> None:
    markdown = "# One, *two* (`three`)\n## A/B - c\n## 2.3 Events\n## 2.3 Events\n```\n# no heading\n```\n"
    assert set(anchors(markdown)) == {"one-two-three", "ab---c", "23-events", "23-events-1"}
    assert len(headings(markdown)) == 4
    assert numbers(markdown) == {"2.3"}
    parts = "# A\n## Empty\n<!-- made: x -->\n<!-- end -->\n## Full\n### Part\nOne two.\n```\nthree\n```\n"
    assert anchors(parts) == {"a": 5, "empty": 0, "full": 5, "part": 5}
    assert list(links("[a](b.md#c)\n[x](https://x)\n```\n[d](e)\n```\n![p](q.svg)\n")) == [
        (1, "b.md#c"),
        (6, "q.svg"),
    ]
