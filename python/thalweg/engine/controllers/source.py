"""Files of controllers: their text, its hash, and the classes in them.

A file is run once for each of its contents, as a module of its own whose folder may be imported from. What is run
is what is hashed.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.regular_file import read_regular
from thalweg.engine.controllers.controller import Controller

_LARGEST = 1 << 20
_loaded: dict[tuple[Path, str], Source] = {}


@dataclass(frozen=True)
class Source:
    """The text of a file and the module that it makes."""

    file: Path
    text: str
    sha256: str
    module: ModuleType

    @staticmethod
    def load(file: Path) -> Source:
        """Reads and runs a file, unless that has been done. Raises RequestError with the line that is wrong."""
        return Source.of(file, read_regular(file, _LARGEST, "a Python file of at most 1 MiB"))

    @staticmethod
    def read(file: Path) -> Source:
        """Reads a file and runs nothing: its module is empty. Raises RequestError with the line that is wrong."""
        data = read_regular(file, _LARGEST, "a Python file of at most 1 MiB")
        text = _text(data, file)
        try:
            ast.parse(text, str(file))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RequestError(f"{place(error, file)}: {raised(error)}") from None
        return Source(file, text, hashlib.sha256(data).hexdigest(), ModuleType(file.stem))

    @staticmethod
    def of(file: Path, data: bytes) -> Source:
        """Runs what a file says, or has said, unless that has been done. Raises RequestError."""
        sha256 = hashlib.sha256(data).hexdigest()
        key = (file.resolve(), sha256)
        if key not in _loaded:
            _loaded[key] = Source(file, _text(data, file), sha256, _run(file, data, sha256))
        return _loaded[key]

    @staticmethod
    def adopt(file: Path, module: ModuleType) -> Source | None:
        """The source of a module that is loaded already; None if the file cannot be read any more."""
        try:
            data = file.read_bytes()
            text = data.decode()
        except (OSError, UnicodeDecodeError):
            return None
        return Source(file, text, hashlib.sha256(data).hexdigest(), module)

    def imported(self) -> dict[str, str]:
        """The SHA-256 of each file below the folder of this one that it imports, or that one of these does.

        Limits: what it reads otherwise, or imports by a name that it computes, is not known.
        """
        found: dict[str, str] = {}
        waiting = [self.text]
        folder = self.file.resolve().parent
        while waiting:
            for name in _imports(waiting.pop()):
                path = folder.joinpath(*name.split("."))
                for file in (path.with_suffix(".py"), path / "__init__.py"):
                    key = str(file.relative_to(folder))
                    if key not in found and file != self.file.resolve() and file.is_file():
                        data = file.read_bytes()
                        found[key] = hashlib.sha256(data).hexdigest()
                        waiting.append(data.decode(errors="replace"))
        return found

    def find(self, name: str | None) -> type[Controller]:
        """The class of this name, or the only one that the file defines. Raises RequestError."""
        own = {
            key: value
            for key, value in vars(self.module).items()
            if _is_controller(value) and value.__module__ == self.module.__name__
        }
        if name is not None:
            found = getattr(self.module, name, None)
            if not _is_controller(found):
                wrong = "is not a class of thalweg.Controller" if found is not None else "is not in this file"
                raise RequestError(f"{self.file}: {name} {wrong}{did_you_mean(name, own)}")
            return found
        if not own:
            raise RequestError(f"{self.file}: there is no controller; accepted: class Mine(thalweg.Controller)")
        if len(own) > 1:
            names = ", ".join(f"{self.file}:{key}" for key in own)
            raise RequestError(f"{self.file}: there are {len(own)} controllers; accepted: {names}")
        return next(iter(own.values()))


def _is_controller(value: object) -> TypeGuard[type[Controller]]:
    return isinstance(value, type) and issubclass(value, Controller) and value is not Controller


def _text(data: bytes, file: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise RequestError(f"{file}: this is not text in UTF-8; accepted: a Python file") from None


def _run(file: Path, data: bytes, sha256: str) -> ModuleType:
    module = ModuleType(f"{file.stem}_{sha256[:12]}")
    module.__file__ = str(file)
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[module.__name__] = module
    try:
        exec(compile(data, str(file), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise RequestError(f"{place(error, file)}: {raised(error)}") from None
    return module


def raised(error: BaseException) -> str:
    """An exception in one line.

    >>> raised(ZeroDivisionError("division by zero")), raised(StopIteration())
    ('ZeroDivisionError: division by zero', 'StopIteration')
    """
    try:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        line = _native.visible(" ".join(said.split()))
    except (Exception, SystemExit):  # its own code says it
        line = "(it cannot be shown: its __str__ raises an exception too)"
    line = line if len(line) <= 300 else f"{line[:300]}..."
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def place(error: BaseException, file: Path, otherwise: int | None = None) -> str:
    """Where something was raised: the innermost line of a file, or the innermost line, or the line `otherwise`."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if Path(frame.filename) == file]
    if own or (frames and otherwise is None):
        frame = (own or frames)[-1]
        return f"{frame.filename}:{frame.lineno}"
    return str(file) if otherwise is None else f"{file}:{otherwise}"


def _imports(text: str) -> Iterator[str]:
    """The modules that a file may import, with their packages; none if it is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
