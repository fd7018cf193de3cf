"""How long `thalweg explain FILE` takes for a large log, in processor time, and how much memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from pages.explain import writers
from pages.explain.measure import FLOW, Case
from pages.explain.paths import make
from pages.made import row

_BYTES = 20_000_000
_LOGS = (("bulk", "cubic", 20_001), ("shared", "c4", 20_005), ("wifi", "bbr", 20_007), ("wifi", "cubic", 20_007))
"""Where no controller fits, as on Wi-Fi, the closest are replayed with other waits too."""
_BITS = 1.2e9
"""What the path could carry while it lasts: enough for such a log."""
_COMMAND = """
import sys
from thalweg.cli import main
code = main(["explain", sys.argv[1]])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")), file=sys.stderr)
sys.exit(code)
"""


def lines() -> list[str]:
    """The table, one log in each line."""
    head = [row("log", "packets", "processor time", "memory"), row(":--", "--:", "--:", "--:")]
    return [*head, *(_line(*one) for one in _LOGS)]


def _line(kind: str, controller: str, seed: int) -> str:
    made = make(kind, seed, controller)
    long = replace(made, text=made.text.replace('"12.0 s"', f'"{_BITS / made.rate_bps:.0f} s"'))
    trace = long.scenario().run(1, trace=True).trace
    assert trace is not None, "asked for"
    text = writers.quic_go(writers.entries(Case(long, trace).trace, FLOW))
    assert len(text) > _BYTES, "the log is long enough"
    text = text[: text.rindex("\n", 0, _BYTES) + 1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.sqlog"
        file.write_text(text)
        before = os.times()
        words = [sys.executable, "-c", _COMMAND, str(file)]
        done = subprocess.run(words, check=True, text=True, capture_output=True)
        after = os.times()
    took = after.children_user + after.children_system - before.children_user - before.children_system
    memory = int(done.stderr.split()[-1]) / 1024
    return row(f"{kind}, {controller}", str(text.count("packet_sent")), f"{took:.1f} s", f"{memory:.0f} MB")
