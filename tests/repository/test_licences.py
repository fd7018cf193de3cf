"""What others wrote: each crate and each Python package has a licence that we accept, and each crate one version.

`deny.toml` says what is accepted; cargo-deny reads it too, but takes seven minutes of a core to build. Advisories
are for `make advisories`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from importlib.metadata import PackageMetadata, metadata
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DENY = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
ALLOWED = set(DENY["licenses"]["allow"])
PYTHON_ALLOWED = ALLOWED | {"0BSD", "CC0-1.0", "MIT-0", "PSF-2.0"}
CLASSIFIERS = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
CATEGORIES = {"License :: DFSG approved", "License :: OSI Approved"}
"""Classifiers that say of what kind a licence is, and not which."""
EXCEPTIONS = {
    "pathspec": "MPL-2.0",
    "hypothesis": "MPL-2.0",
    "certifi": "MPL-2.0",
    "partd": "BSD",
    "tqdm": "MPL-2.0 AND MIT",
    "docutils": "License :: Public Domain AND BSD-3-Clause AND "
    "License :: OSI Approved :: GNU General Public License (GPL)",
}
"""Only mypy needs the first, tests the second, and Sphinx the others: they are part of no program that is passed
on. Of docutils, the mode for Emacs alone is under the GPL. The licence of partd, which Dask brings along, has
three clauses. Optuna brings tqdm along, unchanged."""


def accepted(expression: str, allowed: set[str]) -> bool:
    """Whether the terms of an SPDX expression can be met; `/`, as old crates have it, stands for OR."""
    tokens = re.findall(r"\(|\)|[^\s()/]+(?: WITH [^\s()/]+)?", expression.replace("/", " OR "))

    def either() -> bool:
        found = [both()]
        while tokens[:1] == ["OR"]:
            tokens.pop(0)
            found.append(both())
        return any(found)

    def both() -> bool:
        found = [one()]
        while tokens[:1] == ["AND"]:
            tokens.pop(0)
            found.append(one())
        return all(found)

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token != "(":
            return token in allowed
        found = either()
        assert tokens.pop(0) == ")", expression
        return found

    found = either()
    return found and not tokens


@pytest.fixture(scope="module")
def crates() -> list[dict[str, Any]]:
    """All crates of the lock, for every platform."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return found


@pytest.mark.parametrize(
    ("expression", "is_accepted"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH Other-exception", False),
        ("MIT GPL-3.0-only", False),
        ("", False),
    ],
)
def test_an_expression_is_accepted_if_its_terms_can_be_met(expression: str, is_accepted: bool) -> None:
    assert accepted(expression, ALLOWED) == is_accepted


def test_every_crate_has_a_licence_that_is_accepted(crates: list[dict[str, Any]]) -> None:
    assert len(crates) > 100
    assert [
        (crate["name"], crate["license"]) for crate in crates if not accepted(crate["license"] or "", ALLOWED)
    ] == []


def test_every_crate_is_ours_or_from_the_registry(crates: list[dict[str, Any]]) -> None:
    foreign = [crate for crate in crates if crate["source"] is not None]
    assert [crate["name"] for crate in foreign if not crate["source"].startswith("registry+")] == []
    folders = [*(ROOT / "crates").iterdir(), ROOT / "fuzz"]
    assert {crate["name"] for crate in crates if crate["source"] is None} == {
        f"thalweg-{folder.name}" for folder in folders
    }


def test_no_crate_comes_in_two_versions_but_those_that_are_named(crates: list[dict[str, Any]]) -> None:
    skipped = {entry["crate"] for entry in DENY["bans"]["skip"]}
    locked = {f"{crate['name']}@{crate['version']}" for crate in crates}
    assert skipped - locked == set(), "skipped in deny.toml and no longer there"
    versions = Counter(name.partition("@")[0] for name in locked - skipped)
    assert [name for name, count in versions.items() if count > 1] == []


def test_every_python_package_has_a_licence_that_is_accepted() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    names = re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)
    assert len(names) > 20
    found = {name: _licence(metadata(name)) for name in names}
    refused = {name: licence for name, licence in found.items() if not accepted(licence, PYTHON_ALLOWED)}
    assert refused == EXCEPTIONS


def test_what_the_command_needs_is_pinned_as_in_the_other_lock() -> None:
    run, lock = (
        dict(re.findall(r"^([\w.-]+)==(.+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements-run.lock", "requirements.lock")
    )
    assert run == {name: lock.get(name) for name in run}
    known = {re.sub(r"[-_.]+", "-", name).lower() for name in run}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lacking = {re.split(r"[<>=]", named)[0] for named in project["dependencies"]} - known
    for name in run:
        for needed in metadata(name).get_all("Requires-Dist") or []:
            if ";" not in needed:
                lacking |= {re.sub(r"[-_.]+", "-", re.split(r"[ <>=!~\[(]", needed)[0]).lower()} - known
    assert lacking == set()
    assert 10 < len(run) < 25


def _licence(package: PackageMetadata) -> str:
    """The expression, the classifiers (all of which count), or what stands in the old field."""
    if "License-Expression" in package:
        return package["License-Expression"]
    classifiers = [
        classifier for classifier in package.get_all("Classifier") or [] if classifier.startswith("License ::")
    ]
    classifiers = [classifier for classifier in classifiers if classifier not in CATEGORIES]
    if classifiers:
        return " AND ".join(CLASSIFIERS.get(classifier, classifier) for classifier in classifiers)
    return package["License"] if "License" in package else ""  # noqa: SIM401 - mypy knows of no `get`
