"""Hosts around a path, for work that takes more than one command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from thalweg.realtime.process import LiveProcess, LiveRequest
from thalweg.realtime.report import Report


@dataclass(frozen=True)
class Host:
    """One host: namespaces that live as long as the rig."""

    side: str
    """`left` (where clients are) or `right`."""
    number: int
    address: str
    address6: str | None
    """None if the kernel has no IPv6."""
    process: int
    """The first process of its namespaces."""
    in_user_namespace: bool

    @property
    def name(self) -> str:
        """Side and number: `left1`."""
        return f"{self.side}{self.number}"

    @property
    def enter(self) -> list[str]:
        """The prefix of a command to run it there. It ends with the rig."""
        user = ["--user", "--preserve-credentials"] if self.in_user_namespace else []
        return ["nsenter", "--target", str(self.process), *user, "--mount", "--net", "--pid"]

    def __str__(self) -> str:
        """Its name and addresses."""
        return f"{self.name}  {self.address}  {self.address6 or ''}".rstrip()


class Rig:
    """Left and right hosts around the path of a scenario, until `close` or the end of this process.

    Use it as a context; `report` is available after its end.
    """

    def __init__(
        self,
        request: LiveRequest,
        left: int,
        right: int,
        on_statistics: Callable[[Report], None] | None = None,
    ) -> None:
        task = {"kind": "rig", "left": left, "right": right}
        self._process = LiveProcess(request, task, on_statistics=on_statistics)
        self.hosts = [Host(**host) for host in self._process.answer()["hosts"]]
        self.report: Report | None = None

    def wait(self) -> None:
        """Waits for a stop request, such as Ctrl-C."""
        if self.report is None:
            self.report = self._process.answer()["ended"]["report"]
            self._process.close()

    def ask(self) -> None:
        """Asks how the run is so far: `wait` tells `on_statistics`."""
        self._process.ask()

    def stop(self) -> None:
        """Tells the rig to end; `wait` returns soon after."""
        self._process.stop()

    def close(self) -> None:
        """Removes the hosts and everything that runs there."""
        if self.report is None:
            self.stop()
            self.wait()

    def __enter__(self) -> Rig:
        """The rig is up."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the hosts."""
        self.close()
