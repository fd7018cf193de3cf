"""The wheel works in fresh environments of two versions of Python, without Rust and without the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from packages.try_wheel import lowest

ROOT = Path(__file__).parents[2]
TRY = Path(__file__).with_name("try_wheel.py")
pytestmark = [pytest.mark.timeout(900), pytest.mark.soak]


def pythons() -> dict[str, str]:
    """Interpreters of this machine that the package supports, by version: the oldest and the newest."""
    installed = [path for minor in range(11, 20) if (path := shutil.which(f"python3.{minor}"))]
    by_pyenv = [str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python3")]
    found: dict[str, str] = {}
    for path in [sys.executable, *installed, *by_pyenv]:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        version = re.search(r"3\.(\d+)", said.stdout)
        if version is not None and int(version.group(1)) >= 11:
            found.setdefault(version.group(), path)
    ordered = sorted(found, key=lambda version: int(version.partition(".")[2]))
    return {version: found[version] for version in dict.fromkeys((ordered[0], ordered[-1]))}


PYTHONS = pythons()


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the native module that is built already, with the manual."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "--silent", "manual"], cwd=ROOT, check=True, capture_output=True)
    command = [str(Path(sys.executable).with_name("maturin")), "build", "--release", "--locked", "--quiet"]
    subprocess.run([*command, "--out", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return folder


def attempt(python: str, dist: Path, *options: str) -> str:
    done = subprocess.run([python, str(TRY), str(dist), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_works_with_every_extra_on_the_newest_python(dist: Path) -> None:
    *_, newest = PYTHONS.values()
    said = attempt(newest, dist, "--everything")
    assert "with all extras" in said


def test_the_wheel_works_with_the_lowest_versions_on_the_oldest_python(dist: Path) -> None:
    oldest, *_ = PYTHONS.values()
    attempt(oldest, dist, "--lowest")


def test_there_are_two_versions_of_python_to_try() -> None:
    if len(PYTHONS) < 2:
        pytest.skip(f"this machine has Python {', '.join(PYTHONS)} alone")
    assert "3.11" in PYTHONS


def test_a_wheel_is_for_every_python_from_the_oldest_on_and_holds_what_is_read_at_run_time(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "suites/c4/simple-20mbps.toml",
        "pages/figures/vega/vega.min.js",
        "cli/start.toml",
        "py.typed",
        "_native.pyi",
    ):
        assert f"thalweg/{needed}" in names, needed
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {name.removeprefix("thalweg/manual/pages/") for name in names if "/manual/pages/" in name} == pages
    assert {name.split("/")[0] for name in names} == {"thalweg", f"{wheel.name.split('-cp')[0]}.dist-info"}


def test_a_source_distribution_holds_what_a_build_reads_and_no_more(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("maturin")), "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tops = {tuple(name.split("/")[1:3]) for name in tar.getnames()}
        root = archive.name.removesuffix(".tar.gz")
        manifest = tar.extractfile(f"{root}/crates/bindings/Cargo.toml")
        assert manifest is not None
        needed = set(re.findall(r"thalweg-(\w+)\.workspace", manifest.read().decode()))
    assert ("crates", "bindings") in tops
    assert {("crates", name) for name in needed} <= tops
    files = {
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "PKG-INFO",
        "README.md",
        "pyproject.toml",
    }
    assert {top for top, *_ in tops} == {"crates", "python", *files}


def test_the_lowest_versions_are_read_from_ranges() -> None:
    assert lowest(["jinja2<4,>=3.1", "numpy>=2.1", "rich"]) == ["jinja2==3.1.*", "numpy==2.1.*"]
