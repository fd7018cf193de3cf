"""Finds what files cite: documents, sections of them by number or heading, and links between pages.

A citation names a document (`RFC 9002`, `draft-ietf-ccwg-bbr-06`, `c4-history.md`, or a name that
docs/reference/documents.toml gives it) and then perhaps sections of it: `section 5.3`, `sections 4.1 and 4.5`,
`appendix A.8`, or headings in quotes. A section that stands alone belongs to a document that the file or a module
above it cites.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NUMBER = r"(?:[A-Z]\.\d+(?:\.\d+)*|[IVX]+\b|\d+(?:[.-]\d+)*|[A-Z]\b)"
_SECTIONS = re.compile(rf"\b(?:[Ss]ections?|[Aa]ppendix) ({_NUMBER}(?:(?:, | and |, and | to | or ){_NUMBER})*)")
_HEADINGS = re.compile(r"""[ ,(]{1,2}(\\?"[A-Z][^"]+"(?:(?:,| and|, and) \\?"[A-Z][^"]+")*)""")
_AFTER_SECTION = re.compile(r" of (?:the )?$")
_BEFORE_SECTION = re.compile(r"[),]{0,2} ?\(?$")
_COMMENT = re.compile(r"^\s*(?://[/!]?|#(?!#)|>)?\s*")


@dataclass(frozen=True)
class Cited:
    """A document, and a section of it if one is named; without a document, a section that stands alone."""

    file: str
    line: int
    document: str | None
    section: str | None


@dataclass(frozen=True)
class Text:
    """The text of a file as one line, without the marks of comments, and where each line begins in it."""

    flat: str
    starts: list[int]

    @classmethod
    def of(cls, text: str) -> Text:
        starts, flat, length = [], [], 0
        for line in text.split("\n"):
            bare = _COMMENT.sub("", line).rstrip().removesuffix("\\").rstrip() + " "
            starts.append(length)
            flat.append(bare)
            length += len(bare)
        return cls("".join(flat), starts)

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)


def citations(file: str, text: str, names: list[str]) -> Iterator[Cited]:
    """What the text of a file cites; `names` are those of documents beside the forms that everybody knows."""
    known = "|".join(re.escape(name).replace(r"\ ", " ") for name in sorted(names, key=len, reverse=True))
    documents = re.compile(
        rf"(?:{known})(?![\w-])|\b(?:RFC|BCP) ?\d+|\bdraft-[a-z0-9]+(?:-[a-z0-9]+)+|(?<![\w./:-])[\w./-]*\w\.md\b"
    )
    source = Text.of(text)
    found = [(match.start(), match.end(), _plain(match.group())) for match in documents.finditer(source.flat)]
    for start, end, document in found:
        yield Cited(file, source.line(start), document, None)
        if match := _HEADINGS.match(source.flat, end):
            for heading in re.findall(r'"([^"\\]+)\\?"', match.group(1)):
                yield Cited(file, source.line(match.start()), document, heading)
    for match in _SECTIONS.finditer(source.flat):
        owner = _owner(source.flat, match, found)
        for number in re.findall(_NUMBER, match.group(1)):
            yield Cited(file, source.line(match.start()), owner, number)


def _plain(document: str) -> str:
    return re.sub(r"^(RFC|BCP) ?", r"\1 ", document)


def _owner(flat: str, section: re.Match[str], documents: list[tuple[int, int, str]]) -> str | None:
    for start, end, document in documents:
        if end <= section.start() and _BEFORE_SECTION.fullmatch(flat, end, section.start()):
            return document
        if start >= section.end() and _AFTER_SECTION.fullmatch(flat, section.end(), start):
            return document
    return None


def headings(text: str) -> list[str]:
    """Those of a page, without code blocks."""
    return re.findall(r"^#+ +(.+?) *$", _prose(text), re.MULTILINE)


def numbers(text: str) -> set[str]:
    """The numbers with which headings of a page begin."""
    return {match.group(1) for heading in headings(text) if (match := re.match(r"(\d+(?:\.\d+)*)\.? ", heading))}


def anchors(text: str) -> dict[str, int]:
    """The anchors that GitHub makes of the headings of a page: lower case, hyphens for blanks, no other signs.

    Each has the number of words below it, up to the next heading that is as high; comments are none.
    """
    made: dict[str, int] = {}
    below: dict[str, int] = {}
    above: list[tuple[int, str]] = []
    shown = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for line, prose in zip(shown.splitlines(), _prose(shown).splitlines(), strict=True):
        heading = re.fullmatch(r"(#+) +(.+?) *", prose)
        if heading is None:
            for _, anchor in above:
                below[anchor] += len(line.split())
            continue
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[2])
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = made.get(slug, 0)
        made[slug] = count + 1
        anchor = f"{slug}-{count}" if count else slug
        above = [*((level, name) for level, name in above if level < len(heading[1])), (len(heading[1]), anchor)]
        below[anchor] = 0
    return below


def links(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of each link or picture of a page that stays in the repository."""
    prose = _prose(text)
    for match in re.finditer(
        r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^]]+\]:\s*(\S+)", prose, re.MULTILINE
    ):
        target = match.group(1) or match.group(2)
        if not re.match(r"[a-z]+:", target):
            yield prose.count("\n", 0, match.start()) + 1, target


def _prose(text: str) -> str:
    """The text with code blocks blanked, line for line."""
    return re.sub(
        r"^(```|~~~).*?^\1", lambda block: "\n" * block.group().count("\n"), text, flags=re.MULTILINE | re.DOTALL
    )


def page(cited: str, citing: Path, root: Path) -> Path | None:
    """The page of the repository that a citation such as `docs/how-to/live.md` or `c4-history.md` means."""
    places = [citing.parent, root, root / "docs", *sorted((root / "docs").iterdir())]
    return next((folder / cited for folder in places if (folder / cited).is_file()), None)
