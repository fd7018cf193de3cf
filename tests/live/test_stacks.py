"""Programs that nobody here wrote, as flows: what the emulator sees of them is what they did.

Needs what `test_programs.py` needs. A program that this machine lacks is skipped, loudly: `pytest -rs` names it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket, InterfaceDescription

from real_time import needs_rights
from thalweg.cli import main
from thalweg.engine.catalogue import find_scenario
from thalweg.experiments.bench.certificate import make_certificate
from thalweg.realtime import LiveScenario, Recording, Timing, faithful
from thalweg.realtime.quic.identity import Identity

PYTHON = sys.executable
ENDS = Path(__file__).with_name("aioquic_ends.py")
SIZE = 2_000_000
PATH = """
title = "Programs"
time_limit = "20 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "2 bdp"
"""

Capture = pytest.CaptureFixture[str]

pytestmark = pytest.mark.realtime


def needs(program: str) -> str:
    """The path of a program; skips the test without it."""
    found = shutil.which(program) or shutil.which(f"/usr/sbin/{program}")
    if found is None:
        pytest.skip(f"SKIPPED: {program} is not installed (apt-get install {program})")
    return found


def nginx(folder: Path) -> str:
    """The command of a web server of Debian that serves a folder at port 8000."""
    (folder / str(SIZE)).write_bytes(bytes(SIZE))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; user root; worker_processes 1; pid {folder}/pid; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; client_body_temp_path {folder}/t; proxy_temp_path {folder}/p;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f"server {{ listen 8000; root {folder}; }} }}\n"
    )
    return f"{needs('nginx')} -c {configuration}"


def commands(program: str, folder: Path) -> dict[str, str]:
    """The table `[flow.command]` of a program of others."""
    peer, own = "$THALWEG_PEER", "$THALWEG_ADDRESS"
    if program in {"nginx", "http.server"}:
        served = nginx(folder) if program == "nginx" else f"{PYTHON} -m http.server 8000 --directory {folder}"
        (folder / str(SIZE)).write_bytes(bytes(SIZE))
        return {
            "server": served,
            "client": f"{needs('curl')} -sSf -o {folder}/got http://{peer}:8000/{SIZE}",
            "ready": "tcp:8000",
        }
    if program == "iperf3":
        needs("iperf3")
        return {
            "server": f"iperf3 -s -B {own}",
            "client": f"iperf3 -R -n $THALWEG_BYTES -c {peer}",
            "ready": "tcp:5201",
        }
    if program == "aioquic":
        certificate, key = folder / "cert.pem", folder / "priv.key"
        make_certificate(certificate, key)
        return {
            "server": f"{PYTHON} {ENDS} server 4433 {certificate} {key} {folder}",
            "client": f"{PYTHON} {ENDS} client {peer} 4433 $THALWEG_BYTES {folder}",
            "ready": "udp:4433",
        }
    identity = Identity.make()
    identity.write(folder / "identity.pem")
    thalweg = f"{Path(PYTHON).with_name('thalweg')} quic"
    return {
        "server": f"{thalweg} serve --identity {folder}/identity.pem --port 4433",
        "client": f"{thalweg} get {peer} --port 4433 --fingerprint {identity.fingerprint} --download {SIZE}B",
        "ready": "udp:4433",
    }


def flow(table: dict[str, str], name: str = "main", workload: str = f'download = "{SIZE} B"') -> str:
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
    return f'[[flow]]\nname = "{name}"\ncontroller = "command:x"\n{workload}\n[flow.command]\n{lines}\n'


def load(tmp_path: Path, *flows: str) -> LiveScenario:
    file = tmp_path / "programs.toml"
    file.write_text(PATH + "".join(flows))
    return LiveScenario.from_entry(find_scenario(file))


def played(scenario: LiveScenario, recording: Recording | None = None) -> Any:
    return faithful(scenario, 1, Timing(realtime=True, retry=3), recording)


@needs_rights
@pytest.mark.parametrize("program", ["http.server", "nginx", "iperf3", "aioquic", "thalweg"])
def test_a_program_is_a_flow_whose_bytes_and_times_are_seen_from_outside(program: str, tmp_path: Path) -> None:
    table = commands(program, tmp_path)
    done = played(load(tmp_path, flow(table)))
    (row,) = done.trial.outcomes.flows.to_dicts()
    assert (row["controller"], row["bytes_delivered"]) == ("command:x", SIZE)
    # It starts when its first packet crosses, after it has loaded, and 16 Mbit take 0.8 s at 20 Mbps.
    assert 0 < row["start_s"] < row["completion_s"] - 0.8
    assert row["completion_s"] <= row["closed_s"]
    assert 4e6 < row["mean_rate_bps"] < 20e6
    # Packets in the direction of the data, dropped ones too.
    down = done.report["links"][0]
    assert SIZE / 1448 <= row["packets_sent"] <= down["offered_packets"]
    assert row["packets_dropped"] == down["dropped_packets"]
    # Counted from packets it is more: headers above TCP and UDP, and what was sent again.
    counted = played(load(tmp_path, flow({**table, "count": "packets"})))
    assert SIZE < counted.trial.outcomes.flows["bytes_delivered"][0] < 1.2 * SIZE


@needs_rights
def test_an_upload_is_counted_in_its_direction(tmp_path: Path) -> None:
    needs("iperf3")
    # It ends when all is handed to the kernel, so what has crossed by then is to be counted.
    table = {"server": "iperf3 -s", "client": "iperf3 -n $THALWEG_BYTES -c $THALWEG_PEER", "ready": "tcp:5201"}
    table["count"] = "packets"
    done = played(load(tmp_path, flow(table, workload=f'upload = "{SIZE} B"')))
    (row,) = done.trial.outcomes.flows.to_dicts()
    down, up = done.report["links"]
    assert 0.3 * SIZE < row["bytes_delivered"] < up["delivered_bytes"]
    assert down["delivered_bytes"] < 0.2 * SIZE
    assert row["bytes_delivered"] / 1448 <= row["packets_sent"] <= up["offered_packets"]


@needs_rights
def test_flows_share_as_the_emulator_sees_them_and_two_servers_may_have_one_port(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (commands("http.server", tmp_path / name) for name in ("a", "b"))
    other = '[[flow]]\nname = "kernel"\ncontroller = "kernel:cubic"\ndownload = "2 MB"\n'
    done = played(load(tmp_path, flow(first), flow(second, "second"), other))
    flows = done.trial.outcomes.flows
    assert flows["bytes_delivered"].to_list() == [SIZE] * 3
    assert abs(flows["share"].sum() - 1) < 1e-6
    assert all(0.05 < share < 0.9 for share in flows["share"])
    assert flows["shared_rate_bps"].sum() < 20e6


@needs_rights
def test_a_queue_tells_the_connections_of_a_program_apart(tmp_path: Path) -> None:
    needs("iperf3")
    # Four connections of one program beside one of the kernel: under FQ, each gets a fifth.
    table = {"server": "iperf3 -s", "client": "iperf3 -R -P 4 -t 4 -c $THALWEG_PEER", "ready": "tcp:5201"}
    other = '[[flow]]\nname = "kernel"\ncontroller = "kernel:cubic"\ndownload = "100 MB"\nbackground = true\n'
    scenario = load(tmp_path, flow({**table, "count": "packets"}), other)
    file = tmp_path / "fq.toml"
    file.write_text(scenario.toml.replace("[path]", '[path]\nqueue = "fq-codel"'))
    done = played(LiveScenario.from_entry(find_scenario(file)))
    shares = dict(done.trial.outcomes.flows.select("flow", "share").iter_rows())
    assert 0.12 < shares["kernel"] < 0.32


@needs_rights
@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"client": "echo no luck; exit 3"},
            "flow main failed: the client ended with status 3: no luck",
        ),
        ({"client": "no-such-program"}, "the client ended with status 127"),
        ({"client": "kill -9 $$"}, "the client was ended by signal 9"),
        ({"client": "sleep 5", "server": "sleep 0.2; exit 4"}, "the server ended with status 4"),
        (
            {"client": "true", "server": "echo busy; exit 1", "ready": "tcp:80"},
            "the server of flow main ended with status 1 before it was ready: busy",
        ),
        (
            {"client": "true", "server": "sleep 9", "ready": "tcp:80", "ready_within": "300 ms"},
            "the server of flow main was not ready within 300 ms",
        ),
        (
            {"client": "true"},
            f"flow main failed: the client ended with status 0, but only 0 of {SIZE} bytes have crossed the path; "
            'needed: a client that ends after its data has arrived, or count = "packets" for programs that '
            "compress or cache",
        ),
    ],
)
def test_a_program_that_fails_is_named_with_its_last_words(
    table: dict[str, str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "failing.toml"
    file.write_text(PATH + flow(table))
    assert main(["run", str(file), "--live"]) == 2
    assert said in capsys.readouterr().err


@needs_rights
def test_a_client_that_does_not_end_is_stopped_at_the_time_limit(tmp_path: Path) -> None:
    text = (PATH + flow({"client": "sleep 60"})).replace('"20 s"', '"1500 ms"')
    file = tmp_path / "endless.toml"
    file.write_text(text)
    done = LiveScenario.from_entry(find_scenario(file)).run()
    (row,) = done.trial.outcomes.flows.to_dicts()
    assert not row["finished"]
    assert 1.5 <= done.report["duration_s"] < 6


@needs_rights
def test_packets_are_captured_on_both_sides_with_the_times_of_the_emulator(tmp_path: Path) -> None:
    scenario = load(tmp_path, flow(commands("http.server", tmp_path)))
    file, logs = tmp_path / "packets.pcapng", tmp_path / "logs"
    logs.mkdir()
    done = played(scenario, Recording(logs=logs, capture=file))
    with file.open("rb") as stream:
        blocks = list(FileScanner(stream))
    names = [str(block.options["if_name"]) for block in blocks if isinstance(block, InterfaceDescription)]
    assert names == ["left", "right"]
    packets = [block for block in blocks if isinstance(block, EnhancedPacket)]
    counts = Counter((packet.interface_id, packet.options["epb_flags"].inout) for packet in packets)
    down, up = done.report["links"]
    assert counts == {
        (0, "outbound"): up["offered_packets"],
        (1, "inbound"): up["delivered_packets"],
        (1, "outbound"): down["offered_packets"],
        (0, "inbound"): down["delivered_packets"],
    }
    sent = sum(packet.packet_len - 4 for packet in packets if packet.interface_id == 1 and _is(packet, "outbound"))
    assert sent == down["offered_bytes"]
    # Half a round trip of 40 ms lies between a packet of the handshake on the one side and on the other.
    first = next(packet for packet in packets if packet.interface_id == 0)
    arrived = next(packet for packet in packets if packet.interface_id == 1)
    assert first.packet_data[:20] == arrived.packet_data[:20]
    assert 0.020 <= arrived.timestamp - first.timestamp < 0.025
    assert "GET /" in (logs / "main-server.log").read_text()


def _is(packet: Any, direction: str) -> bool:
    return bool(packet.options["epb_flags"].inout == direction)
