"""Options that are only for real time, and options that are not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.base.errors import RequestError
from thalweg.base.quantity import seconds
from thalweg.cli.console import note
from thalweg.cli.options import check_writable, refuse_audit

if TYPE_CHECKING:
    from thalweg.realtime import Timing

USUAL_RETRIES = 2
"""A host that is busy for a moment is not so three times."""

ADVICE = (
    "end other programs, or give --realtime (root), a larger --retry, or a larger --bound if packets may be later"
)
"""Where trials were not what their scenarios describe."""


@dataclass(frozen=True)
class LiveOptions:
    """What only trials in real time can be asked."""

    realtime: bool = False
    bound: str | None = None
    report: Path | None = None
    strict_timing: bool = False
    retry: int | None = None
    """How often a trial runs again that was not what its scenario describes; None for the usual number."""
    capture: Path | None = None
    """A file for the packets."""

    def timing(self) -> Timing:
        """What each trial is asked; whoever runs it is told why it runs again. Raises RequestError."""
        from thalweg.realtime import Timing  # noqa: PLC0415 - only real time needs it

        if self.bound is not None:
            seconds(self.bound, "--bound")
        return Timing(self.realtime, self.bound, USUAL_RETRIES if self.retry is None else self.retry, note)


def check_capture(file: Path | None) -> None:
    """Refuses a file of packets that has another ending or cannot be written. Raises RequestError."""
    if file is None:
        return
    if file.suffix != ".pcapng":
        raise RequestError(f"--capture {file}: the name must end in .pcapng")
    check_writable(file)


def refuse_options(options: LiveOptions) -> None:
    """Refuses them for trials in virtual time. Raises RequestError."""
    if options != LiveOptions():
        raise RequestError("--realtime, --bound, --report, --strict-timing, --retry and --capture require --live")


def refuse_virtual(stack: str | None, jobs: int, cluster: str | None, allow_unseeded: bool) -> None:
    """Refuses options that are about virtual time. Raises RequestError."""
    if allow_unseeded:
        raise RequestError("--allow-unseeded cannot be combined with --live: trials in real time never repeat")
    refuse_audit()
    if jobs:
        raise RequestError("--jobs cannot be combined with --live: trials in real time run one at a time")
    if cluster:
        raise RequestError("--cluster cannot be combined with --live: trials in real time run on this machine")
    if stack and stack != "quic":
        raise RequestError(f"--stack {stack} cannot be combined with --live; --stack quic can")
