"""`thalweg probe`: measures the round-trip times of a path and says what they show."""

from __future__ import annotations

import contextlib
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.base.errors import RequestError
from thalweg.base.extras import require
from thalweg.base.files.whole_file import whole_file
from thalweg.base.quantity import seconds
from thalweg.cli.commands.later import Group
from thalweg.cli.console import Bar, complain, note, print_json, stdout
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.cli.options import Format, ScenarioName, Seed, Settings, check_writable, settings
from thalweg.cli.status import INTERRUPTED, PASSED
from thalweg.engine.catalogue import find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.probe.jitter_trace import Direction
from thalweg.probe.wire import PORT

if TYPE_CHECKING:
    from thalweg.probe.series import Series

probe = typer.Typer(
    name="probe",
    cls=Group,
    help="Measure the round-trip times of a path, and analyze them; see `thalweg docs probe`.",
    no_args_is_help=True,
)

_SHORTEST_INTERVAL_S, _LONGEST_S, _MOST_PROBES = 1e-3, 86_400.0, 10_000_000

Port = Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="UDP port of the server.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", metavar="FILE", help="A file with a secret that client and server share."),
]
Interval = Annotated[str, typer.Option("--interval", "-i", metavar="TIME", help="Time between two probes.")]
Length = Annotated[str, typer.Option("--duration", "-d", metavar="TIME", help="Duration of the series.")]


@probe.command("serve")
def serve(
    bind: Annotated[
        str | None, typer.Option("--bind", metavar="ADDRESS", help="Listen on this address only [all addresses].")
    ] = None,
    port: Port = PORT,
    key_file: KeyFile = None,
    rate: Annotated[float, typer.Option("--rate", min=1, help="Requests per second of each client.")] = 1000,
    clients: Annotated[int, typer.Option("--clients", min=1, help="Clients at a time, by address.")] = 64,
    duration: Annotated[
        str | None, typer.Option("--duration", "-d", metavar="TIME", help="End after this time.")
    ] = None,
) -> int:
    """Return probes to their senders until Ctrl-C. A reply is never larger than its request.

    Example: `thalweg probe serve --duration 1h`
    """
    import time  # noqa: PLC0415

    from thalweg.probe.server import Server  # noqa: PLC0415

    key = _key(key_file)
    lasts = None if duration is None else seconds(duration, "--duration")
    with Server(bind, port, key, rate, clients) as server, stopped_by_terminate():
        note(f"probe server at {bind or 'all addresses'}, UDP port {server.port}; Ctrl-C ends it")
        end = None if lasts is None else time.monotonic() + lasts
        with contextlib.suppress(KeyboardInterrupt):
            server.serve(lambda: end is None or time.monotonic() < end)
        totals = server.totals
    note(
        f"answered {totals.answered}, challenged to prove their address {totals.challenged}, "
        f"not valid requests {totals.refused}, of another version {totals.other_version}, "
        f"beyond the limits {totals.limited}"
    )
    return PASSED


@probe.command("run")
def run(
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="Name or address of a host where `thalweg probe serve` runs.")
    ],
    output: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The series: .csv or .csv.gz.")],
    interval: Interval = "20ms",
    duration: Length = "75s",
    port: Port = PORT,
    patience: Annotated[
        str, typer.Option("--patience", metavar="TIME", help="Longest wait for the first and the last reply.")
    ] = "3s",
    key_file: KeyFile = None,
    ipv4: Annotated[bool, typer.Option("--ipv4", "-4", help="Use IPv4 only.")] = False,
    ipv6: Annotated[bool, typer.Option("--ipv6", "-6", help="Use IPv6 only.")] = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> int:
    """Probe a host and store the measurement. Ctrl-C ends it and keeps what was measured.

    Example: `thalweg probe run 192.0.2.7 -o probe.csv.gz`
    """
    from thalweg.probe.client import Plan, measure  # noqa: PLC0415

    pace, lasts = _pace(interval, duration)
    if ipv4 and ipv6:
        raise RequestError("--ipv4 and --ipv6: choose one of them")
    family = socket.AF_INET if ipv4 else socket.AF_INET6 if ipv6 else socket.AF_UNSPEC
    waits = seconds(patience, "--patience")
    if not 0.01 <= waits <= 60:
        raise RequestError(f"--patience {patience!r}: expected 10ms to 60s")
    if port == 0:
        raise RequestError("--port 0: expected the port of a server, 1 to 65535")
    _check_series_file(output)
    plan = Plan(host, port, pace, lasts, waits, _key(key_file), family)
    began = datetime.now(UTC).isoformat(timespec="seconds")
    with stopped_by_terminate(), Bar() as bar:
        measured = measure(plan, lambda done, total: bar.show(f"probing {host}", done, total))
    remark = f"thalweg probe of {host} port {port}, a probe every {pace * 1e3:g} ms, {began}"
    _store(measured.series, output, remark, format_)
    if measured.interrupted:
        complain(f"interrupted: {len(measured.series.sent)} probes were sent and are stored", label="")
        return INTERRUPTED
    return PASSED


