"""`thalweg shell` and `thalweg rig`: the path of a scenario in real time, under any program."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path
from typing import Annotated

import typer

from thalweg.catalogue import find_scenario
from thalweg.cli.console import note, print_json, stdout
from thalweg.cli.options import Bound, Format, Realtime, ReportFile, Seed, Settings, check_writable, settings
from thalweg.cli.status import PASSED
from thalweg.errors import RequestError
from thalweg.live import LiveRequest, Rig, faithfulness, run_shell, write_report
from thalweg.live.process import interrupts_passed_over


def shell(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario (c4/bad-wifi) or a file.")],
    command: Annotated[list[str] | None, typer.Argument(metavar="-- CMD", help="The command, after `--`.")] = None,
    peer: Annotated[
        str | None, typer.Option(metavar="CMD", help="A command for the host at the other end, while CMD runs.")
    ] = None,
    set_: Settings = None,
    seed: Seed = 1,
    realtime: Realtime = False,
    bound: Bound = None,
    report: ReportFile = None,
) -> int:
    """Run a command behind the path of a scenario, in real time.

    The command sees one network: the path (down is towards it) and a peer at the other end, `$THALWEG_PEER` or
    `$THALWEG_PEER6`. The exit status is that of the command. Needs root or user namespaces.
    """
    if not command:
        raise RequestError("a command is missing; accepted: thalweg shell SCENARIO -- CMD")
    if report:
        check_writable(report)
    request = _request(scenario, set_, seed, realtime, bound)
    ended = run_shell(request, command, shlex.split(peer) if peer else None)
    _tell(ended.report, report)
    return ended.status


def rig(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario (c4/bad-wifi) or a file.")],
    left: Annotated[int, typer.Option(min=1, max=200, help="Hosts where the clients are.")] = 1,
    right: Annotated[int, typer.Option(min=1, max=200, help="Hosts where the servers are.")] = 1,
    set_: Settings = None,
    seed: Seed = 1,
    realtime: Realtime = False,
    bound: Bound = None,
    report: ReportFile = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print the hosts.")] = Format.TABLE,
) -> int:
    """Set up hosts on both sides of the path of a scenario, until Ctrl-C.

    Prints for each host its addresses and the command that enters it; what runs there ends with the rig.
    """
    if report:
        check_writable(report)
    request = _request(scenario, set_, seed, realtime, bound)
    with interrupts_passed_over(), Rig(request, left, right) as up:
        signal.signal(signal.SIGINT, lambda *_: up.stop())
        if format_ is Format.JSON:
            hosts = [{"name": host.name, **vars(host), "enter": host.enter} for host in up.hosts]
            print_json({"hosts": hosts})
        else:
            for host in up.hosts:
                stdout().print(str(host), soft_wrap=True)
        stdout().file.flush()
        note("Ctrl-C removes all hosts and ends what runs there")
        up.wait()
    _tell(up.report or {}, report)
    return PASSED


def _request(scenario: str, set_: list[str] | None, seed: int, realtime: bool, bound: str | None) -> LiveRequest:
    return LiveRequest.of_path(find_scenario(scenario), settings(set_), seed, realtime, bound)


def _tell(report: dict[str, object], file: Path | None) -> None:
    for line in faithfulness(report):
        note(line)
    if file:
        write_report(report, file)
