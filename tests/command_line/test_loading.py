"""What a command loads: no more than it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import thalweg
from thalweg.cli.commands import COMMANDS, everything, later

COMMAND_LINE = {"typer", "rich", "pydantic", "pydantic_core"}
SLOW = {"asyncio", "concurrent.futures.process", "http.client", "multiprocessing", "sqlite3", "ssl", "unittest"}
"""Slow modules of the standard library: each takes 10 to 90 ms to load."""


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
        (
            ["run", "c4/simple-20mbps"],
            {"thalweg.pages.figures", "thalweg.experiments.studies", "thalweg.probe", "thalweg.realtime"},
        ),
        (["list", "suites"], {"thalweg.cli.suite", "thalweg.engine.scenario"}),
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

    def load() -> object:
        seen.append(os.environ[name])
        return COMMANDS["run"].load()

    later._loaded("run", later.Later(load, ""))
    assert seen == [loading]
    assert os.environ.get(name) == own


def test_every_public_name_of_the_package_exists() -> None:
    assert {name for name in thalweg.__all__ if getattr(thalweg, name) is None} == set()
    assert set(thalweg.__all__) <= set(dir(thalweg))
    with pytest.raises(AttributeError, match="'thalweg' has no attribute 'Scenarios'"):
        thalweg.Scenarios  # noqa: B018 - it is the access that is tested


def test_no_help_loads_what_computes_or_draws_and_that_of_all_commands_loads_none_of_them() -> None:
    words = [
        [name, *inner]
        for name, command in everything().commands.items()
        for inner in ([], *([one] for one in getattr(command, "commands", {})))
    ]
    assert len(words) > 35
    code = (
        "import sys; from thalweg.cli import main;"
        "main(['--help']); main(['study', '-h']);"
        "print('LOADED', *(name for name in sys.modules if name.startswith('thalweg.')));"
        f"[main([*words, '--help']) for words in {words}];"
        "print('LOADED', *sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, last = (set(line.split()[1:]) for line in run.stdout.splitlines() if line.startswith("LOADED"))
    assert {name for name in first if name.startswith("thalweg.cli.")} < {
        f"thalweg.cli.{name}"
        for name in ("console", "status", "commands", "commands.later", "commands.value_names", "study")
    } | {"thalweg.experiments.studies"}
    heavy = {
        "numpy.linalg",
        "polars.dataframe",
        "altair",
        "scipy",
        "optuna",
        "jinja2",
        "pydantic",
        "ssl",
        "asyncio",
    }
    assert not last & heavy


def test_what_help_has_postponed_loads_when_it_is_used() -> None:
    code = (
        "from thalweg.cli import main; main(['run', '--help']);"
        "from thalweg.engine import outcome, trace; print(outcome.np.arange(3).sum(), outcome.pl.Float64());"
        "import numpy, polars, numpy.typing; print(numpy.ndarray is outcome.np.ndarray, numpy.typing.NDArray);"
        "print(main(['run', 'c4/simple-20mbps', '--quiet']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\n3 Float64\nTrue numpy" in run.stdout
    assert run.stdout.endswith("\n0\n")


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


def test_the_package_is_the_command_line_as_a_module() -> None:
    command = [sys.executable, "-m", "thalweg", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == f"thalweg {thalweg.__version__}\n"
