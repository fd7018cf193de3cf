"""Shared by tests in real time: a path, commands behind it, and whether real time works here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from short_download import SCENARIO
from thalweg.base.errors import RequestError
from thalweg.realtime import LiveRequest, run_shell

PATH = SCENARIO.replace("200 kB", "1 MB")


def _refusal() -> str | None:
    """Why nothing can run in real time here; None if it can."""
    try:
        run_shell(LiveRequest(PATH, "path.toml"), ["true"])
    except RequestError as error:
        return str(error)
    return None


REFUSAL = _refusal()
needs_rights = pytest.mark.skipif(REFUSAL is not None, reason=f"no real time here: {REFUSAL}")


def shell(*command: str, toml: str = PATH, peer: list[str] | None = None, **options: Any) -> Any:
    return run_shell(LiveRequest(toml, "path.toml", **options), command, peer)


def networks() -> set[str]:
    """All network namespaces that a process is in or has a hold on."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(path.readlink()))
        except OSError:
            continue
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            target = str(path.readlink())
        except OSError:
            continue
        if target.startswith("net:"):
            found.add(target)
    return found
