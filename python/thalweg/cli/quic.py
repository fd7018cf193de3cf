"""`thalweg quic`: the QUIC stack over UDP sockets."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.base.errors import RequestError
from thalweg.base.quantity import percent, seconds, size, text
from thalweg.cli.commands.later import Group
from thalweg.cli.console import Bar, complain, note, print_json, say, stdout
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Format, check_writable
from thalweg.cli.status import FAILED, INTERRUPTED, PASSED
from thalweg.engine.trace import Trace
from thalweg.realtime.quic import (
    Identity,
    QuicError,
    QuicServer,
    Request,
    ServerOptions,
    default_identity_file,
    fetch,
)
from thalweg.realtime.quic.client import Workload

quic = typer.Typer(
    name="quic",
    cls=Group,
    help="Transfer data over UDP sockets with a real QUIC stack and any controller; see `thalweg docs quic`.",
    no_args_is_help=True,
)

PORT = 4433
_LONGEST_CALL_S, _LARGEST = 3600.0, 10**13
_KEPT = 1000
"""Reports that a server with `--format json` keeps for its document."""

Port = Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="UDP port of the server.")]
IdentityFile = Annotated[
    Path | None,
    typer.Option(
        "--identity", metavar="FILE.pem", help="Certificate and key; created if the file does not exist."
    ),
]
Controller = Annotated[
    str, typer.Option("--controller", "-c", metavar="NAME", help="Controller of the local sender.")
]
Idle = Annotated[str, typer.Option(metavar="TIME", help="Idle timeout.")]
Answer = Annotated[Format, typer.Option("--format", help="Output format.")]


@quic.command("serve")
def serve(
    bind: Annotated[
        str | None, typer.Option("--bind", metavar="ADDRESS", help="Listen on this address only [all addresses].")
    ] = None,
    port: Port = PORT,
    identity: IdentityFile = None,
    controller: Controller = "c4",
    clients_choose: Annotated[
        bool, typer.Option("--clients-choose", help="Let clients choose the server's controller.")
    ] = False,
    connections: Annotated[int, typer.Option(min=1, max=4096, help="Concurrent connections.")] = 64,
    half_open: Annotated[
        int,
        typer.Option(min=4, max=4096, help="Concurrent handshakes; above a quarter of this, clients get a Retry."),
    ] = 32,
    idle: Idle = "10s",
    once: Annotated[bool, typer.Option("--once", help="End after one request.")] = False,
    duration: Annotated[
        str | None, typer.Option("--duration", "-d", metavar="TIME", help="End after this time.")
    ] = None,
    qlog: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a qlog of each connection: 1.sqlog, 2.sqlog, ...")
    ] = None,
    format_: Answer = Format.TABLE,
) -> int:
    """Serve downloads, uploads and calls until Ctrl-C. A client needs the printed fingerprint.

    Example: `thalweg quic serve --controller cubic`
    """
    lasts = None if duration is None else seconds(duration, "--duration")
    if qlog and not qlog.is_dir():
        raise RequestError(f"cannot write to {qlog}: there is no such folder")
    options = ServerOptions(
        controller, clients_choose, connections, half_open, _silence(idle), trace=qlog is not None
    )
    own = _own(identity)
    reports: list[dict[str, Any]] = []
    problems: list[str] = []
    served = 0

    def tell(report: dict[str, Any], trace: Trace | None) -> None:
        nonlocal served
        served += 1
        if format_ is Format.JSON:
            reports.append(report)
            del reports[:-_KEPT]
        else:
            stdout().print(_line(report))
        if qlog and trace:
            try:
                trace.save(qlog / f"{served}.sqlog", "server")
            except RequestError as error:
                # The others are served all the same.
                problems.append(str(error))
                complain(str(error))

    with stopped_by_terminate():
        server = _listen(bind, port, own, options)
        address, at = server.address
        note(f"QUIC server at {address} UDP port {at}, controller {controller}; Ctrl-C ends it")
        note(f"fingerprint {server.fingerprint}")
        try:
            totals, _ = server.serve(tell, lasts, once)
        except QuicError as error:
            complain(str(error))
            return FAILED
    if format_ is Format.JSON:
        print_json(
            {
                "address": address,
                "port": at,
                "fingerprint": server.fingerprint,
                "controller": controller,
                "connections": reports,
                "totals": totals,
            }
        )
    else:
        note(", ".join(f"{name} {count}" for name, count in totals.items()))
    return FAILED if problems or (once and totals["failed"]) else PASSED


@quic.command("get")
def get(
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="Name or address of a host where `thalweg quic serve` runs.")
    ],
    download: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Bytes from the server, e.g. 100MB.")
    ] = None,
    upload: Annotated[str | None, typer.Option(metavar="SIZE", help="Bytes to the server.")] = None,
    call: Annotated[str | None, typer.Option(metavar="TIME", help="Audio and video, both ways.")] = None,
    port: Port = PORT,
    fingerprint: Annotated[
        str | None,
        typer.Option(
            metavar="HEX", help="Fingerprint of the server's certificate [your own server's on this host]."
        ),
    ] = None,
    controller: Controller = "c4",
    server_controller: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Controller of the server's sender; requires a server with --clients-choose."
        ),
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest wait for the handshake.")] = "5s",
    idle: Idle = "10s",
    qlog: Annotated[
        Path | None, typer.Option(metavar="FILE.sqlog", help="Write a qlog of the client's sender.")
    ] = None,
    format_: Answer = Format.TABLE,
) -> int:
    """Download, upload, or make a media call.

    Example: `thalweg quic get 192.0.2.7 --download 100MB --fingerprint HEX`
    """
    workload, amount = _workload(download, upload, call)
    if qlog:
        if qlog.suffix != ".sqlog":
            raise RequestError(f"--qlog {qlog}: the name must end in .sqlog")
        check_writable(qlog)
    if port == 0:
        raise RequestError("--port 0: expected the port of a server, 1 to 65535")
    patience = seconds(timeout, "--timeout")
    if not 0 < patience <= 600:
        raise RequestError(f"--timeout {timeout!r}: expected more than 0s and at most 600s")
    pin = fingerprint or _own_fingerprint()
    wanted = Request(host, port, pin, workload, amount, controller, server_controller, patience, _silence(idle))
    total = round(amount / 1e6)
    with stopped_by_terminate(), Bar() as bar:
        try:
            fetched = fetch(
                wanted,
                trace=qlog is not None,
                on_progress=lambda moved: bar.show(f"{workload} (MB)", moved // 10**6, total) if total else None,
            )
        except QuicError as error:
            complain(str(error))
            return FAILED
        except KeyboardInterrupt:
            complain("interrupted", label="")
            return INTERRUPTED
    if format_ is Format.JSON:
        print_json(fetched.summary)
    else:
        for line in _lines(fetched.summary):
            stdout().print(line)
    if qlog and fetched.trace:
        fetched.trace.save(qlog, "client")
        note(f"wrote {qlog}")
    return PASSED


@quic.command("fingerprint")
def show_fingerprint(identity: IdentityFile = None) -> int:
    """Print the fingerprint of your own server; creates its certificate if needed.

    Example: `thalweg quic fingerprint`
    """
    say(_own(identity).fingerprint)
    return PASSED


def _listen(bind: str | None, port: int, identity: Identity, options: ServerOptions) -> QuicServer:
    """Everywhere means both IP versions, where the host has both."""
    if bind is not None:
        try:
            ipaddress.ip_address(bind)
        except ValueError:
            raise RequestError(f"--bind {bind!r}: accepted: an IPv4 or IPv6 address") from None
        return QuicServer(bind, port, identity, options)
    try:
        return QuicServer("::", port, identity, options)
    except RequestError as error:
        if "not supported" not in str(error):
            raise
        return QuicServer("0.0.0.0", port, identity, options)


def _own(file: Path | None) -> Identity:
    """The identity in a file, or this user's."""
    path = file or default_identity_file()
    identity, is_new = Identity.of(path)
    if is_new:
        note(f"created a certificate and its key: {path}")
    return identity


