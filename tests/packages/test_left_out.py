"""What a native module says that is built without its features: one sentence, and no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.timeout(900), pytest.mark.soak]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package on such a module."""
    command = ["cargo", "build", "--profile", "work", "--locked", "--quiet", "--package", "thalweg-bindings"]
    named = {**os.environ, "PYO3_PYTHON": sys.executable}
    subprocess.run([*command, "--no-default-features"], cwd=ROOT, check=True, capture_output=True, env=named)
    (built,) = [file for file in (ROOT / "target/work").glob("lib_native.*") if file.suffix in {".so", ".dylib"}]
    folder = tmp_path_factory.mktemp("python")
    shutil.copytree(ROOT / "python/thalweg", folder / "thalweg", ignore=shutil.ignore_patterns("_native.abi3.so"))
    shutil.copytree(ROOT / "python/thalweg_c4_history", folder / "thalweg_c4_history")
    shutil.copy(built, folder / "thalweg/_native.abi3.so")
    return folder


def thalweg(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of that package."""
    command = [sys.executable, "-m", "thalweg", *words]
    named = {**os.environ, "PYTHONPATH": str(place)}
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, env=named)


@pytest.mark.parametrize(
    "words",
    [
        ["quic", "serve"],
        ["quic", "fingerprint"],
        ["quic", "get", "localhost", "--fingerprint", "00", "--download", "1MB"],
        ["study", "loopback", "--runs", "1"],
    ],
)
def test_quic_over_sockets_is_said_to_be_missing(place: Path, words: list[str]) -> None:
    done = thalweg(place, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: this build has no QUIC over sockets: it was made without the feature quic-sockets, "
        "which make build has\n"
    )


def test_trials_on_the_quic_stack_need_no_sockets(place: Path) -> None:
    done = thalweg(place, "run", "c4/simple-20mbps", "--stack", "quic", "-n", "1")
    assert done.returncode == 0, done.stderr


def test_a_variant_of_the_history_of_c4_is_said_to_be_missing(place: Path) -> None:
    done = thalweg(place, "study", "wifi-compete", "--trials", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not in this build" in done.stderr
    assert "from the crate thalweg-c4-history" in done.stderr
    assert done.stderr.count("\n") == 1
