"""Installs a wheel of a folder into a fresh environment of this Python, and does there what a new user does.

    python tests/packages/try_wheel.py dist [--everything] [--lowest]

Neither Rust nor the repository is at hand. The plain install must run a suite, draw a figure, run a study and
print the manual, in at most 310 MB; `--everything` installs all extras and tries what needs them; `--lowest` takes
the lowest versions of packages that pyproject.toml allows. Needs the standard library alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution
from pathlib import Path

MOST_MB = 310
"""With the manual and the page of the lab: at the lowest versions of packages it is 300."""
STUDY = ["study", "stacks", "-n", "1", "--scenario", "simple-20mbps", "--out", "study"]
PLAIN = [
    (["--version"], (0,)),
    (["new", "mine.toml"], (0,)),
    (["run", "mine.toml", "--plot", "mine.html"], (0,)),
    (["suite", "c4", "--only", "simple-20mbps", "--trials", "10", "--out", "results"], (0, 1)),
    (["replay", "results", "simple-20mbps", "worst"], (0,)),
    ([*STUDY, "--no-report"], (0, 2)),
]
"""Commands, and the statuses that are answers: 1, a verdict fails; 2, too few trials to tell."""
WITH_EXTRAS = [
    (["plot", "mine.toml", "-o", "mine.png"], (0,)),
    (["plot", "mine.toml", "--size", "88mm", "-o", "mine.pdf"], (0,)),
    ([*STUDY, "--figures", "figures"], (0, 2)),
    (["probe", "simulate", "mine.toml", "-o", "probe.csv", "--duration", "5s"], (0,)),
    (["probe", "analyze", "probe.csv", "-o", "probe.html"], (0,)),
]


class Environment:
    """A virtual environment in a folder, and another one in which commands run."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "environment", with_pip=True, symlinks=True)
        self._binaries = folder / "environment" / "bin"
        self.work = folder / "work"
        self.work.mkdir()
        # No cargo, no PYTHONPATH, nothing of the caller.
        self._variables = {"PATH": f"{self._binaries}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}

    def install(self, *words: str) -> None:
        """Installs packages with pip, as the caller has set it up."""
        kept = {
            name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()
        }
        if home := os.environ.get("HOME"):
            kept["HOME"] = home
        command = [
            str(self._binaries / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*command, *words], check=True, cwd=self.work, env={**self._variables, **kept})

    def thalweg(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command."""
        command = [str(self._binaries / "thalweg"), *words]
        return subprocess.run(
            command, check=False, cwd=self.work, env=self._variables, capture_output=True, text=True
        )

    def size_mb(self) -> float:
        """What the packages take, without pip itself."""
        (packages,) = (self._binaries.parent / "lib").glob("python*/site-packages")
        own = [package for package in packages.iterdir() if not package.name.startswith(("pip", "setuptools"))]
        found = (file for package in own for file in ([package] if package.is_file() else package.rglob("*")))
        files = [file for file in found if file.is_file()]
        return sum(file.stat().st_size for file in files if not file.is_symlink()) / 1e6

    def requirements(self) -> list[str]:
        """What the installed package asks for, without extras."""
        (info,) = (self._binaries.parent / "lib").glob("python*/site-packages/thalweg-*.dist-info")
        asked = Distribution.at(info).requires or []
        return [requirement for requirement in asked if "extra ==" not in requirement]


def lowest(requirements: list[str]) -> list[str]:
    """The lowest version of each package that a range allows.

    >>> lowest(["numpy>=2.1", "polars<3,>=2"])
    ['numpy==2.1.*', 'polars==2.*']
    """
    found = [re.match(r"([\w-]+).*>=([\d.]+)", requirement) for requirement in requirements]
    return [f"{match[1]}=={match[2]}.*" for match in found if match]


def attempt(place: Environment, commands: list[tuple[list[str], tuple[int, ...]]]) -> None:
    """Runs commands one after the other; ends the program at the first that does not answer."""
    for words, accepted in commands:
        done = place.thalweg(*words)
        if done.returncode not in accepted:
            sys.exit(f"thalweg {' '.join(words)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        print(f"thalweg {' '.join(words)}: status {done.returncode}")


def read_manual(place: Environment) -> None:
    """Prints pages of the manual that the wheel carries; ends the program if one is missing."""
    for words, begins in ((["docs"], "page"), (["docs", "scenarios"], "# "), (["docs", "how-to/ci"], "# ")):
        done = place.thalweg(*words)
        if done.returncode != 0 or not done.stdout.startswith(begins):
            sys.exit(f"thalweg {' '.join(words)}: status {done.returncode}\n{done.stdout[:500]}\n{done.stderr}")
    if place.thalweg("docs", "nowhere").returncode != 2:
        sys.exit("thalweg docs nowhere: a page that there is not was printed")
    print("thalweg docs: pages are there")


def main(words: list[str]) -> None:
    """Tries the wheel that suits this machine."""
    everything, least = "--everything" in words, "--lowest" in words
    wheels = Path(words[0]).resolve()
    (version,) = {re.split("-", wheel.name)[1] for wheel in wheels.glob("thalweg-*.whl")}
    with tempfile.TemporaryDirectory() as folder:
        place = Environment(Path(folder))
        place.install("--only-binary", ":all:", "--find-links", str(wheels), f"thalweg=={version}")
        if least:
            place.install("--only-binary", ":all:", *lowest(place.requirements()))
        print(f"Python {sys.version.split()[0]}: {place.size_mb():.0f} MB")
        if place.size_mb() > MOST_MB:
            sys.exit(f"the plain install takes more than {MOST_MB} MB")
        attempt(place, PLAIN)
        read_manual(place)
        refused = place.thalweg("plot", "mine.toml", "-o", "mine.png")
        if refused.returncode != 2 or 'pip install "thalweg[plots]"' not in refused.stderr:
            sys.exit(f"a picture without its extra: status {refused.returncode}\n{refused.stderr}")
        apart = place.thalweg("study", "wifi-compete")
        if apart.returncode != 2 or "needs the package thalweg_c4_history" not in apart.stderr:
            sys.exit(f"a study that no wheel has: status {apart.returncode}\n{apart.stderr}")
        early = place.thalweg("run", "c4/simple-20mbps", "--controller", "main=c4:variant=v1")
        if early.returncode != 2 or "is not in this build" not in early.stderr:
            sys.exit(f"a variant that no wheel has: status {early.returncode}\n{early.stderr}")
        for page in ("mine.html", "results/report.html"):
            assert (place.work / page).stat().st_size > 100_000, page
        if everything:
            place.install("--only-binary", ":all:", "--find-links", str(wheels), f"thalweg[all]=={version}")
            attempt(place, WITH_EXTRAS)
            print(f"with all extras: {place.size_mb():.0f} MB")
            assert (place.work / "study/report.html").stat().st_size > 100_000


if __name__ == "__main__":
    main(sys.argv[1:])
