"""Libraries with stacks: a tiny one in C, compiled here, and quinn-proto, built by `make stacks`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from toys import Toy

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "include"
TOY = Path(__file__).with_name("toy.c")
BUILT = ROOT / "target" / "stacks"


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
def quinn() -> Path:
    """The library of quinn-proto."""
    return built("libquinn.so")


@pytest.fixture(scope="session")
def ngtcp2() -> Path:
    """The library of ngtcp2."""
    return built("libngtcp2.so")


@pytest.fixture(scope="session")
def smoltcp() -> Path:
    """The library of smoltcp."""
    return built("libsmoltcp.so")


@pytest.fixture(scope="session")
def aioquic() -> Path:
    """The library of aioquic."""
    return built("libaioquic.so")


@pytest.fixture(scope="session")
def quiche() -> Path:
    """The library of quiche."""
    return built("libquiche.so")


@pytest.fixture(scope="session")
def first_datagram(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in C that prints the first datagram of a client of a library."""
    program = tmp_path_factory.mktemp("programs") / "first_datagram"
    source = Path(__file__).with_name("first_datagram.c")
    subprocess.run([compiler, f"-I{INCLUDE}", "-o", program, source, "-ldl"], check=True)
    return program


def built(name: str) -> Path:
    """What `make stacks` has built."""
    library = BUILT / name
    if not library.exists():
        pytest.skip(f"NO STACK: {library.relative_to(ROOT)} is missing; `make stacks` builds it")
    return library


@pytest.fixture(scope="session")
def compiler() -> str:
    """The C compiler."""
    found = shutil.which("cc")
    assert found, "a C compiler is a requirement"
    return found
