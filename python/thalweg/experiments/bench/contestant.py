"""One side of a bench under one condition: its scenario is made again for each attempt, and its files are kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.base.errors import RealTimeError, RequestError
from thalweg.base.toml import read_toml
from thalweg.engine.catalogue import Entry
from thalweg.experiments.bench.side import Side
from thalweg.experiments.bench.stack_file import UNSUPPORTED, Room
from thalweg.realtime import LiveScenario, LiveTrial, Recording


@dataclass(frozen=True)
class Contestant:
    """What the executor of real time plays."""

    side: Side
    entry: Entry
    overrides: Sequence[tuple[str, str]]
    room: Room
    kept: Path | None
    """How the folders begin that keep packets, logs and qlog, one for each seed; None to keep none."""

    @property
    def name(self) -> str:
        """The side and the condition."""
        return f"{self.side.name}, {self.entry.name}"

    def scenario(self) -> LiveScenario:
        """The scenario of an attempt, without what the one before has left. Raises RequestError."""
        return self.side.scenario(self.entry, self.overrides, self.room)

    def check(self) -> None:
        """Refuses what the emulator would refuse. Raises RequestError."""
        if len(read_toml(self.scenario().toml, self.entry.source_name).get("link", ())) > 1:
            raise RequestError(
                f"{self.entry.reference}: real time requires a path with one hop: a [path], or a single [[link]]"
            )

    def run(
        self, seed: int, *, realtime: bool = False, bound: str | None = None, recording: Recording | None = None
    ) -> LiveTrial:
        """One attempt; without `kept` it keeps what `recording` says. Raises RequestError."""
        folder = self.kept and self.kept.with_name(f"{self.kept.name}-{seed}")
        if folder:
            shutil.rmtree(folder / "qlog", ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            recording = Recording(logs=folder, capture=folder / "packets.pcapng")
        try:
            done = self.scenario().run(seed, realtime=realtime, bound=bound, recording=recording)
        except RealTimeError as error:
            raise RealTimeError(f"{self.name}, seed {seed}: {error}{self._unsupported(error)}") from None
        if folder and self.room.qlog.is_dir():
            self._keep_qlog(folder / "qlog")
        return done

    def _keep_qlog(self, folder: Path) -> None:
        for file in sorted(self.room.qlog.rglob("*")):
            if file.is_file() and not file.is_symlink():
                kept = folder / file.relative_to(self.room.qlog)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(file, kept)

    def _unsupported(self, error: RealTimeError) -> str:
        """What the status of an endpoint means that follows the contract of the interop runner."""
        stack = self.side.stack
        if stack is None or stack.contract is None or f"status {UNSUPPORTED}" not in str(error):
            return ""
        return (
            f" (by the contract, status {UNSUPPORTED} says that the test case "
            f'"{stack.testcase}" is not supported; by a shell, that a command was not found)'
        )
