"""What the site adds to pages before they are read: the order of chapters, and what the program says of itself.

`<!-- generated: NAME -->` on a page stands for Markdown made of the program, so that it cannot differ from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from docs.site.command_line import command_line
from docs.site.links import outward
from docs.site.schema import schema

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GENERATED: dict[str, Callable[[], str]] = {"command-line": command_line, "schema": schema}
_PLACE = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)
_CHAPTER = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^\| \[[^]]+\]\(([^)#]+)\.md\) \|", re.MULTILINE)


def generated(text: str) -> str:
    """A page with what is generated in its place. Raises KeyError for an unknown name."""
    return _PLACE.sub(lambda place: GENERATED[place[1]](), text)


def chapters(index: str) -> dict[str, list[str]]:
    r"""The pages of each chapter of an index, in the order of its tables; the first may lack a heading.

    >>> chapters("# M\n| [c](d.md) | y |\n## First\n| [a](b.md) | x |\n## Last\nwords\n")
    {'': ['d'], 'First': ['b']}
    """
    parts = ["", *_CHAPTER.split(index)]
    found = {title: _ENTRY.findall(text) for title, text in zip(parts[::2], parts[1::2], strict=True)}
    return {title: pages for title, pages in found.items() if pages}


def navigation(index: str) -> str:
    """The index with its chapters as Sphinx wants them, unseen."""
    trees = [
        "\n".join(["```{toctree}", ":hidden:", *([f":caption: {title}"] if title else []), "", *pages, "```\n"])
        for title, pages in chapters(index).items()
    ]
    return "\n".join([index, *trees])


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    carried = frozenset(f"{page}.md" for page in app.env.found_docs)
    text = generated(outward(content[0], Path(app.env.doc2path(name)), carried))
    content[0] = navigation(text) if name.endswith("index") else text


def setup(app: Sphinx) -> dict[str, bool]:
    """For Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
