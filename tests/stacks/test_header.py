"""`include/thalweg_stack.h` as compilers read it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from thalweg import _native

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "include" / "thalweg_stack.h"


@pytest.mark.parametrize("language", ["c -std=c99", "c -std=c23", "c++ -std=c++17"])
def test_the_header_is_good_in_c_and_in_cpp(compiler: str, language: str) -> None:
    name, standard = language.split()
    command = [compiler, "-x", name, standard.replace("c23", "c2x"), "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([*command, "-fsyntax-only", str(HEADER)], check=True)


def test_its_types_have_the_sizes_that_the_engine_reads(compiler: str, tmp_path: Path) -> None:
    # The same sums as in crates/stack-sdk/src/abi.rs.
    sizes = {
        "info": 4 + 4 + 3 * 8,
        "options": 4 + 4 + 32 + 32 + 8 + 5 * 8 + 4 + 4,
        "datagram": 8 + 8 + 4 + 4 + 8,
        "arrival": 8 + 8 + 4 + 4,
        "probes": 6 * 8 + 8,
    }
    checks = [f'_Static_assert(sizeof(thalweg_stack_{name}) == {size}, "{name}");' for name, size in sizes.items()]
    source = tmp_path / "sizes.c"
    source.write_text("\n".join(['#include "thalweg_stack.h"', *checks]) + "\n")
    subprocess.run([compiler, "-std=c11", f"-I{HEADER.parent}", "-fsyntax-only", str(source)], check=True)


def test_the_engine_knows_each_function_of_the_header_by_its_name() -> None:
    declared = set(re.findall(r"(thalweg_stack_\w+)\(", HEADER.read_text()))
    assert declared == {call for call in _native.STACK_CALLS if call.startswith("thalweg_stack_")}


def test_its_constants_are_those_of_the_engine() -> None:
    engine = (ROOT / "crates" / "stack-sdk" / "src" / "abi.rs").read_text()
    ours = dict(re.findall(r"pub const (\w+): \w+ = (-?[\d_]+);", engine))
    theirs = dict(re.findall(r"#define THALWEG_STACK_(\w+) \(?(-?\d+)\)?", HEADER.read_text()))
    ecn = {"NOT_ECT", "ECT1", "ECT0", "CE"}  # those of `Ecn` in crates/units
    assert {name: int(value) for name, value in ours.items()} == {
        name: int(value) for name, value in theirs.items() if name not in ecn
    }
    assert [int(theirs[name]) for name in ("NOT_ECT", "ECT1", "ECT0", "CE")] == [0b00, 0b01, 0b10, 0b11]
