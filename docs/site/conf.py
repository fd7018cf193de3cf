"""The site of the manual, as `make site` builds it: Sphinx with MyST for Markdown and the theme Furo.

Why these: MkDocs has had no release since 2024, and the support of Material for MkDocs ends in November 2026.
Sphinx has been kept by a group since 2008, reads docstrings itself, and its search needs neither a network nor a
server: the index is a script, so that pages opened from a disk search too.

The sources are the pages as they are in the repository, so that each link works in both places.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from thalweg import version as _version  # noqa: E402 - after the path

project = "Thalweg"
author = "The Thalweg developers"
project_copyright = author
release = version = _version()
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.site.sources",
    "docs.site.units",
    "docs.site.demo",
]

root_doc = "docs/index"
include_patterns = ["docs/**.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = sorted(
    f"{one.name}" for one in ROOT.iterdir() if one.is_dir() and one.name != "docs"
)  # not even looked into: there are many files below them

suppress_warnings = ["misc.highlighting_failure"]  # of languages that Pygments does not know, such as csv
myst_heading_anchors = 4  # the anchors of GitHub
highlight_language = "text"  # of blocks that name none: they are not Python
smartquotes = False  # of `--live` it made a dash, and quotes of values that nobody can copy
default_role = "literal"  # docstrings write `names` as Markdown does
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True

html_theme = "furo"
html_title = f"Thalweg {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["start"]  # index.html, which leads to the manual
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}
