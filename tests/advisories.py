"""Asks for advisories on the crates and packages of the locks: `make advisories`.

cargo-deny reads the database of RustSec, a git repository; pip-audit asks PyPI. What cannot be asked, because a
tool or its service is not there, is said and does not fail; an advisory that is found does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_PATIENCE_S = 180.0


def main() -> int:
    """Asks both; the status is 1 if there is an advisory."""
    found = [_crates(), _packages()]
    return 1 if any(found) else 0


def _crates() -> bool:
    if shutil.which("cargo-deny") is None:
        return _skipped("crates", "cargo-deny is not installed: cargo install cargo-deny --locked")
    checks = _run("cargo", "deny", "--offline", "check", "licenses", "bans", "sources")
    if checks.returncode != 0:
        print(checks.stderr or checks.stdout)
        return True
    asked = _run("cargo", "deny", "check", "advisories", GIT_TERMINAL_PROMPT="0")
    if "failed to fetch advisory database" in asked.stderr or asked.returncode == _LATE:
        return _skipped("crates", _cause(asked.stderr, "the database of advisories cannot be fetched"))
    print(asked.stderr if asked.returncode else "crates: no advisories")
    return asked.returncode != 0


def _packages() -> bool:
    tool = shutil.which("pip-audit")
    if tool is None:
        return _skipped("Python packages", "pip-audit is not installed: pipx install pip-audit")
    asked = _run(tool, "--disable-pip", "--no-deps", "--format", "json", "--requirement", "requirements.lock")
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:
        return _skipped("Python packages", _cause(asked.stderr, "pip-audit gave no answer"))
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    known = [package for package in packages if "skip_reason" not in package]
    for package in known:
        for advisory in package["vulns"]:
            print(f"{package['name']} {package['version']}: {advisory['id']}")
    if unknown:
        _skipped(f"{len(unknown)} of {len(packages)} Python packages", "the service does not know them")
    elif not any(package["vulns"] for package in known):
        print("Python packages: no advisories")
    return any(package["vulns"] for package in known)


_LATE = -1


def _run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, _LATE, "", f"no answer within {_PATIENCE_S:g} s")


def _cause(said: str, otherwise: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith("fatal:") or "rror" in line]
    return lines[-1] if lines else said.strip() or otherwise


def _skipped(what: str, reason: str) -> bool:
    print(f"SKIPPED: advisories on {what}: {reason}")
    return False


if __name__ == "__main__":
    sys.exit(main())
