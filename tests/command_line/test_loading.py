"""What a command loads: no more than it needs."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys

import pytest

import thalweg
from thalweg.cli import commands
from thalweg.cli.commands import application

COMMAND_LINE = {"typer", "rich", "pydantic", "pydantic_core"}
SLOW = {"asyncio", "concurrent.futures.process", "http.client", "multiprocessing", "sqlite3", "ssl", "unittest"}
"""Of the standard library: each takes 10 to 90 ms to load."""


def loaded(*arguments: str) -> set[str]:
    """The modules that a process has loaded after a command."""
    code = f"import sys; from thalweg.cli import main; main({list(arguments)!r}); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "packages"),
    [
        (["--version"], set()),
        (["list", "suites"], COMMAND_LINE),
        (["list", "controllers"], COMMAND_LINE),
        (["list", "metrics"], COMMAND_LINE),
        (["new", "-"], COMMAND_LINE - {"rich"}),
        (["list", "scenarios"], {*COMMAND_LINE, "numpy", "polars"}),
        (["run", "c4/simple-20mbps"], {*COMMAND_LINE, "numpy", "polars"}),
    ],
)
def test_a_command_loads_these_packages_and_no_others(arguments: list[str], packages: set[str]) -> None:
    modules = loaded(*arguments)
    assert "thalweg.cli" in modules
    heavy = {*COMMAND_LINE, "altair", "jinja2", "numpy", "pandas", "polars", "scipy", "vl_convert"}
    assert {name for name in modules if name in heavy} == packages
    assert not modules & SLOW


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (["--version"], {"thalweg.cli.commands", "thalweg.cli.run"}),
        (["run", "c4/simple-20mbps"], {"thalweg.plots", "thalweg.studies", "thalweg.probe", "thalweg.live"}),
        (["list", "suites"], {"thalweg.cli.suite", "thalweg.scenario"}),
        (["study", "stacks", "--help"], {"altair"}),
    ],
)
def test_a_command_loads_no_more_than_it_needs(arguments: list[str], without: set[str]) -> None:
    modules = loaded(*arguments)
    assert "thalweg.cli" in modules
    assert not modules & without


@pytest.mark.parametrize(("own", "loading"), [(None, "1"), ("3", "3")])
def test_numpy_loads_with_one_thread_and_programs_of_a_command_do_not_inherit_that(
    own: str | None, loading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, seen = "OPENBLAS_NUM_THREADS", []
    monkeypatch.delenv(name, raising=False)
    if own is not None:
        monkeypatch.setenv(name, own)

    def load(path: str) -> object:
        seen.append(os.environ[name])
        return pkgutil.resolve_name(path)

    monkeypatch.setattr(commands, "resolve_name", load)
    commands._application.__wrapped__(("run",))
    assert seen == [loading]
    assert os.environ.get(name) == own


def test_every_public_name_of_the_package_exists() -> None:
    assert {name for name in thalweg.__all__ if getattr(thalweg, name) is None} == set()
    assert set(thalweg.__all__) <= set(dir(thalweg))
    with pytest.raises(AttributeError, match="'thalweg' has no attribute 'Scenarios'"):
        thalweg.Scenarios  # noqa: B018 - it is the access that is tested


def test_each_command_is_loaded_by_its_name_and_all_of_them_for_help() -> None:
    everything = {command.name for command in application([]).registered_commands}
    groups = {
        group.typer_instance.info.name
        for group in application(["--help"]).registered_groups
        if group.typer_instance
    }
    assert everything | groups == commands._COMMANDS.keys()
    for name in everything:
        assert [command.name for command in application([str(name)]).registered_commands] == [name]


def test_what_a_command_loads_is_not_looked_through_for_garbage_again_and_again() -> None:
    code = (
        "import atexit, gc; collections = lambda: [kind['collections'] for kind in gc.get_stats()];"
        "atexit.register(lambda: print(sum(collections()), len(gc.get_objects()), gc.get_freeze_count()));"
        "import sys; sys.argv = ['thalweg', 'run', 'c4/simple-20mbps', '--quiet'];"
        "from thalweg.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    looks, left, frozen = map(int, run.stdout.split()[-3:])
    assert 0 < looks < 60  # 161 with the threshold of Python
    assert left < 1000  # what the process looks through at its end,
    assert frozen > 20_000  # and what not
