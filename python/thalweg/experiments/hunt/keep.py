"""Where finds are kept: the folder of a hunt, and a corpus, which is a suite of finds.

A hunt's folder has `experiment.json`, the whole result; `find.toml`, the scenario that shrank; `found.toml`, as it
was found; `find.html`, the figure; and `failed-1.toml` and so on, in which a trial failed. Where nothing was
found, only `experiment.json` and the latter are there. Where a folder holds a find that was checked, an
interrupted hunt writes into its `.unfinished`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from thalweg import __version__, _native
from thalweg.base.errors import RequestError
from thalweg.base.files.document import DOCUMENT, read
from thalweg.base.files.folder import find_file, homes_of_trials, refuse_other, reserve
from thalweg.base.files.whole_file import whole_file
from thalweg.base.progress import Progress, silent
from thalweg.engine.scenario import Scenario
from thalweg.experiments.hunt.find import Find
from thalweg.pages.lab_link import TrialLink, link_to, runs_in_browser

FIND = "find.toml"
_FOUND = "found.toml"
_FIGURE = "find.html"
_UNFINISHED = ".unfinished"
_SUITE = "suite.toml"
_ABOUT = 'title = "Worst cases that hunts have found"\n'
_MOST_FAILED = 5
SHRUNK = "as it shrank"
"""What the link to the trial of the smallest scenario is called."""


def reserve_folder(folder: Path) -> AbstractContextManager[None]:
    """Holds a folder for a hunt and its trials. Raises RequestError if it holds something else."""
    return reserve(folder, "hunt", lambda *_: (), homes_of_trials(_native.engine()))


def check_corpus(corpus: Path) -> None:
    """Refuses a folder that is not a corpus and cannot become one; makes none. Raises RequestError."""
    try:
        if corpus.exists():
            refuse_other(corpus, "suite", _SUITE)
        nearest = next(folder for folder in (corpus, *corpus.absolute().parents) if folder.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            raise RequestError(f"cannot write to {corpus}: {nearest} is not a folder that can be written")
    except OSError as error:
        raise RequestError(f"cannot write to {corpus}: {error.strerror or error}") from None


@dataclass(frozen=True)
class FindFiles:
    """What a find has become."""

    files: list[Path]
    links: dict[str, TrialLink]
    """Its trials that open in the lab, by what they are called; none that a browser cannot run."""


def place_of(find: Find, folder: Path) -> Path:
    """Where a find goes: an interrupted hunt does not replace a find that was checked. Raises ResultError."""
    older = find_file(folder, DOCUMENT)
    if find.complete or older is None or not read(older).get("complete"):
        return folder
    return folder / _UNFINISHED


def save(find: Find, folder: Path, figure: bool = True, on_progress: Progress = silent) -> FindFiles:
    """Writes a find into its folder, the result first. Raises RequestError.

    What an older run has left there goes.
    """
    folder.mkdir(exist_ok=True)
    shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)
    for older in [*(folder / name for name in (FIND, _FOUND, _FIGURE)), *folder.glob("failed-*.toml")]:
        older.unlink(missing_ok=True)
    texts = {DOCUMENT: json.dumps(find.document(), indent=2, allow_nan=False) + "\n"}
    if find.is_worse:
        texts |= {FIND: find.text(find.shrunk, find.value), _FOUND: find.text(find.found, find.found_value)}
    for number, failure in enumerate(find.failures[:_MOST_FAILED], 1):
        reason = "\n".join(f"# {line}" for line in failure.error.splitlines())
        texts[f"failed-{number}.toml"] = f"{reason}\n{failure.text}"
    for name, text in texts.items():
        _write(folder / name, text)
    written = [folder / name for name in texts]
    if not find.is_worse:
        return FindFiles(written, {})
    links = _links(find, folder)
    if figure:
        on_progress("drawing", 0, 1)
        written.append(folder / _FIGURE)
        draw(folder / FIND, find.seed, links, written[-1])
    return FindFiles(written, links)


def _links(find: Find, folder: Path) -> dict[str, TrialLink]:
    """To the trials of a find, which are played once more: a link says which trace hash its trial has."""
    trials = {SHRUNK: (folder / FIND, find.seed), "as it was found": (folder / _FOUND, find.seed_as_found)}
    found = {}
    for words, (file, seed) in trials.items():
        if runs_in_browser(file.read_text(encoding="utf-8")):
            link = link_to(Scenario.load(file).run(seed).outcomes, 0, __version__)
            if link is not None:
                found[words] = replace(link, name=file.name)
    return found


def draw(scenario: Path, seed: int, links: Mapping[str, TrialLink], figure: Path) -> None:
    """The figure of the trial of a find."""
    from thalweg.pages.figures import plot_trial  # noqa: PLC0415 - most commands draw nothing

    addresses = {f"{words} (seed {link.seed})": link.address for words, link in links.items()}
    replace(plot_trial(Scenario.load(scenario).run(seed, trace=True)), links=addresses).save(figure)


def keep(find: Find, corpus: Path) -> Path:
    """Puts a find into a corpus, which `thalweg suite` runs; one that is there already is not put twice.

    Raises RequestError if the folder holds something else than a suite.
    """
    check_corpus(corpus)
    text = find.text(find.shrunk, find.value)
    controller = next(flow["controller"] for flow in find.shrunk["flow"] if flow["name"] == find.objective.flow)
    name = re.sub(r"[^a-z0-9]+", "-", Path(str(controller)).name.lower()).strip("-")
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    file = corpus / f"{find.objective.kind}-{name}-{digest}.toml"
    try:
        corpus.mkdir(parents=True, exist_ok=True)
        if not (corpus / _SUITE).exists():
            _write(corpus / _SUITE, _ABOUT)
    except OSError as error:
        raise RequestError(f"cannot write to {corpus}: {error.strerror or error}") from None
    _write(file, text)
    return file


def _write(file: Path, text: str) -> None:
    with whole_file(file) as partial:
        partial.write_text(text, encoding="utf-8")
