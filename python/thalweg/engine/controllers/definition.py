"""A class of controllers with its options, checked before anything runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

from thalweg._native import Init
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.engine.controllers.controller import HANDLERS, Controller
from thalweg.engine.controllers.options import check_needed, options_of, read_options, write_options
from thalweg.engine.controllers.source import Source

NAMELESS = "python:"
"""What the text of a class begins with that no file can be read for: it lives only in this process."""
_FILE = re.compile(r"(?P<file>[^:]*\.py|.*?[/\\][^:]*\.py)(?::(?P<rest>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Definition:
    """What a trial, a result and a message need to know of a controller."""

    text: str
    """What names it: `./mine.py:Mine:beta=0.8`."""
    controller: type[Controller]
    options: Mapping[str, Any]
    source: Source | None
    """None for a class of only this process."""

    @property
    def make(self) -> Callable[[Init], Controller]:
        """Makes an instance."""
        return partial(self.controller, **self.options)

    @property
    def handlers(self) -> list[str]:
        """The methods that the class defines."""
        return [name for name in HANDLERS if getattr(self.controller, name) is not getattr(Controller, name)]

    @property
    def report_every(self) -> str | None:
        """How often it is to get a report."""
        return self.controller.report_every

    @property
    def senders_only(self) -> bool:
        """Whether only ends that send data are controlled."""
        return self.controller.senders_only

    def line_of(self, method: str) -> str:
        """File and line where a method of the class, or the class, is defined."""
        for source in (getattr(self.controller, method, None), self.controller):
            try:
                assert source is not None
                return f"{inspect.getsourcefile(source)}:{inspect.getsourcelines(source)[1]}"
            except (AssertionError, TypeError, OSError):
                continue
        return self.text

    def document(self) -> dict[str, Any]:
        """What results keep of it."""
        file, sha256, text = (
            (str(self.source.file), self.source.sha256, self.source.text) if self.source else (None, None, None)
        )
        return {"name": self.text, "file": file, "sha256": sha256, "source": text}


def is_of_file(text: str) -> bool:
    """Whether a text names a controller in a file.

    >>> is_of_file("./mine.py:beta=0.8"), is_of_file("cubic:start=classic")
    (True, False)
    """
    return _FILE.fullmatch(text) is not None


def file_of(text: str) -> str | None:
    """The file that a text names; None if it names no controller in a file.

    >>> file_of("./mine.py:beta=0.8"), file_of("cubic:start=classic")
    ('./mine.py', None)
    """
    match = _FILE.fullmatch(text)
    return None if match is None else match["file"]


def of_file(text: str, texts: Mapping[str, str] | None = None) -> Definition:
    """The controller that `FILE[:CLASS][:OPTIONS]` names; `texts` of files replace them. Raises RequestError."""
    match = _FILE.fullmatch(text)
    assert match is not None
    first, colon, second = (match["rest"] or "").partition(":")
    name, options = (first, second) if colon or ("=" not in first and "," not in first) else ("", first)
    file = Path(match["file"])
    known = (texts or {}).get(str(file))
    source = Source.load(file) if known is None else Source.of(file, known.encode())
    controller = source.find(name.strip() or None)
    what = f"{source.file}:{controller.__name__}"
    return _checked(
        Definition(text, controller, read_options(options, options_of(controller, what), what), source)
    )


def not_run(text: str) -> Definition:
    """A stand-in for the controller that a text names: its file is read and not run.

    Its options are not looked at. Raises RequestError if the file cannot be read or is not Python.
    """
    match = _FILE.fullmatch(text)
    assert match is not None
    return Definition(text, Controller, {}, Source.read(Path(match["file"])))


def of_class(given: type[Controller] | partial[Controller]) -> Definition:
    """The controller that a class is, or a class with options: `partial(Mine, beta=0.8)`. Raises RequestError."""
    controller, options = (given.func, given.keywords) if isinstance(given, partial) else (given, {})
    if not (isinstance(controller, type) and issubclass(controller, Controller)) or (
        isinstance(given, partial) and given.args
    ):
        raise RequestError(
            f"{given!r} is not a controller; accepted: a name, a class of thalweg.Controller, or "
            "functools.partial of one with options by name"
        )
    known = options_of(controller, controller.__name__)
    for name in options:
        if name not in known:
            raise RequestError(f"{controller.__name__} has no option {name!r}{did_you_mean(name, known)}")
    check_needed(options, known, controller.__name__)
    source = _source_of(controller)
    where = f"{source.file}:" if source else NAMELESS
    text = f"{where}{controller.__name__}" + (f":{write_options(options)}" if options else "")
    return _checked(Definition(text, controller, options, source))


def _source_of(controller: type[Controller]) -> Source | None:
    """The file of a class that another process could load; None for a class of a session or of a package."""
    module = inspect.getmodule(controller)
    file = getattr(module, "__file__", None)
    if module is None or file is None or module.__name__ == "__main__" or getattr(module, "__package__", None):
        return None
    if getattr(module, controller.__name__, None) is not controller:
        return None
    return Source.adopt(Path(file), module)


def _runs_later(method: object) -> str | None:
    """What a function is that runs nothing when it is called; None for any other."""
    function = method
    while isinstance(function, partial | partialmethod):
        function = function.func
    if inspect.isasyncgenfunction(function):
        return "an asynchronous generator"
    if inspect.iscoroutinefunction(function):
        return "a coroutine (async def)"
    return "a generator (yield)" if inspect.isgeneratorfunction(function) else None


def _checked(definition: Definition) -> Definition:
    """Refuses a class that cannot steer a flow. Raises RequestError."""
    controller, handlers = definition.controller, definition.handlers
    name = controller.__name__
    for method in dir(controller):
        if method.startswith("on_") and method not in HANDLERS:
            raise RequestError(
                f"{definition.line_of(method)}: nothing calls {name}.{method}{did_you_mean(method, HANDLERS)}"
            )
    if "on_report" in handlers and controller.report_every is None:
        raise RequestError(
            f'{definition.line_of("on_report")}: {name}: on_report requires report_every, such as "1 rtt"'
        )
    if "on_ack" not in handlers and "on_report" not in handlers:
        raise RequestError(
            f"{definition.line_of('')}: {name} has no on_ack; accepted: on_ack(self, event, path), or on_report"
        )
    for method in ("__init__", *handlers):
        if problem := _runs_later(getattr(controller, method)):
            raise RequestError(
                f"{definition.line_of(method)}: {name}.{method} is {problem}: nothing in it would run; "
                f"accepted: def {method}, without async and yield"
            )
    for method in handlers:
        wanted = inspect.signature(getattr(Controller, method))
        try:
            inspect.signature(getattr(controller, method)).bind(*wanted.parameters)
        except TypeError:
            raise RequestError(
                f"{definition.line_of(method)}: {name}.{method} cannot be called; accepted: "
                f"{method}({', '.join(wanted.parameters)})"
            ) from None
        except ValueError:  # not of Python: it has no signature
            continue
    return definition
