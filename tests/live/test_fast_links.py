"""Links so fast that hosts hand over several packets at once: what is not lost arrives as it was sent.

Needs what `test_programs.py` needs. Contents are compared: the kernel does not check sums that it left unfinished.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from real_time import PATH, needs_rights, shell

PYTHON = sys.executable
FAST = PATH.replace("20 Mbps", "1 Gbps").replace("40 ms", "4 ms")
LOSSY = FAST.replace('buffer = "1 bdp"', 'buffer = "4 bdp"\nloss = "0.5 %"')
SLOW = LOSSY.replace("1 Gbps", "200 Mbps")
REORDERED = LOSSY.replace('loss = "0.5 %"', 'reorder = true\njitter = { model = "uniform", max = "200 us" }')

# The congestion control of a host may be any; contents differ at every offset, so that misplaced bytes are seen.
SERVE = """
import hashlib, random, socket, sys
data = random.Random(1).randbytes(6_000_000)
open(sys.argv[1], "w").write(hashlib.sha256(data).hexdigest())
with socket.create_server(("::", 8000), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    for _ in range(2):
        connection, _ = server.accept()
        with connection:
            connection.sendall(data)
    server.accept()
"""
FETCH = """
import hashlib, os, socket, sys, time
found = []
for peer in ("THALWEG_PEER", "THALWEG_PEER6"):
    for attempt in range(100):
        try:
            connection = socket.create_connection((os.environ[peer], 8000))
            break
        except OSError:
            time.sleep(0.1)
    digest = hashlib.sha256()
    with connection:
        while chunk := connection.recv(1 << 20):
            digest.update(chunk)
    found.append(digest.hexdigest())
open(sys.argv[1], "w").write(" ".join(found))
"""

SOL_UDP_SEGMENT = 103
"""`UDP_SEGMENT` of linux/udp.h: one call sends many datagrams of this size."""
# 200 trains of 8 datagrams and a shorter one, ECT(0), each with its number in its first and last bytes.
SEND = f"""
import os, socket, struct, time
time.sleep(1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    sender.setsockopt(socket.IPPROTO_UDP, {SOL_UDP_SEGMENT}, 1200)
    for train in range(200):
        numbers = range(9 * train, 9 * train + 9)
        sizes = [1200] * 8 + [900]
        parts = [struct.pack("!I", number) + bytes(size - 8) + struct.pack("!I", number)
                 for number, size in zip(numbers, sizes)]
        sender.sendto(b"".join(parts), (os.environ["THALWEG_PEER"], 9000))
        time.sleep(0.002)
time.sleep(3)
"""
COUNT = """
import json, socket, struct, sys
arrived = []
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    receiver.bind(("0.0.0.0", 9000))
    receiver.settimeout(8)
    try:
        while True:
            data, notes, _, _ = receiver.recvmsg(2000, 100)
            first, last = struct.unpack("!I", data[:4])[0], struct.unpack("!I", data[-4:])[0]
            arrived.append((first, last, len(data), notes[0][2][0] & 3))
            receiver.settimeout(1)
    except TimeoutError:
        pass
json.dump(arrived, open(sys.argv[1], "w"))
"""

pytestmark = pytest.mark.realtime


@needs_rights
@pytest.mark.parametrize("toml", [LOSSY, SLOW, REORDERED], ids=["lossy", "slow", "reordered"])
def test_what_tcp_sends_arrives_unchanged_over_loss_and_reordering(toml: str, tmp_path: Path) -> None:
    sent, got = tmp_path / "sent", tmp_path / "got"
    ended = shell(PYTHON, "-c", FETCH, str(got), toml=toml, peer=[PYTHON, "-c", SERVE, str(sent)])
    assert ended.status == 0
    digest = sent.read_text()
    assert got.read_text().split() == [digest, digest]
    down = ended.report["links"][0]
    # 12 MB in segments of at most 1500 bytes: a link counts single packets, however they were handed over.
    assert down["offered_packets"] >= 12_000_000 / 1448
    assert down["offered_bytes"] / down["offered_packets"] <= 1500
    if toml is not REORDERED:
        assert 0.001 < down["lost_packets"] / down["offered_packets"] < 0.02


@needs_rights
def test_each_datagram_of_a_train_has_its_own_fate_and_mark(tmp_path: Path) -> None:
    # 9 datagrams take 88 us at 1 Gbps: those that wait longer than 20 us are marked.
    queue = 'buffer = "4 bdp"\nqueue = { model = "codel", ce_threshold = "20 us" }\nloss = "5 %"'
    toml = FAST.replace('buffer = "1 bdp"', queue)
    counts = tmp_path / "counts"
    ended = shell(PYTHON, "-c", SEND, toml=toml, peer=[PYTHON, "-c", COUNT, str(counts)])
    assert ended.status == 0
    up = ended.report["links"][1]
    arrived = json.loads(counts.read_text())
    assert up["offered_packets"] == 1800
    assert up["host_dropped_packets"] == 0
    assert len(arrived) == 1800 - up["lost_packets"] - up["dropped_packets"]
    assert 30 < up["lost_packets"] < 180
    for first, last, size, ecn in arrived:
        assert first == last
        assert size == (900 if first % 9 == 8 else 1200)
        assert ecn in {2, 3}
    numbers = [first for first, _, _, _ in arrived]
    assert numbers == sorted(numbers)
    marked = sum(ecn == 3 for _, _, _, ecn in arrived)
    # Of the marked ones some are lost later; the first of a train does not wait, unless the host held trains back:
    # a few of 200, where a mark on whole trains would be on all of them.
    assert 0.85 * up["marked_packets"] <= marked <= up["marked_packets"]
    assert sum(ecn == 3 for first, _, _, ecn in arrived if first % 9 == 0) < 20
    assert up["marked_packets"] > 600