def _own_fingerprint() -> str:
    file = default_identity_file()
    if not file.exists():
        raise RequestError("--fingerprint is missing; `thalweg quic serve` shows it at the server")
    return Identity.read(file).fingerprint


def _workload(download: str | None, upload: str | None, call: str | None) -> tuple[Workload, float]:
    given: list[tuple[Workload, float]] = []
    if download is not None:
        given.append(("download", size(download, "--download")))
    if upload is not None:
        given.append(("upload", size(upload, "--upload")))
    if call is not None:
        given.append(("call", seconds(call, "--call")))
    if len(given) != 1:
        raise RequestError("a transfer requires one of --download SIZE, --upload SIZE and --call TIME")
    workload, amount = given[0]
    if workload == "call" and not 0 < amount <= _LONGEST_CALL_S:
        raise RequestError(f"--call {call!r}: expected more than 0s and at most 1h")
    if workload != "call" and not 1 <= amount <= _LARGEST:
        raise RequestError(f"--{workload} {download or upload!r}: expected 1B to 10000GB")
    return workload, amount


def _silence(idle: str) -> float:
    silence = seconds(idle, "--idle")
    if not 0.1 <= silence <= 600:
        raise RequestError(f"--idle {idle!r}: expected 100ms to 600s")
    return silence


def _line(report: dict[str, Any]) -> str:
    """A connection that a server has served."""
    what = f"{report['client']}  {report['workload']}"
    if report["error"]:
        return f"{what}  failed after {text(report['elapsed_s'], 's')}: {report['error']}"
    return f"{what}  {_moved(report)}  {_sender(report['sender'])}"


def _lines(summary: dict[str, Any]) -> list[str]:
    """What a client has to say."""
    lines = [
        f"{summary['workload']}  {_moved(summary)}  (handshake {text(summary['handshake_s'], 's', 3)})",
        f"client  {_sender(summary['client'])}",
        f"server  {_sender(summary['server_sender'])}",
    ]
    for side in ("client", "server"):
        heard = summary[f"heard_by_{side}"]
        for kind in ("audio", "video") if heard else ():
            track = heard[kind]
            mean, p95, most = (text(track[f"{of}_delay_s"], "s", 3) for of in ("mean", "p95", "max"))
            frames = f"{track['received']} of {track['frames']} frames, {track['late']} late"
            delays = f"beyond the fastest: mean {mean}, p95 {p95}, max {most}"
            lines.append(f"{side} heard {kind}: {frames}; {delays}")
    return lines


def _moved(report: dict[str, Any]) -> str:
    took = text(report["elapsed_s"], "s")
    if report["bytes"] is None:
        return took
    return f"{text(report['bytes'], 'B')} in {took}, {text(report['goodput_bps'], 'bps')}"


def _sender(sender: dict[str, Any]) -> str:
    lost, sent = sender["packets_lost"], sender["packets_sent"]
    rtt = f"RTT min {text(sender['min_rtt_s'], 's', 3)}, mean {text(sender['mean_rtt_s'], 's', 3)}"
    return f"{sender['controller']}: {sent} packets, {lost} lost ({percent(lost / max(sent, 1))}), {rtt}"
