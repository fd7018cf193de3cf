"""The plan of a sweep that a page asks for: its text, as `thalweg sweep` reads it, and the folder of its store.

What is shown to the reader is what runs: the text is written first and read as the file of a plan is. The scenario
is named where the command line finds it, and otherwise stands in the plan. All that a plan names is in the folder
of the lab, and controllers in Python are found as there (`thalweg.lab.folder`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.document import DOCUMENT
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import find_scenario, list_scenarios
from thalweg.engine.scenario_text import scenario_text, single
from thalweg.experiments.sweep.axis import CONTROLLER
from thalweg.experiments.sweep.head import read_head
from thalweg.experiments.sweep.plan import Plan, plan_of
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.lab.folder import Folder

MOST_AXES = 2
MOST_VALUES = 1000
"""The most values of an axis: more are a file's work."""
_NAME = re.compile(r"\w[\w.-]{0,63}", re.ASCII)
_RANGE = ("from", "to", "steps", "scale")


@dataclass(frozen=True)
class SweepRequest:
    """A sweep as the page has it: the scenario that is shown, axes in the words of the reader, and a name."""

    setup: Mapping[str, Any]
    axes: list[Mapping[str, str]]
    """Each with its `key`, and either `values` or `from`, `to`, `steps` and `scale`."""
    trials: int
    name: str
    """The name of the folder that the store will have."""

    @classmethod
    def of(cls, call: object) -> SweepRequest | None:
        """None if these are not the words of a page."""
        if not isinstance(call, dict):
            return None
        setup, axes, trials, name = (call.get(key) for key in ("setup", "axes", "trials", "name"))
        if not is_setup(setup) or not isinstance(axes, list) or not isinstance(name, str):
            return None
        if len(axes) > MOST_AXES or not all(_is_of_texts(axis) and "key" in axis for axis in axes):
            return None
        if not isinstance(trials, int) or isinstance(trials, bool):
            return None
        # Nothing else of the call goes on: it may be nested so deeply that no process can be handed it.
        known = {key: setup[key] for key in ("text", "origin", "sets", "controllers")}
        return cls(known, axes, trials, name)

    @property
    def file(self) -> str:
        """What the plan is called where it is saved."""
        return f"{self.name}-plan.toml"

    def command(self, is_long: bool) -> str:
        """The command line that does the same."""
        yes = ["--yes"] if is_long else []
        return shlex.join(["thalweg", "sweep", self.file, "--out", self.name, *yes])

    def plan(self, folder: Folder) -> Plan:
        """The plan, read from its text, with nothing in it that is outside of the folder. Raises RequestError."""
        text = self._text(folder)
        file = PlanFile(self.file, text)
        plan = plan_of(read_toml(text, self.file), file, Path())
        folder.checked(plan.base.text.decode(), {})
        files = folder.checked("", {key: value.text for key, value in plan.settings})
        for axis in plan.axes:
            if len(axis.values) > MOST_VALUES:
                raise RequestError(_too_many(axis.key, len(axis.values)))
            for value in axis.values:
                files += folder.checked("", {axis.key: value.text})
        if files and plan.base.is_inline:  # the store keeps the traces of the scenario, not of values
            raise RequestError(
                f'{self.setup["origin"]}: a value names the file "{files[0]}", which requires a scenario that is '
                "saved in the folder and opened from there: trials are replayed from the store"
            )
        return replace(plan, resolver=folder.resolver)

    def place(self, folder: Folder, plan: Plan) -> Path:
        """The folder of the store: a new one, or one with the same plan, which goes on. Raises RequestError."""
        if not _NAME.fullmatch(self.name):
            raise RequestError(
                f"the name {self.name!r}: accepted: at most 64 letters, digits, - _ and . that begin with no dot"
            )
        place = folder.path / self.name
        if place.is_symlink() or folder.inside(self.name) != place:
            raise RequestError(f"{self.name} is a link; use another name")
        if not (place / DOCUMENT).exists():
            return place
        for root, folders, files in os.walk(place):
            for name in (*folders, *files):
                if (Path(root) / name).is_symlink():
                    raise RequestError(f"{Path(root) / name} is a link; use another name")
        if read_head(place)["plan"] != plan.file.text:
            raise RequestError(f"{self.name} holds a sweep of another plan; use another name")
        return place

    def _text(self, folder: Folder) -> str:
        """The plan as a file."""
        word, scenario = self._scenario(folder)
        lines = [f"scenario = {word}"] if word else []
        lines += [f"trials = {self.trials}", "seed = 1"]
        for key, given in (("set", self.setup["sets"]), ("controllers", self.setup["controllers"])):
            wanted = {name: value for name, value in given.items() if not self._varies(key, name)}
            if wanted:
                pairs = (f"{_quoted(name)} = {_setting(key, value)}" for name, value in wanted.items())
                lines.append(f"{key} = {{ {', '.join(pairs)} }}")
        lines += ["", "[axes]", *map(self._axis, self.axes)]
        return "\n".join(lines) + ("\n\n" + scenario if scenario else "\n")

    def _varies(self, key: str, name: str) -> bool:
        """Whether an axis takes the place of a setting."""
        own = f"{CONTROLLER}{name}" if key == "controllers" else name
        return any(axis["key"].strip() == own for axis in self.axes)

    def _scenario(self, folder: Folder) -> tuple[str, str]:
        """The word for the scenario in a plan, or the tables that it has there."""
        text, origin = str(self.setup["text"]), str(self.setup["origin"])
        if origin in list_scenarios() and find_scenario(origin).read() == text.encode():
            return _quoted(origin), ""
        if folder.scenarios().get(origin) == text:
            return _quoted(origin), ""
        folder.checked(text, {})
        return "", scenario_text(single(read_toml(text, origin)), "scenario")

    def _axis(self, axis: Mapping[str, str]) -> str:
        key = axis["key"].strip()
        if sum(other["key"].strip() == key for other in self.axes) > 1:
            raise RequestError(f"{key}: it is given twice as an axis")
        if "values" in axis:
            if axis["values"].count(",") > MOST_VALUES:
                raise RequestError(_too_many(key, axis["values"].count(",")))
            return f"{_quoted(key)} = {_listed(axis['values'])}"
        for name in axis:
            if name not in ("key", *_RANGE):
                raise RequestError(f"{key}: unknown key {name!r}{did_you_mean(name, _RANGE)}")
        pairs = (f"{name} = {_bound(name, axis[name])}" for name in _RANGE if name in axis)
        return f"{_quoted(key)} = {{ {', '.join(pairs)} }}"


