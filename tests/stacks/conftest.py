"""Libraries with stacks that are compiled here, and what compiles them; those of `make stacks` are in built.py."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stacks.built import ROOT
from toys import Toy

INCLUDE = ROOT / "include"
TOY = Path(__file__).with_name("toy.c")


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Compiles the toy with macros: `toy(FAULT="SEGV")`. A C compiler is a requirement of this repository."""
    folder = tmp_path_factory.mktemp("toys")

    def compiled(**macros: object) -> Path:
        options = [f"-D{name}={value}" for name, value in macros.items()]
        library = folder / ("libtoy" + "".join(sorted(options)) + ".so")
        if not library.exists():
            compiler = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
            command = [*compiler, f"-I{INCLUDE}", *options, "-o", str(library), str(TOY)]
            subprocess.run(command, check=True)
        return library

    return compiled


@pytest.fixture(scope="session")
def first_datagram(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in C that prints the first datagram of a client of a library."""
    program = tmp_path_factory.mktemp("programs") / "first_datagram"
    source = Path(__file__).with_name("first_datagram.c")
    subprocess.run([compiler, f"-I{INCLUDE}", "-o", program, source, "-ldl"], check=True)
    return program


@pytest.fixture(scope="session")
def compiler() -> str:
    """The C compiler."""
    found = shutil.which("cc")
    assert found, "a C compiler is a requirement"
    return found
