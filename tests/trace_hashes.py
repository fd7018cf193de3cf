"""The table of trace hashes: short trials of both stacks, with every controller.

`tests/trace_hashes.txt` is committed, and tests of the debug build (`crates/sim/tests/trace_hashes.rs`) and of the
release build (`simulator/test_trace_hashes.py`) hold it. A change of it is a change of behaviour: say why in the
commit.
`make hashes` writes it anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from thalweg import Scenario, controllers

TABLE = Path(__file__).parent / "trace_hashes.txt"
SEED = 1
SCENARIOS = ("c4/bad-wifi", "c4/low-and-up", "c4/media-wifi-fade", "ccafct/against-prague")
OPTIONS = (
    "c4:variant=draft-04",
    "c4:variant=2026-10",
    "c4:variant=v1",
    "c4:variant=v3",
    "cubic:variant=cuback",
    "cubic:variant=picoquic",
    "cubic:variant=dcubic",
    "cubic:start=classic",
    "cubic:start=delay",
    "cubic:start=search",
    "cubic:start=rapid",
    "reno:start=hystart",
    "reno:start=rapid",
    "reno:variant=picoquic",
    "bbr:variant=picoquic",
    "bbr1:variant=picoquic",
)
MODELLED = (
    *(str(entry["name"]) for entry in controllers() if entry["purpose"] != "test" and ":" not in entry["name"]),
    *OPTIONS,
)
REAL = ("c4", "c4:variant=draft-04", "cubic", "reno", "bbr", "bbr1", "prague", "noq:cubic", "noq:newreno")
ROWS = [
    (scenario, stack, controller)
    for scenario in SCENARIOS
    for stack, controllers in (("model", MODELLED), ("quic", REAL))
    for controller in controllers
] + [("c4/satellite", stack, "cubic:start=resume") for stack in ("model", "quic")]
"""The last scenario remembers a window."""
_HEADER = f"# Hashes by scenario; the first 4 s, seed {SEED}; `make hashes` writes this table\n"


def trace_hash(row: tuple[str, str, str]) -> str:
    """The hash of the first four seconds of a scenario whose main flow has this controller."""
    name, stack, controller = row
    main = str(Scenario.load(name).flows[0]["name"])
    overrides = {"pass": "[]", "time_limit": "4 s", "flow.*.stack": stack}
    return Scenario.load(name, overrides, {main: controller}).run(SEED).trace_hash


def table(threads: int) -> str:
    """The table, its trials played by so many threads at a time."""
    with ThreadPoolExecutor(threads) as pool:
        hashes = dict(zip(ROWS, pool.map(trace_hash, ROWS), strict=True))
    scenarios = list(dict.fromkeys(scenario for scenario, _, _ in ROWS))
    lines = [["stack", "controller", *scenarios]]
    for side in dict.fromkeys(row[1:] for row in ROWS):
        lines.append([*side, *(hashes.get((scenario, *side), "-") for scenario in scenarios)])
    return _HEADER + "".join(f"{' '.join(line)}\n" for line in lines)


if __name__ == "__main__":
    TABLE.write_text(table(threads=1))
