"""The type of the fixture that compiles toys."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Toy: TypeAlias = Callable[..., Path]
