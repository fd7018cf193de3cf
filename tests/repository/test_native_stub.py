"""The stub of the native module has what the module has: its functions, its classes, and their attributes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from thalweg import _native

STUB = ast.parse((Path(__file__).parents[2] / "python/thalweg/_native.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
HERE = {name: found for name, found in vars(_native).items() if isinstance(found, type)}


def attributes(node: ast.ClassDef) -> set[str]:
    """The public names that a class of the stub declares."""
    functions = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    fields = {
        part.target.id
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    return {name for name in functions | fields if not name.startswith("_")}


def test_the_stub_names_every_function_of_the_module_and_no_other() -> None:
    declared = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef)}
    assert declared == {name for name, found in vars(_native).items() if callable(found)} - set(HERE)


def test_the_stub_names_every_class_of_the_module() -> None:
    assert set(HERE) - set(CLASSES) == set()


# What an exception carries is set when it is made.
@pytest.mark.parametrize(
    "name", sorted(name for name in set(HERE) & set(CLASSES) if not issubclass(HERE[name], Exception))
)
def test_a_class_of_the_stub_has_the_attributes_of_that_of_the_module(name: str) -> None:
    own = {attribute for attribute in vars(HERE[name]) if not attribute.startswith("_")}
    assert attributes(CLASSES[name]) == own
