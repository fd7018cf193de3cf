"""A modified stored study: commands that read it, its scenarios, and a new study that replaces it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

import polars as pl

import command
from failure import Broken
from guard import Guard
from mutations import Mutations, Step
from steps import CHANGES, change
from thalweg.base.errors import RequestError
from thalweg.experiments.studies.fairness.parameters import Parameters
from thalweg.experiments.studies.fairness.study import STUDY
from thalweg.experiments.studies.runner.folder import reserve_folder, write_study_files
from thalweg.trials.machine import ThisMachine


class StoredStudy:
    """The target."""

    def __init__(self, sandbox: Path, guard: Guard) -> None:
        self._guard = guard
        inside = sandbox / "inside"
        self._base, self._study, self._page = inside / "base", inside / "study", inside / "page.html"
        inside.mkdir(exist_ok=True)
        patch("thalweg.pages.figures.page.program", lambda: "window.vegaEmbed = null;").start()
        small = Parameters(("cubic",), (1.0,), (1.0,), ("drop-tail",), flows=(2,), duration="20 s")
        self._done = STUDY.run(small, trials=1, executor=ThisMachine(jobs=1))
        self._done.save(self._base)
        scenarios = {cell.name: self._done.parameters.scenario(cell).toml for cell in self._done.cells}
        tables = {"flows": pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})}
        write_study_files(self._base, self._done.result, scenarios, tables)
        self._scenarios = sorted(file.name for file in (self._base / "scenarios").iterdir())
        self._mutations = Mutations(self._base)
        shutil.copytree(self._base, self._study)
        for warm_up in (["report"], ["run", self._scenarios[0]], ["suite"]):  # loads what they take
            self._command(warm_up)

    def make(self, chance: Random) -> list[Step]:
        """Changes, then commands."""
        scenario = chance.choice(self._scenarios)
        commands = [["report"], ["compare"], ["replay"], ["run", scenario], ["suite"], *[["save"]] * 3]
        return [*self._mutations.some(chance), *chance.sample(commands, 1 if chance.random() < 0.7 else 3)]

    def play(self, case: list[Step]) -> str:
        """Changes a copy of the stored study and gives the commands."""
        shutil.rmtree(self._study, ignore_errors=True)
        shutil.copytree(self._base, self._study)
        ends = []
        for step in case:
            if step[0] in CHANGES:
                change(self._study, step)
            else:
                with self._guard.watch():
                    ends.append(self._command(step))
        return "refused" if 2 in ends else "stopped" if self._guard.was_asked else "played"

    def _command(self, step: Step) -> int:
        if step == ["save"]:
            return self._save()
        study = str(self._study)
        scenario = f"{study}/scenarios/{step[-1]}"
        if step[0] == "run" and Path(scenario).is_symlink():
            return 0  # the command names this file itself: it follows the link, as every program does
        if step[0] == "suite" and any(file.is_symlink() for file in Path(study, "scenarios").glob("*")):
            return 0  # a folder of scenarios may have links to them
        lines = {
            "report": ["report", study, "-o", str(self._page)],
            "compare": ["compare", study, str(self._base)],
            "replay": ["replay", study, "any", "0"],
            "run": ["run", scenario],
            "suite": ["suite", f"{study}/scenarios", "-n", "1", "--jobs", "1", "--out", f"{study}-results"],
        }
        return command.run(lines[step[0]], self._guard).status

    def _save(self) -> int:
        """A new study in place of the content of the folder: refused, or complete."""
        new = replace(self._done, result=replace(self._done.result, seed=7))
        try:
            scenarios = {cell.name: new.parameters.scenario(cell).toml for cell in new.cells}
            with reserve_folder(self._study):
                pass
            write_study_files(self._study, new.result, scenarios, {"flows": pl.DataFrame({"a": [1]})})
        except RequestError:
            return 2
        stored = json.loads((self._study / "experiment.json").read_text(encoding="utf-8"))
        found = sorted(file.name for file in (self._study / "scenarios").iterdir() if file.is_file())
        if stored["seed"] != 7 or not set(self._scenarios) <= set(found):
            raise Broken("study: the new study is not whole", repr(found))
        return 0


TARGET = StoredStudy
