"""Toys: tiny stacks in C as libraries, the type of the fixture that compiles them, and a download on one."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import thalweg

Toy: TypeAlias = Callable[..., Path]

_SCENARIO = """
title = "A small download"
[path]
rate = "8 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "fixed"
stack = "{stack}"
download = "{size}"
[[pass]]
flow = "main"
metric = "completion"
at_most = "10 s"
"""


def small_text(stack: Path, size: str = "100 kB") -> str:
    """The scenario file of a download on a stack."""
    return _SCENARIO.format(stack=stack, size=size)


def small(stack: Path, size: str = "100 kB") -> thalweg.Scenario:
    """The scenario."""
    return thalweg.Scenario.from_toml(small_text(stack, size), "small")
