"""TOML texts, read as the engine reads scenarios: what it accepts, plans and suites may have too."""

from __future__ import annotations

from typing import Any

from thalweg import _native
from thalweg.errors import ScenarioError


def read_toml(text: str | bytes, file: str) -> dict[str, Any]:
    r"""The keys and values of a text, in their order. `file` is the name in errors. Raises ScenarioError.

    >>> read_toml('b = { c = "\\e" }\na = [1, 2.5, true]', "a.toml")
    {'b': {'c': '\x1b'}, 'a': [1, 2.5, True]}
    >>> read_toml("a = [\n1,, ]", "a.toml")
    Traceback (most recent call last):
    thalweg.errors.ScenarioError: a.toml:2: `1,, ]`: extra comma in array; accepted: value
    """
    # Text from the page of the lab may have half a pair of surrogates: no UTF-8, as the reader then says.
    source = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    try:
        return _native.toml_document(source, file)
    except _native.ScenarioError as error:
        refused = ScenarioError(str(error))
        refused.__dict__.update(error.__dict__)  # origin, line and key
        raise refused from None
