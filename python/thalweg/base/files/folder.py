"""The folder of a result. An older result in it stays until the new one is whole.

    <folder>/.unfinished/   the new result while it grows
    <folder>/.whole/        the new result is whole; what is left of the older one is being removed
    <folder>/.moving/       the older result is gone; the new one is on its way into <folder>
    <folder>/trials/        trials that need not run again, whichever result asked for them

One renaming leads from each of these to the next, and all that happens in between can be repeated. Whatever stops
it, a reader finds one result, the older or the new one, and the next writer ends what was begun. Where there is no
older result, one whose document is written first grows in the folder itself.

A run that writes its result at its end reserves the folder at its start.

No document and no link in the folder leads a reader or a writer out of it. One process at a time writes there.
Limits: on a file system without locks, nothing keeps two writers apart.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Self

from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT, Kind, in_words, kind_of, read
from thalweg.base.files.whole_file import is_partial, remove_abandoned

_UNFINISHED, _WHOLE, _MOVING = ".unfinished", ".whole", ".moving"
PARTIAL = ".partial"
"""A folder of the result while it is written."""
TRIALS = "trials"
"""Trials that were played, for results to come: `trials/store/trial_store.py`. They outlive a result."""
_OURS = {_UNFINISHED, _WHOLE, _MOVING, PARTIAL, TRIALS}
_TAKEN = {DOCUMENT, "report.html", TRIALS}

_reserved: dict[Path, int] = {}
"""Folders that this process holds for results to come, with the handle of each."""

Files = Callable[[Path, Mapping[str, Any]], Iterable[PurePath]]
"""Files of the result with a document, next to it or below: from the file of the document, and what it says."""


def homes_of_trials(*engines: str) -> list[str]:
    """The folders that hold trials of some engines."""
    return [TRIALS, *(f"{TRIALS}/{engine}" for engine in engines)]


def check_name(name: str) -> None:
    """Refuses a name that no folder in a result may have. Raises RequestError."""
    if name in _TAKEN or name.startswith(".") or not name or "/" in name or "\0" in name:
        taken = ", ".join(sorted(_TAKEN))
        raise RequestError(
            f"a result cannot store a scenario called {name!r}; accepted: a name that does not begin with a "
            f"dot, has no slash in it, and is none of {taken}"
        )


def find_file(folder: Path, name: PurePath | str) -> Path | None:
    """Where a file of the result in a folder stands; None if there is none.

    Raises RequestError if it is not a regular file, or none of this folder because a link leads out of it.
    """
    return next(filter(None, (_own(folder, path / name) for path in _places(folder))), None)


def _places(folder: Path) -> tuple[Path, ...]:
    return folder / _WHOLE, folder / _MOVING, folder


def _own(folder: Path, file: Path) -> Path | None:
    """A file, if it is there; raises RequestError as `find_file` does."""
    try:
        if not os.path.lexists(file):
            return None
        inside = file.resolve().is_relative_to(folder.resolve())
        regular = file.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise RequestError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
    if not inside:
        raise RequestError(f"{file} leads out of {folder}; accepted: a file in this folder")
    if not regular:
        raise RequestError(f"{file} is not a regular file")
    return file


def refuse_other(folder: Path, kind: str, document: str = DOCUMENT) -> None:
    """Refuses a folder that exists and holds no file with the name of a document, but others.

    Raises RequestError and OSError.
    """
    strange = any(not is_partial(entry) and entry.name not in _OURS for entry in folder.iterdir())
    if strange and find_file(folder, document) is None:
        raise RequestError(f"{folder} is not empty and holds no {kind}; choose another folder")


@contextmanager
def reserve(folder: Path, kind: Kind, files: Files, homes: Sequence[str]) -> Iterator[None]:
    """Holds a folder for a result that comes later; leaves none where there was none and none came.

    Raises RequestError for all that `ResultFolder` would refuse then, if it is there by now.
    """
    message = f"cannot write results to {folder}"
    target = folder
    missing: list[Path] = []
    handle = -1
    try:
        try:
            target = folder.resolve()
            missing = [path for path in (target, *target.parents) if not path.exists()]
            handle = _lock(target)
            _refuse_in_the_way(target, homes)
            refuse_other(target, kind)
            _older(target, kind, files)
            writable = os.access(target, os.W_OK | os.X_OK)
        except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError
            raise RequestError(f"{message}: {getattr(error, 'strerror', None) or error}") from None
        if not writable:
            raise RequestError(f"{message}: permission denied")
        _reserved[target] = handle
        yield
    finally:
        if _reserved.get(target) == handle:
            del _reserved[target]
        for path in missing:
            with contextlib.suppress(OSError):  # not empty: there is a result in it
                path.rmdir()
        if handle >= 0:
            os.close(handle)


class ResultFolder:
    """A folder while a result is written to it. Use it as a context; without `finish`, an older result stays."""

    def __init__(self, folder: Path, kind: Kind, files: Files, homes: Sequence[str], in_place: bool) -> None:
        """Opens the folder; `homes` are the folders that the new result will have in it.

        `in_place`: the document is written first, so that the result may grow in a folder without an older one.
        Raises RequestError if it cannot be written, holds something else, or another process writes to it.
        """
        self.folder = folder
        self._kind = kind
        self._files = files
        self._lock = -1
        try:
            held = _reserved.get(folder.resolve())
            self._lock = _lock(folder) if held is None else os.dup(held)
            _refuse_in_the_way(folder, homes)
            refuse_other(folder, kind)
            remove_abandoned(folder)
            self._settle()
            _discard(folder / _UNFINISHED)
            _discard(folder / PARTIAL)
            older = _older(folder, kind, files)
            self.replaces = bool(older)
            """Whether there is an older result."""
            self.root = folder if in_place and not older else folder / _UNFINISHED
            """Where the new result is to be written."""
            self._kept = False
            self.root.mkdir(exist_ok=True)
        except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError
            self.close()
            problem = getattr(error, "strerror", None) or error
            raise RequestError(f"cannot write results to {folder}: {problem}") from None
        except BaseException:
            self.close()
            raise

    def finish(self) -> None:
        """The new result is whole: replaces the older one with it, Ctrl-C or not. Raises RequestError."""
        if self.root == self.folder:
            return
        try:
            try:
                self.root.rename(self.folder / _WHOLE)
            finally:
                if not self.root.exists():
                    self.root = self.folder
                    self._settle()
        except KeyboardInterrupt:
            self._settle()
            raise
        except OSError as error:
            raise RequestError(f"cannot write results to {self.folder}: {error.strerror or error}") from None

    def forget(self) -> None:
        """The new result is not worth keeping; an older one stays."""
        if self.root != self.folder:
            _discard(self.root)

    def keep(self) -> None:
        """The new result is a part: it stays next to the older one, until the next run."""
        self._kept = True

    def close(self) -> None:
        """Lets others write."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        """The folder is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets others write; of a new result that was neither finished nor kept nothing stays."""
        if not self._kept:
            self.forget()
        self.close()

    def _settle(self) -> None:
        """Ends a replacement that was begun, from wherever it was stopped."""
        whole, moving = self.folder / _WHOLE, self.folder / _MOVING
        if _is_folder(whole):
            self._remove_older()
            whole.rename(moving)
        if _is_folder(moving):
            for target in sorted(entry for entry in moving.iterdir() if _is_folder(entry)):
                _move_all(target, self.folder)
            # The document comes last: where it is, all that it speaks of is there.
            for file in sorted(moving.iterdir(), key=lambda file: file.name == DOCUMENT):
                _move(file, self.folder)
            moving.rmdir()

    def _remove_older(self) -> None:
        """Removes the files of the older result, its document last, and the folders that they leave empty."""
        files = _older(self.folder, self._kind, self._files)
        for file in files:
            homes = [home for home in file.parents if home != self.folder and home.is_relative_to(self.folder)]
            if not all(map(_is_folder, homes)):
                continue
            file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty: what else is there stays
                for home in homes:
                    home.rmdir()


def _lock(folder: Path) -> int:
    """Holds a folder, which is made if it is missing, until the handle is closed: with the end of this process."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # who held it last has removed it
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise RequestError(f"another run writes its result to {folder}; choose another folder") from None
        except OSError:
            pass  # see the limits above
        if _leads_to(folder, handle):
            return handle
        os.close(handle)


