"""`stack.toml`: the commands of a server and a client, so that they can be run under any condition.

    name   = "nginx and curl"
    server = "nginx -p {www} -c ..."
    client = "curl -sf -o /dev/null {url}"
    ready  = "tcp:8000"
    port   = 8000
    scheme = "http"

Commands are lines for `sh`, run in the folder of the file; words in braces stand for what a run gives them. With
`contract = "interop"` they follow the endpoint contract of the QUIC interop runner instead: variables say what to
do, and status 127 that they cannot. docs/how-to/live/bench.md has all keys.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.files.regular_file import read_regular
from thalweg.base.toml import read_toml

_LARGEST = 1 << 20
_TEXTS = {
    "name": 'a name for tables, such as "quiche"',
    "client": "a command, a line for sh",
    "server": "a command, a line for sh",
    "ready": '"tcp:8000", "udp:443", or a command',
    "ready_within": '"30 s"',
    "scheme": '"https" or "http"',
    "count": '"workload" or "packets"',
    "contract": '"interop", or no such key',
    "testcase": '"transfer", "http3", ...',
}
INTEROP = "interop"
_CHOICES = {"scheme": ("https", "http"), "count": ("workload", "packets"), "contract": (INTEROP,)}
_REQUIRED = ("name", "client")
UNSUPPORTED = 127
"""The status by which an endpoint says, after the contract, that it does not support a test case."""
_INTEROP_PORT = 443
PLACES = ("address", "port", "url", "file", "bytes", "www", "downloads", "qlog", "certificate", "key")
"""The words in braces."""
_PLACE = re.compile(r"\{\{|\}\}|(?<!\$)\{([a-z_]+)\}")


@dataclass(frozen=True)
class Room:
    """Where one side keeps its files."""

    folder: Path

    @property
    def www(self) -> Path:
        """What servers serve: a file of as many bytes as its name says."""
        return self.folder / "www"

    @property
    def downloads(self) -> Path:
        """Where clients put it."""
        return self.folder / "downloads"

    @property
    def qlog(self) -> Path:
        """Where both log."""
        return self.folder / "qlog"

    @property
    def certificates(self) -> Path:
        """`cert.pem` and `priv.key`, by the names of the contract."""
        return self.folder / "certs"


@dataclass(frozen=True)
class StackFile:
    """The commands of one stack."""

    name: str
    folder: Path
    """The folder of the file: where its commands run."""
    client: str
    server: str | None = None
    ready: str | None = None
    ready_within: str | None = None
    port: int = 4433
    scheme: str = "https"
    count: str = "workload"
    contract: str | None = None
    testcase: str = "transfer"

    @staticmethod
    def read(file: Path) -> StackFile:
        """Reads a file. Raises RequestError with the key and the accepted forms."""
        data = read_regular(file, _LARGEST, "a file that names a stack")
        return StackFile.of(read_toml(data, str(file)), file)

    @staticmethod
    def of(table: Mapping[str, Any], file: Path) -> StackFile:
        """Checks the keys of a file. Raises RequestError.

        >>> StackFile.of({"name": "a", "client": "get {url}", "port": 80}, Path("a.toml")).port
        80
        >>> StackFile.of({"name": "a", "clinet": "get"}, Path("a.toml"))
        Traceback (most recent call last):
        thalweg.base.errors.RequestError: a.toml: unknown key 'clinet'; did you mean client?
        """
        _check_keys(table, file)
        follows = table.get("contract") == INTEROP
        for key, given in (("testcase", not follows), ("port", follows), ("scheme", follows)):
            if key in table and given:
                how = "cannot be combined with" if follows else "requires"
                raise RequestError(f'{file}: {key} {how} contract = "{INTEROP}"')
        if follows and "server" not in table:
            raise RequestError(f'{file}: contract = "{INTEROP}" requires server')
        if "ready" in table and "server" not in table:
            raise RequestError(f"{file}: ready requires server")
        port = table.get("port", _INTEROP_PORT if follows else 4433)
        if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
            raise RequestError(f"{file}: port: {port!r} is out of range; accepted: 1 to 65535")
        ready = table.get("ready", f"udp:{_INTEROP_PORT}" if follows else None)
        folder = file.absolute().parent
        return StackFile(**{**table, "port": port, "ready": ready, "folder": folder})

    @property
    def needs_certificate(self) -> bool:
        """Whether a command names a certificate, or the contract does."""
        lines = f"{self.client} {self.server}"
        return self.contract is not None or "{certificate}" in lines or "{key}" in lines

    def command(self, room: Room, size: int) -> dict[str, str]:
        """The table `[flow.command]` of a flow that transfers so many bytes."""
        table = {"client": self._line("client", self.client, room, size), "count": self.count}
        if self.server is not None:
            table["server"] = self._line("server", self.server, room, size)
            if self.ready is not None:
                asked = _filled(self.ready, self._words("server", room, size))
                is_port = asked.startswith(("tcp:", "udp:"))
                table["ready"] = asked if is_port else "\n".join([self._enter, asked])
            if self.ready_within is not None:
                table["ready_within"] = self.ready_within
        return table

    @property
    def _enter(self) -> str:
        """The first line of each command."""
        return f"cd {shlex.quote(str(self.folder))} || exit"

    def _line(self, end: str, command: str, room: Room, size: int) -> str:
        words = self._words(end, room, size)
        steps = [self._enter]
        if self.contract == INTEROP:
            given = {
                "ROLE": end,
                "TESTCASE": self.testcase,
                "QLOGDIR": words["qlog"],
                "WWW": words["www"],
                "DOWNLOADS": words["downloads"],
                "CERTS": shlex.quote(str(room.certificates)),
            }
            if end == "client":
                given["REQUESTS"] = words["url"]
            steps += [f"export {name}={value}" for name, value in given.items()]
            # The contract has fixed names for these: in the namespace of the host, where such folders exist.
            steps += [
                f"if [ -d {at} ]; then mount --bind {place} {at} || :; fi"
                for at, place in (
                    ("/www", given["WWW"]),
                    ("/downloads", given["DOWNLOADS"]),
                    ("/certs", given["CERTS"]),
                )
            ]
        # Lines, and not one joined by "&&": of `a & b` both run in the folder.
        return "\n".join([*steps, _filled(command, words)])

    def _words(self, end: str, room: Room, size: int) -> dict[str, str]:
        """What the words in braces stand for. Addresses are variables that the run sets."""
        address = "$THALWEG_ADDRESS" if end == "server" else "$THALWEG_PEER"
        quoted = {
            "www": room.www,
            "downloads": room.downloads,
            "qlog": room.qlog,
            "certificate": room.certificates / "cert.pem",
            "key": room.certificates / "priv.key",
        }
        return {
            "address": address,
            "port": str(self.port),
            "url": f"{self.scheme}://{address}:{self.port}/{size}",
            "file": str(size),
            "bytes": str(size),
            **{name: shlex.quote(str(path)) for name, path in quoted.items()},
        }


def _check_keys(table: Mapping[str, Any], file: Path) -> None:
    """Refuses keys that are unknown or missing, and values that cannot be. Raises RequestError."""
    known = (*_TEXTS, "port")
    for key, value in table.items():
        if key not in known:
            raise RequestError(f"{file}: unknown key {key!r}{did_you_mean(key, known)}")
        if key in _TEXTS and not (isinstance(value, str) and value.strip() and "\0" not in value):
            raise RequestError(f"{file}: {key}: {value!r} cannot be used; accepted: {_TEXTS[key]}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise RequestError(f"{file}: {key}: {value!r} is not known; accepted: {_TEXTS[key]}")
    for key in _REQUIRED:
        if key not in table:
            raise RequestError(f"{file}: the key {key!r} is missing; accepted: {_TEXTS[key]}")
    for key in ("client", "server", "ready"):
        for word in _PLACE.findall(table.get(key, "")):
            if word and word not in PLACES:
                accepted = ", ".join(f"{{{place}}}" for place in (*PLACES, f"{{{word}}}"))
                raise RequestError(f"{file}: {key}: unknown word {{{word}}}; accepted: {accepted} for the shell")


def _filled(command: str, words: Mapping[str, str]) -> str:
    """A command with the words in braces replaced; two braces are one for the shell.

    >>> _filled("get {url} ${url} | awk '{{print}}'", {"url": "http://a/1"})
    "get http://a/1 ${url} | awk '{print}'"
    """
    return _PLACE.sub(lambda match: words[match[1]] if match[1] else match[0][0], command)
