"""Finding scenarios and suites: by shipped name, by path, or, with `-` for a scenario, on standard input.

A shipped suite is a folder below `thalweg/suites`; its `suite.toml` gives a title, the source document
and the order of its scenarios. Any other folder with `*.toml` files is a suite too; without a
`suite.toml` its scenarios come in the order of their names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean, printable
from thalweg.base.files.regular_file import read_regular
from thalweg.base.seeds import SET_SIZE
from thalweg.base.toml import place, read_toml, shown
from thalweg.engine.changed_scenario import whole
from thalweg.judging.measures import MEASURES
from thalweg.judging.thresholds import DEFAULTS, Thresholds, read_thresholds

_LARGEST = 80 << 20
"""The largest scenario file that the simulator reads: `TEXT` in crates/sim/src/scenario/limits.rs."""
STANDARD_INPUT = Path("-")
"""Stands for the scenario that comes on standard input."""
_RECORDINGS = {".qlog": "a qlog", ".sqlog": "a qlog", ".pcap": "a capture", ".pcapng": "a capture"}
_ABOUT = "suite.toml"
_LARGEST_ABOUT = 1 << 20
_WORDS = {
    "title": "text in one line",
    "source": "text in one line",
    "trials": "a number of trials",
    "takes": "text in one line",
    "order": "a list of names",
    "candidate": "a list of names",
    "compare": "a table",
    "gate": "a table",
}
"""The keys of `suite.toml`, and what each of them is."""
TRIALS = 100
"""Trials of each scenario of a suite that does not say how many."""
_COMPARE = ("against", "metrics", "without")


def controllers() -> list[dict[str, Any]]:
    """The controllers that are shipped: name, purpose, title, source, and options with their defaults.

    >>> [controller["name"] for controller in controllers()][:3]
    ['c4', 'cubic', 'reno']
    """
    return _native.controllers()


@dataclass(frozen=True)
class Entry:
    """One scenario file and its names."""

    name: str
    """Within its suite: `bad-wifi`."""
    suite: str | None
    """Name of the shipped suite that it belongs to."""
    file: Path
    candidate: tuple[str, ...] = ()
    """The flows under test, where there are several: whoever binds the first binds all."""

    @property
    def reference(self) -> str:
        """The argument of the command line for this scenario."""
        return f"{self.suite}/{self.name}" if self.suite else str(self.file)

    @property
    def source_name(self) -> str:
        """The name that messages use for the text."""
        return "standard input" if self.file == STANDARD_INPUT else str(self.file)

    def read(self) -> bytes:
        """The text of the file, unchecked; of a shipped one with all of its keys."""
        if self.file == STANDARD_INPUT:
            return _read_standard_input()
        text = read_regular(self.file, _LARGEST, f"a scenario file of at most {_LARGEST >> 20} MiB")
        return whole(text, self.file) if _root().resolve() in self.file.resolve().parents else text


@dataclass(frozen=True)
class Compare:
    """Whom a suite sets its main controller against: the table `compare` of its `suite.toml`."""

    against: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    """What is compared; empty for the usual metrics."""
    without: tuple[str, ...] = ()
    """Scenarios that are played and not compared."""
    file: Path | None = None
    """Where this stands."""


@dataclass(frozen=True)
class Suite:
    """A folder of scenarios with a source document."""

    name: str
    title: str
    source: str | None
    entries: tuple[Entry, ...]
    compare: Compare = Compare()
    trials: int = TRIALS
    """Trials of each scenario, where nothing else is asked."""
    takes: str | None = None
    """Processor time of these trials, in words; "about 40 s"."""
    thresholds: Thresholds = field(default_factory=lambda: DEFAULTS)
    """Thresholds of `thalweg gate`: the table `gate` of its `suite.toml`."""

    @staticmethod
    def find(name_or_folder: str | Path) -> Suite:
        """A suite by shipped name or by folder. Raises RequestError."""
        shipped = {folder.name: folder for folder in _shipped_folders()}
        wanted = str(name_or_folder)
        if wanted in shipped:
            return _read_suite(shipped[wanted], shipped=True)
        folder = Path(name_or_folder)
        if folder.is_dir():
            return _read_suite(folder, shipped=False)
        if folder.is_file():
            raise RequestError(f"{wanted} is a file, not a suite; to run one scenario: thalweg run {wanted}")
        raise RequestError(
            f"no suite {wanted!r}{did_you_mean(wanted, shipped)} (or give a folder of scenario files)"
        )

    @property
    def files(self) -> list[Path]:
        """The files that it is read from, `suite.toml` too if there is one."""
        return [entry.file for entry in self.entries] + [self.entries[0].file.with_name(_ABOUT)]

    def matching(self, only: Sequence[str] | None) -> list[Entry]:
        """The scenarios whose name matches a pattern, all without patterns. Raises RequestError for none."""
        entries = [
            one
            for one in self.entries
            if only is None or any(one.name == glob or fnmatchcase(one.name, glob) for glob in only)
        ]
        if not entries:
            asked, names = ", ".join(only or ()), [entry.name for entry in self.entries]
            raise RequestError(f"--only {asked!r} matches no scenario of {self.name}{did_you_mean(asked, names)}")
        return entries


def list_suites() -> list[Suite]:
    """The shipped suites.

    >>> "c4" in [suite.name for suite in list_suites()]
    True
    """
    return [_read_suite(folder, shipped=True) for folder in _shipped_folders()]


def list_scenarios() -> list[str]:
    """Names of the shipped scenarios, suite by suite, as `thalweg run` takes them.

    >>> "c4/simple-20mbps" in list_scenarios()
    True
    """
    return [entry.reference for suite in list_suites() for entry in suite.entries]


def find_scenario(name_or_path: str | Path) -> Entry:
    """A scenario by shipped name (`c4/bad-wifi`) or by path. Raises RequestError."""
    wanted = str(name_or_path)
    if wanted == str(STANDARD_INPUT):
        return Entry("stdin", None, STANDARD_INPUT)
    for folder in _shipped_folders():
        if wanted.startswith(f"{folder.name}/"):
            entries = _read_suite(folder, shipped=True).entries
            if found := next((entry for entry in entries if entry.reference == wanted), None):
                return found
    file = Path(name_or_path)
    if (kind := file.suffix.lower()) in _RECORDINGS:
        raise RequestError(
            f"{wanted} is {_RECORDINGS[kind]}, not a scenario; to see what it says: thalweg explain {wanted}"
        )
    if file.is_dir():
        raise RequestError(f"{wanted} is a folder; to run all its scenarios: thalweg suite {wanted}")
    if file.exists():  # what is not a regular file is refused when it is read
        return Entry(file.stem, None, file, _candidate(file.parent))
    if file.suffix == ".toml":
        raise RequestError(f"no such file: {wanted}")
    if any(folder.name == wanted for folder in _shipped_folders()):
        raise RequestError(
            f"{wanted} is a suite; to run it: thalweg suite {wanted}; "
            f"for its scenarios: thalweg list scenarios {wanted}"
        )
    names = list_scenarios()
    close = [name for name in names if name.rpartition("/")[2] == wanted]
    hint = f"; did you mean {' or '.join(close)}?" if close else did_you_mean(wanted, names)
    raise RequestError(
        f"no scenario {wanted!r}{hint} (thalweg list scenarios has all; or give the path of a scenario file)"
    )


@cache
def _read_standard_input() -> bytes:
    """The scenario on standard input, which can be read once."""
    text = sys.stdin.buffer.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise RequestError(f"standard input: accepted: a scenario of at most {_LARGEST >> 20} MiB")
    return text


def _root() -> Path:
    """The folder of the shipped suites."""
    return Path(str(files("thalweg").joinpath("suites")))


def _shipped_folders() -> Iterator[Path]:
    return (folder for folder in sorted(_root().iterdir()) if (folder / _ABOUT).is_file())


def _read_suite(folder: Path, *, shipped: bool) -> Suite:
    about = _read_about(folder / _ABOUT)
    found = {file.stem: file for file in sorted(folder.glob("*.toml")) if file.name != _ABOUT}
    for stem in found:
        if printable(stem) != stem:
            raise RequestError(f"{folder}: the name {printable(stem)}.toml is not UTF-8; accepted: names in UTF-8")
        if (shown := _native.visible(stem)) != stem:
            raise RequestError(f"{folder}: the name {shown}.toml has control characters; accepted: names without")
    order: list[str] = about.get("order", [])
    missing = [name for name in order if name not in found]
    if missing:
        raise RequestError(
            f"{place(folder / _ABOUT, 'order')}: order names {missing[0]!r}, but there is no {missing[0]}.toml"
            f"{did_you_mean(missing[0], found)}"
        )
    if not found:
        raise RequestError(f"{folder} holds no scenario files (*.toml)")
    names = [*order, *(name for name in found if name not in order)]
    name = folder.name or folder.resolve().name
    candidate = tuple(about.get("candidate", ()))
    entries = tuple(Entry(stem, name if shipped else None, found[stem], candidate) for stem in names)
    compare = _read_compare(folder / _ABOUT, about.get("compare", {}), found)
    trials, takes = about.get("trials", TRIALS), about.get("takes")
    thresholds = read_thresholds(about.get("gate", {}), str(folder / _ABOUT))
    return Suite(name, about.get("title", name), about.get("source"), entries, compare, trials, takes, thresholds)


def _candidate(folder: Path) -> tuple[str, ...]:
    """The flows under test of a scenario in a folder, if that says so. Raises RequestError."""
    return tuple(_read_about(folder / _ABOUT).get("candidate", ()))


def _read_about(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    text = read_regular(file, _LARGEST_ABOUT, f"a file of at most {_LARGEST_ABOUT >> 20} MiB")
    about = read_toml(text, str(file))
    for key, value in about.items():
        if key not in _WORDS:
            raise RequestError(f"{place(file, key)}: unknown key {key!r}{did_you_mean(key, sorted(_WORDS))}")
        fits = {
            "text in one line": isinstance(value, str) and _native.visible(value) == value,
            "a table": isinstance(value, dict),
            "a number of trials": type(value) is int and 1 <= value <= SET_SIZE,
        }
        if not fits.get(_WORDS[key], _are_names(value)):
            raise RequestError(f"{place(file, key)}: {key} = {shown(value)}: expected {_WORDS[key]}")
    return about


def _read_compare(file: Path, table: dict[str, Any], scenarios: Mapping[str, Path]) -> Compare:
    """The table `compare`, checked. Raises RequestError."""

    def refusal(key: str, problem: str) -> RequestError:
        return RequestError(f"{place(file, 'compare', key)}: {problem}")

    for key, value in table.items():
        if key not in _COMPARE:
            raise refusal(key, f"unknown key compare.{key}{did_you_mean(key, _COMPARE)}")
        if not _are_names(value):
            raise refusal(key, f"compare.{key} = {shown(value)}: expected a list of names")
    for name in table.get("metrics", ()):
        if name not in MEASURES:
            raise refusal("metrics", f"compare.metrics names {name!r}; accepted: {', '.join(MEASURES)}")
    for name in table.get("without", ()):
        if name not in scenarios:
            raise refusal("without", f"compare.without names {name!r}{did_you_mean(name, scenarios)}")
    return Compare(**{key: tuple(value) for key, value in table.items()}, file=file)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
