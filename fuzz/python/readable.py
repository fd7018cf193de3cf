"""What `check_readable` of stored tables does, by one process for all cases: to start one takes time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from thalweg.base.errors import RequestError
from thalweg.base.files.folder import find_file
from thalweg.engine.outcome import TABLES, Description

_READ = """
import sys, polars
for line in sys.stdin:
    try:
        with open(line.rstrip("\\n"), "rb") as data:
            polars.read_parquet(data)
        print("read", flush=True)
    except BaseException as error:
        print(repr(str(error).partition("\\n")[0]), flush=True)
"""


class Reader:
    """A process that reads tables, which may end it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def check_readable(self, folder: Path, scenarios: Sequence[Description]) -> None:
        """As `thalweg.results.tables.check_readable`."""
        paths = [PurePath(scenario.name, f"{table}.parquet") for scenario in scenarios for table in TABLES]
        for table_path in paths:
            file = find_file(folder, table_path)
            if file is not None and "\n" not in str(file) and (said := self._try(file)) != "read":
                raise RequestError(f"{file}: the result is damaged: {said}")

    def end(self) -> None:
        """Ends the process."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        """Starts the process; each that ended is replaced."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _READ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def _try(self, file: Path) -> str:
        self.start()
        assert self._process
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(f"{file.absolute()}\n")
            self._process.stdin.flush()
            said = self._process.stdout.readline().strip()
        except OSError:
            said = ""
        if not said:
            self._process.wait()
        return said or "this is not a Parquet file that can be read"
