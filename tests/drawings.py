"""What is in figures and pages, for tests."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from thalweg.pages.figures import Figure
from thalweg.pages.figures.page import unpacked


def parts(spec: Any) -> Iterator[dict[str, Any]]:
    """A specification and all that is within it."""
    if isinstance(spec, dict):
        yield spec
    for inner in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from parts(inner)


def drawn(figure: Figure, name: str) -> pl.DataFrame:
    """The data of this name in a figure."""
    (text,) = (part["values"] for part in parts(figure.to_dict()) if part.get("name") == name and "values" in part)
    return pl.read_csv(text.encode(), infer_schema_length=None)


def figures_of(html: str) -> dict[str, dict[str, Any]]:
    """The figures that a page carries, by their places."""
    block = re.search(r'id="figures">(.*?)</script>', html, re.S)
    assert block is not None
    return {anchor: json.loads(unpacked(text)) for anchor, text in json.loads(block.group(1)).items()}


def vega_lite_schema() -> dict[str, Any]:
    """The JSON schema of Vega-Lite that altair ships; found without the slow import of altair."""
    package = importlib.util.find_spec("altair")
    assert package is not None
    assert package.origin is not None
    (file,) = Path(package.origin).parent.rglob("vega-lite-schema.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document