@probe.command("simulate")
def simulate(
    scenario: ScenarioName,
    output: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The series: .csv or .csv.gz.")],
    interval: Interval = "20ms",
    duration: Length = "75s",
    set_: Settings = None,
    seed: Seed = 1,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> int:
    """Probe the otherwise idle path of a scenario in virtual time, and store the measurement.

    Example: `thalweg probe simulate c4/bad-wifi -o probe.csv.gz`
    """
    from thalweg.probe.simulated import simulate_probe  # noqa: PLC0415

    pace, lasts = _pace(interval, duration)
    _check_series_file(output)
    loaded = Scenario.from_entry(find_scenario(scenario), settings(set_), ())
    series = simulate_probe(loaded, seed, pace, lasts)
    if not series.answered.any():
        raise RequestError(f"no probe returns on the path of {scenario}")
    _store(series, output, f"thalweg probe of scenario {loaded.name} in virtual time, seed {seed}", format_)
    return PASSED


@probe.command("analyze")
def analyze(
    files: Annotated[list[Path], typer.Argument(help="Files of `probe run`, octoping or irtt.", metavar="FILE")],
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", "--plot", metavar="FILE.html", help="Write the figures as one page."),
    ] = None,
) -> int:
    """Analyze probes: delays, losses, in-order delivery, spurious timers, the Wi-Fi model, the mechanism.

    Example: `thalweg probe analyze probe.csv.gz`
    """
    from thalweg.cli.probe.tables import print_analyses, print_mechanisms  # noqa: PLC0415
    from thalweg.probe.analysis import analyze as analyze_series  # noqa: PLC0415
    from thalweg.probe.analysis import document  # noqa: PLC0415
    from thalweg.probe.mechanism.naming import name_mechanism  # noqa: PLC0415
    from thalweg.probe.series import read_series  # noqa: PLC0415

    if output:
        if output.suffix != ".html":
            raise RequestError(f"--out {output}: the name must end in .html")
        check_writable(output)
    require("fits", "thalweg probe analyze")
    if output:
        require("plots", f"--out {output}")
    names: dict[str, int] = {}
    analyses = []
    for file in files:
        series = read_series(file)
        names[series.name] = names.get(series.name, 0) + 1
        again = names[series.name]
        analyses.append(analyze_series(series if again == 1 else series.renamed(f"{series.name} ({again})")))
    mechanisms = {analysis.series.name: name_mechanism(analysis.series) for analysis in analyses}
    if format_ is Format.JSON:
        named = {name: mechanism.document() for name, mechanism in mechanisms.items()}
        print_json(document(analyses) | {"mechanisms": named})
    else:
        print_analyses(stdout(), analyses)
        print_mechanisms(stdout(), mechanisms, {one.series.name: len(one.series.sent) for one in analyses})
    if output:
        from thalweg.probe.report.page import write_probe_report  # noqa: PLC0415 - altair loads slowly

        write_probe_report(analyses, output)
        note(f"wrote {output}")
    return PASSED


@probe.command("export")
def export(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A file of `probe run`, octoping or irtt, or a bandwidth model of netem-trace."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The trace of jitter, or of deliveries.")
    ],
    direction: Annotated[
        Direction | None,
        typer.Option("--direction", help="Delays of one direction, or half of the round trips. [default: down]"),
    ] = None,
) -> int:
    """Write measured delays, or steps of bandwidth, as a trace that a scenario replays.

    Example: `thalweg probe export probe.csv.gz -o delays.txt`
    """
    from thalweg.probe.importers.irtt import is_json, read_json  # noqa: PLC0415
    from thalweg.probe.importers.netem_trace import delivery_trace, is_bandwidth  # noqa: PLC0415
    from thalweg.probe.jitter_trace import jitter_trace  # noqa: PLC0415
    from thalweg.probe.series import measured_text, read_series  # noqa: PLC0415

    check_writable(output)
    text = measured_text(file)
    model = read_json(file, text) if is_json(text) else {}
    if is_bandwidth(model):
        if direction is not None:
            raise RequestError(
                f"--direction {direction.value}: {file} is a bandwidth model, which has no directions"
            )
        lines, entry = delivery_trace(file, model), f'trace = "{output.name}"'
    else:
        lines = jitter_trace(read_series(file), direction or Direction.DOWN)
        entry = f'jitter = {{ model = "trace", file = "{output.name}" }}'
    with whole_file(output) as partial:
        partial.write_text(lines, encoding="ascii")
    stdout().print(entry)
    return PASSED


def _store(series: Series, output: Path, remark: str, format_: Format) -> None:
    """Writes a series and says what it shows."""
    from thalweg.cli.probe.tables import print_summaries  # noqa: PLC0415
    from thalweg.probe.analysis import analyze as analyze_series  # noqa: PLC0415
    from thalweg.probe.series import write_series  # noqa: PLC0415

    write_series(series, output, remark)
    analysis = analyze_series(series)
    if format_ is Format.JSON:
        print_json(analysis.document())
    else:
        print_summaries(stdout(), [analysis])
    note(f"wrote {output}")


def _pace(interval: str, duration: str) -> tuple[float, float]:
    pace, lasts = seconds(interval, "--interval"), seconds(duration, "--duration")
    if not _SHORTEST_INTERVAL_S <= pace <= 60:
        raise RequestError(f"--interval {interval!r}: expected 1ms to 60s")
    if not 0 < lasts <= _LONGEST_S:
        raise RequestError(f"--duration {duration!r}: expected more than 0s and at most 24h")
    if lasts / pace > _MOST_PROBES:
        raise RequestError(f"--duration {duration!r}: that is more than {_MOST_PROBES} probes")
    return pace, lasts


def _check_series_file(file: Path) -> None:
    if not file.name.endswith((".csv", ".csv.gz")):
        raise RequestError(f"--out {file}: the name must end in .csv or .csv.gz")
    check_writable(file)


def _key(file: Path | None) -> bytes:
    if file is None:
        return b""
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        raise RequestError(f"cannot read the key in {file}: {error.strerror or error}") from None
    if len(key) < 16:
        raise RequestError(f"the key in {file} is too short; expected 16 bytes or more")
    return key