def _leads_to(folder: Path, handle: int) -> bool:
    """Whether what is open is still the folder: who held it last may have removed it meanwhile."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _older(folder: Path, kind: Kind, files: Files) -> list[Path]:
    """The files of the result that is there, its document last. Raises RequestError if they cannot be replaced."""
    found = _own(folder, folder / DOCUMENT)
    if found is None:
        return []
    if (there := kind_of(found)) != kind:
        raise RequestError(f"{folder} holds {in_words(there)}, and not {in_words(kind)}; choose another folder")
    older = [*(folder / name for name in files(found, read(found))), found]
    for file in older:
        if _is_folder(file):
            raise RequestError(f"{file} is a folder; accepted: the file of {in_words(kind)}")
    return older


def _move_all(source: Path, home: Path) -> None:
    """Moves a folder of a new result into its place, with all that is in it."""
    _refuse_in_the_way(home, [source.name])
    target = home / source.name
    target.mkdir(exist_ok=True)
    for entry in source.iterdir():
        (_move_all if _is_folder(entry) else _move)(entry, target)
    source.rmdir()


def _move(file: Path, home: Path) -> None:
    """Moves a file of a new result into its place; a link is none of it, and a later writer would follow it."""
    if file.is_symlink():
        file.unlink()
    else:
        file.replace(home / file.name)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _refuse_in_the_way(folder: Path, homes: Iterable[str]) -> None:
    for home in (folder / name for name in (_WHOLE, _MOVING, *homes)):
        if os.path.lexists(home) and not _is_folder(home):
            raise RequestError(f"{home} is in the way: a folder of the result will have this name; move it")


def _discard(path: Path) -> None:
    """Removes a folder with all that is in it; of a link, only the link."""
    if _is_folder(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
