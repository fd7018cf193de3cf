"""Options that are about real time alone, and those that are not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.cli.options import Stack, refuse_audit
from thalweg.errors import RequestError


@dataclass(frozen=True)
class LiveOptions:
    """What only trials in real time can be asked."""

    realtime: bool
    bound: str | None
    report: Path | None


def refuse_options(options: LiveOptions) -> None:
    """Refuses them for trials in virtual time. Raises RequestError."""
    if options != LiveOptions(False, None, None):
        raise RequestError("--realtime, --bound and --report are about real time; accepted: with --live")


def refuse_virtual(stack: Stack | None, jobs: int, allow_unseeded: bool) -> None:
    """Refuses options that are about virtual time. Raises RequestError."""
    if allow_unseeded:
        raise RequestError("--allow-unseeded: no trial in real time repeats; accepted: without --live")
    refuse_audit()
    if jobs:
        raise RequestError("--jobs: trials in real time take place one after the other; accepted: without --live")
    if stack is Stack.MODEL:
        raise RequestError("--stack model runs in virtual time only; accepted: quic, or without --live")