def _too_many(key: str, count: int) -> str:
    return f"{key} has {count} values; accepted: at most {MOST_VALUES} here, more in a plan for thalweg sweep"


def is_setup(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a scenario with settings, as the page has it."""
    if not isinstance(value, dict):
        return False
    texts = isinstance(value.get("text"), str) and isinstance(value.get("origin"), str)
    return texts and all(_is_of_texts(value.get(key)) for key in ("sets", "controllers"))


def _is_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, str) for inner in value.values())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(text: str) -> object:
    """The value that a text is in TOML; None if it is none."""
    try:
        found = read_toml(f"v = {text}", "v")
    except RequestError:
        return None
    return found["v"] if found.keys() == {"v"} else None


def _setting(key: str, text: str) -> str:
    """A setting as plans have it: without the quotes that `--set` may have, where it means the same."""
    inner = _toml(text) if key == "set" else None
    return _quoted(inner if isinstance(inner, str) and _toml(inner) is None else text)


def _bound(name: str, text: str) -> str:
    """A bound of a range, or its steps or scale: numbers without unit are not texts."""
    text = text.strip()
    return text if name != "scale" and re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text, re.ASCII) else _quoted(text)


def _listed(text: str) -> str:
    """A list in TOML, of a list as plans have it or of texts between commas.

    >>> _listed("5 Mbps, 20 Mbps"), _listed('"cubic", "c4:variant=v1"'), _listed("[1, 2]")
    ('["5 Mbps", "20 Mbps"]', '["cubic", "c4:variant=v1"]', '[1, 2]')
    """
    for written in (text.strip(), f"[{text.strip()}]"):
        if isinstance(_toml(written), list):
            return written
    return f"[{', '.join(_quoted(part.strip()) for part in text.split(',') if part.strip())}]"
