"""A modified stored result of a suite, and every command that reads it or replaces it."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from unittest.mock import patch

import command
from failure import Broken
from guard import Guard
from mutations import Mutations, Step
from page_reader import PageRule
from readable import Reader
from steps import CHANGES, change
from thalweg.base.errors import RequestError
from thalweg.results.suite_result import SuiteResult

_DOWNLOAD = """\
title = "a title"
source = "a source"
note = "a note"
time_limit = "60 s"

[path]
rate = "10 Mbps"
rtt = "20 ms"
buffer = "0.5 bdp"

[[flow]]
name = "first-flow"
controller = "cubic"
download = "60 kB"

[[flow]]
name = "second-flow"
controller = "c4"
download = "60 kB"

[[pass]]
flow = "first-flow"
metric = "completion"
at_most = "5 s"
source = "a clause"
"""
_CALL = """\
title = "another title"
source = "a source"

[path]
rate = "10 Mbps"
rtt = "20 ms"
buffer = "100 ms"
jitter = { model = "uniform", min = "0 s", max = "5 ms" }

[[flow]]
name = "first-flow"
controller = "c4"
call = "1 s"

[[flow]]
name = "short"
controller = "cubic"
requests = { count = 5, mean_gap = "50 ms", p5 = "4 kB", p95 = "30 kB" }

[[pass]]
flow = "first-flow"
stream = "audio"
metric = "mean-delay"
at_most = "50 ms"

[[pass]]
flow = "short"
metric = "completion"
at_most = "9 s"
informative = true
"""
_NAMES = ["download", "a title", "another title", "a source", "a note", "a clause", "first-flow", "second-flow"]
_TRIALS = "3"
_COMMANDS: list[Step] = [
    ["report"],
    ["plot"],
    ["compare", "result", "base"],
    ["compare", "base", "result"],
    ["compare", "result", "result"],
    ["replay", "download"],
    ["replay", "call"],
    ["open"],
    ["suite"],
]


class StoredSuite:
    """The target."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        self._inside = sandbox / "inside"
        self._base, self._result, self._page = (self._inside / name for name in ("base", "result", "page.html"))
        self._suite = self._inside / "suite"
        self._suite.mkdir(parents=True)
        (self._suite / "download.toml").write_text(_DOWNLOAD, encoding="utf-8")
        (self._suite / "call.toml").write_text(_CALL, encoding="utf-8")
        self._reader = Reader()
        patch("thalweg.pages.figures.page.program", lambda: "window.vegaEmbed = null;").start()
        self._write(self._base)
        self._rule = PageRule(self._base / "report.html")
        patch("thalweg.results.suite_result.check_readable", self._reader.check_readable).start()
        self._mutations = Mutations(self._base)
        shutil.copytree(self._base, self._result)
        for warm_up in _COMMANDS:  # what they load is loaded by no case, which may be stopped in the middle of it
            self._command(warm_up)

    def make(self, chance: Random) -> list[Step]:
        """Changes, then commands."""
        by_name = chance.random() < 0.35
        changes = self._mutations.names(chance, _NAMES) if by_name else self._mutations.some(chance)
        commands = _COMMANDS
        if by_name:
            commands = [["report"], ["report"], *commands]
        return [*changes, *chance.sample(commands, 1 if chance.random() < 0.8 else 3)]

    def play(self, case: list[Step]) -> str:
        """Changes a copy of the stored result and gives the commands."""
        shutil.rmtree(self._result, ignore_errors=True)
        self._page.unlink(missing_ok=True)
        shutil.copytree(self._base, self._result)
        self._reader.start()
        ends = []
        for step in case:
            if step[0] in CHANGES:
                change(self._result, step)
            else:
                with self._guard.watch():
                    ends.append(self._command(step))
        return "refused" if 2 in ends else "stopped" if self._guard.was_asked else "played"

    def _command(self, step: Step) -> int:
        result, base, page = str(self._result), str(self._base), str(self._page)
        match step:
            case ["report"]:
                status = command.run(["report", result, "-o", page], self._guard).status
                if status == 0:
                    self._rule.hold(self._page)
            case ["compare", a, b]:
                folders = {"result": result, "base": base}
                form = "json" if a == "result" else "table"
                status = command.run(["compare", folders[a], folders[b], "--format", form], self._guard).status
            case ["replay", name]:
                status = command.run(["replay", result, name, "worst"], self._guard).status
            case ["plot"]:
                trace = str(self._inside / "trace.csv")
                status = command.run(["replay", result, "download", "0", "--trace", trace], self._guard).status
            case ["suite"]:
                status = self._write(self._result)
            case ["open"]:
                status = self._open()
            case _:
                return 0
        return status

    def _write(self, folder: Path) -> int:
        """A new result in place of the content of a folder: refused, or complete."""
        arguments = ["suite", str(self._suite), "-n", _TRIALS, "--jobs", "1", "--out", str(folder)]
        answer = command.run(arguments, self._guard)
        if answer.status != 2 and not self._guard.was_asked:
            names = [outcomes.scenario.name for outcomes in SuiteResult.load(folder).outcomes]
            if sorted(names) != ["call", "download"]:
                raise Broken("suite: the new result is not whole", repr(names))
        return answer.status

    def _open(self) -> int:
        """Opens a result as a program does: what can be loaded can be judged, and exported as JSON."""
        try:
            stored = SuiteResult.load(self._result)
            stored.answers()
            stored.document()
            for outcomes in stored.outcomes:
                outcomes.unfinished()
        except RequestError:
            return 2
        except KeyboardInterrupt:
            if not self._guard.was_asked:
                raise
        return 0


TARGET = StoredSuite
