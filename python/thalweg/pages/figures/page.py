"""What a page carries to draw figures, and the page of a single one.

Figures and the drawing program are deflated (RFC 1950) and written in base64, a quarter of their size; the browser
unpacks each when it draws it (`DecompressionStream`, in all browsers since 2023).
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.script_json import ScriptJson
from thalweg.pages.figures.theme import CONFIG, DARK_CONFIG, DARKER

_PROGRAM = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
_LEVEL = 6


def packed(text: str) -> Markup:
    """A text, deflated, in base64.

    >>> len(packed("a" * 1000))
    24
    """
    return Markup(base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode())


def unpacked(text: str) -> str:
    """What was packed.

    >>> unpacked(packed("figure"))
    'figure'
    """
    return zlib.decompress(base64.b64decode(text)).decode()


def packed_figure(figure: Figure) -> Markup:
    """A figure as stored in a page: without colours, which the page sets to suit the reader."""
    return packed(json.dumps(figure.bare(), separators=(",", ":"), allow_nan=False))


def embedded(value: object) -> Markup:
    """JSON that may stand inside a script element."""
    return Markup(json.dumps(value, cls=ScriptJson, separators=(",", ":"), allow_nan=False))


@cache
def program() -> Markup:
    """The drawing program, packed."""
    return packed(_program())


def _program() -> str:
    folder = files("thalweg.pages.figures").joinpath("vega")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _PROGRAM)


def policy(*scripts: str) -> str:
    """The content security policy of a page: it fetches nothing, and runs these scripts and the drawing program.

    It knows them by their hashes. The drawing program compiles expressions of figures, which `unsafe-eval` allows.
    """
    return (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))} {_hash_of_program()} 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _hash_of_program() -> str:
    return _hash(_program())


def drawing(name: str) -> Markup:
    """A script or style sheet of the pages."""
    return Markup(files("thalweg.pages.figures").joinpath(name).read_text(encoding="utf-8"))


def themes() -> Markup:
    """The looks that a page lends to its figures."""
    return embedded({"light": CONFIG, "dark": DARK_CONFIG, "darker": DARKER})


def environment(package: str) -> Environment:
    """Templates of a package, with what any page needs to draw figures."""
    made = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"program": program, "drawing": drawing, "themes": themes, "policy": policy}
    return made


def page(figure: Figure) -> Iterable[str]:
    """The page of one figure, in parts."""
    title = figure.spec.get("title") or "Figure"
    head = title if isinstance(title, str) else str(title["text"])
    template = environment("thalweg.pages.figures").get_template("page.html")
    return template.generate(title=head, figure=figure, packed=packed_figure(figure))
