"""`thalweg shell` and `thalweg rig`: the path of a scenario in real time, under any program."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.console import complain, flush, note, print_json, stdout
from thalweg.cli.options import (
    Bound,
    Format,
    Quiet,
    Realtime,
    ReportFile,
    ScenarioName,
    Seed,
    Settings,
    StrictTiming,
    check_writable,
    settings,
)
from thalweg.cli.shell.prompt import shell_with_prompt
from thalweg.cli.status import PASSED, UNFAITHFUL
from thalweg.engine.catalogue import find_scenario
from thalweg.realtime import LiveRequest, Peer, Rig, faithfulness, is_faithful, run_shell, write_report
from thalweg.realtime.peer import WITHIN, split
from thalweg.realtime.process import interrupts_passed_over
from thalweg.realtime.report import Report, reasons
from thalweg.realtime.rig import Host


def shell(
    scenario: ScenarioName,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- CMD", help="The command, after `--`; without one, a shell."),
    ] = None,
    peer: Annotated[
        str | None, typer.Option(metavar="CMD", help="Command for the host at the other end; it ends with CMD.")
    ] = None,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="tcp:PORT|udp:PORT|CMD",
            help="Begin when the peer has this socket, or when this command on its host ends with status 0.",
        ),
    ] = None,
    ready_within: Annotated[
        str | None, typer.Option(metavar="TIME", help=f'Longest wait for the peer ["{WITHIN}"].')
    ] = None,
    peer_output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the output of the peer [stderr, each line after `peer:`]."),
    ] = None,
    set_: Settings = None,
    seed: Seed = 1,
    realtime: Realtime = False,
    bound: Bound = None,
    strict_timing: StrictTiming = False,
    report: ReportFile = None,
    quiet: Quiet = False,
) -> int:
    """Run a command behind the path of a scenario, in real time.

    The command sees one network: the path (down is towards it) and a peer at the other end, `$THALWEG_PEER` or
    `$THALWEG_PEER6`. The exit status is the command's, or 2 if the peer cannot start, is not ready in time,
    or fails. SIGUSR1 prints statistics so far. Needs root or user namespaces.

    Example: `thalweg shell c4/bad-wifi --peer "python3 -m http.server 80" --ready tcp:80 -- curl http://198.51.100.1`
    """
    if not command and not sys.stdin.isatty():
        raise RequestError("a command is missing; accepted: thalweg shell SCENARIO -- CMD, or a terminal")
    other = _peer(peer, ready, ready_within, peer_output)
    if report:
        check_writable(report)
    request = _request(scenario, set_, seed, realtime, bound)
    where = " ".join([scenario, *(set_ or ())])
    with shell_with_prompt(command, where) as (words, variables):
        ended = run_shell(request, words, other, variables, _print_statistics)
    faithful = _tell(ended.report, report, quiet)
    return UNFAITHFUL if strict_timing and not faithful else ended.status


def rig(
    scenario: ScenarioName,
    left: Annotated[
        int, typer.Option(min=1, max=200, help="Number of hosts on the left, the side of the clients.")
    ] = 1,
    right: Annotated[
        int, typer.Option(min=1, max=200, help="Number of hosts on the right, the side of the servers.")
    ] = 1,
    set_: Settings = None,
    seed: Seed = 1,
    realtime: Realtime = False,
    bound: Bound = None,
    strict_timing: StrictTiming = False,
    report: ReportFile = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> int:
    """Set up hosts on both sides of the path of a scenario, until Ctrl-C.

    Prints for each host its addresses and the command that enters it with a shell, whose prompt names host and
    path; what runs there ends with the rig. Enter, or SIGUSR1, prints statistics so far.

    Example: `thalweg rig c4/bad-wifi --left 2`
    """
    if report:
        check_writable(report)
    request = _request(scenario, set_, seed, realtime, bound)
    where = " ".join([scenario, *(set_ or ())])
    with (
        interrupts_passed_over(),
        shell_with_prompt(None, where) as (words, variables),
        Rig(request, left, right, _print_statistics) as up,
    ):
        signal.signal(signal.SIGINT, lambda *_: up.stop())
        asked = signal.signal(signal.SIGUSR1, lambda *_: up.ask())
        if format_ is Format.JSON:
            hosts = [
                {"name": host.name, **vars(host), "enter": host.enter, "shell": _shell_in(host, words, variables)}
                for host in up.hosts
            ]
            print_json({"hosts": hosts})
        else:
            for host in up.hosts:
                entering = shlex.join(_shell_in(host, words, variables))
                stdout().print(f"{host}  {entering}", soft_wrap=True)
        flush()
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=_ask_on_enter, args=(up,), daemon=True).start()
            note("Enter shows statistics; Ctrl-C removes all hosts and ends what runs there")
        else:
            note("Ctrl-C removes all hosts and ends what runs there")
        up.wait()
        signal.signal(signal.SIGUSR1, asked)
    faithful = _tell(up.report or {}, report)
    return UNFAITHFUL if strict_timing and not faithful else PASSED


def _shell_in(host: Host, words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command that enters a host with a shell, whose prompt names the host and the path."""
    path = variables["THALWEG_PATH"]
    named = {name: text.replace(path, f"{host.name} {path}") for name, text in variables.items()}
    return [*host.enter, "env", *(f"{name}={text}" for name, text in named.items()), *words]


def _peer(command: str | None, ready: str | None, within: str | None, output: Path | None) -> Peer | None:
    """The peer that options describe. Raises RequestError."""
    if command is None:
        given = {"--ready": ready, "--ready-within": within, "--peer-output": output}
        if wrong := [name for name, value in given.items() if value is not None]:
            raise RequestError(f"{' and '.join(wrong)} {'requires' if len(wrong) == 1 else 'require'} --peer CMD")
        return None
    if within is not None and ready is None:
        raise RequestError("--ready-within requires --ready")
    return Peer(split(command, "--peer"), ready, within or WITHIN, output)


def _request(scenario: str, set_: list[str] | None, seed: int, realtime: bool, bound: str | None) -> LiveRequest:
    return LiveRequest.of_path(find_scenario(scenario), settings(set_), seed, realtime, bound)


def _print_statistics(report: Report) -> None:
    for line in faithfulness(report):
        note(line)


def _ask_on_enter(up: Rig) -> None:
    for _ in sys.stdin:
        up.ask()


def _tell(report: Report, file: Path | None, quiet: bool = False) -> bool:
    """Says how honest the run was, and writes it down; tells whether it was what the scenario describes."""
    if quiet:
        for reason in reasons(report):
            complain(reason, label="unfaithful: ")
    else:
        _print_statistics(report)
    if file:
        write_report(report, file)
    return is_faithful(report)
