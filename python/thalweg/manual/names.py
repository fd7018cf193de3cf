"""The names of the Python API in a page, for a terminal: the site makes them of directives of Sphinx."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pkgutil import resolve_name

_BLOCK = re.compile(r"```\{eval-rst\}\n(.*?)```\n", re.DOTALL)
_DIRECTIVE = re.compile(r"\.\. auto(\w+):: ([\w.]+)")


def with_names(text: str) -> str:
    r"""A page with each name and the first line of its docstring in place of directives.

    >>> print(with_names("```{eval-rst}\nTrials\n------\n\n.. autofunction:: thalweg.list_suites\n```\n"))
    ## Trials
    <BLANKLINE>
    - `thalweg.list_suites`: ...
    """
    return _BLOCK.sub(lambda block: "\n".join(_lines(block[1].splitlines())) + "\n", text)


def _lines(lines: list[str]) -> Iterator[str]:
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if directive := _DIRECTIVE.fullmatch(line):
            if ":no-members:" not in after:
                yield from _named(*directive.groups())
        elif after and set(after) == {"-"}:
            yield f"## {line}"
        elif not line.startswith(("..", " ", "---")):
            yield line


def _named(kind: str, name: str) -> Iterator[str]:
    value = resolve_name(name)
    if kind != "module":
        yield f"- `{name}`: {_summary(value)}"
        return
    for member, one in vars(value).items():
        is_own = getattr(one, "__module__", None) == name and (inspect.isclass(one) or inspect.isfunction(one))
        if is_own and not member.startswith("_"):
            yield f"- `{name}.{member}`: {_summary(one)}"


def _summary(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
