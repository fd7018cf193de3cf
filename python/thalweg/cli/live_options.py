"""Options that are about real time alone, and those that are not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.base.errors import RequestError
from thalweg.cli.options import Stack, refuse_audit

USUAL_RETRIES = 2
"""A host that is busy for a moment is not so three times."""


@dataclass(frozen=True)
class LiveOptions:
    """What only trials in real time can be asked."""

    realtime: bool = False
    bound: str | None = None
    report: Path | None = None
    strict_timing: bool = False
    retry: int | None = None
    """How often a trial runs again that was not what its scenario describes; None for the usual number."""

    @property
    def attempts(self) -> int:
        """The most times that a trial runs."""
        return 1 + (USUAL_RETRIES if self.retry is None else self.retry)


def refuse_options(options: LiveOptions) -> None:
    """Refuses them for trials in virtual time. Raises RequestError."""
    if options != LiveOptions():
        raise RequestError(
            "--realtime, --bound, --report, --strict-timing and --retry apply to real time only; "
            "accepted: with --live"
        )


def refuse_virtual(stack: Stack | None, jobs: int, cluster: str | None, allow_unseeded: bool) -> None:
    """Refuses options that are about virtual time. Raises RequestError."""
    if allow_unseeded:
        raise RequestError("--allow-unseeded: trials in real time never repeat; accepted: without --live")
    refuse_audit()
    if jobs:
        raise RequestError("--jobs: trials in real time run one at a time; accepted: without --live")
    if cluster:
        raise RequestError("--cluster: trials in real time run on this machine; accepted: without --live")
    if stack is Stack.MODEL:
        raise RequestError("--stack model runs in virtual time only; accepted: quic, or without --live")
