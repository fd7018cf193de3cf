"""Plays a setting in ns-3: as JSON from standard input, the runs of its seeds as JSON to standard output.

It needs the package `ns3` of PyPI and nothing of Thalweg: `access` runs it with the interpreter that has it.
"""

import json
import sys
from pathlib import Path
from typing import Any


def _cell() -> Any:
    import cppyy  # type: ignore[import-not-found]  # noqa: PLC0415
    import ns  # type: ignore[import-not-found]  # noqa: PLC0415

    # ns-3 loads its libraries when a name of it is first asked for.
    _ = ns.ns.Simulator
    cppyy.cppdef(Path(__file__).with_name("cell.cc").read_text(encoding="utf-8"))
    return cppyy.gbl.access_delay


def _setting(cell: Any, given: dict[str, Any]) -> Any:
    setting = cell.Setting()
    for name in ("phy", "mode", "attempts", "interval", "probes", "size", "flood"):
        setattr(setting, name, given[name])
    for kind in given["neighbours"]:
        neighbours = cell.Neighbours()
        for name, value in kind.items():
            setattr(neighbours, name, value)
        setting.neighbours.push_back(neighbours)
    return setting


def main() -> None:
    """A run for each seed."""
    cell = _cell()
    given = json.load(sys.stdin)
    runs = [cell.run(_setting(cell, given), seed) for seed in given["seeds"]]
    json.dump(
        [{"up": list(run.up), "down": list(run.down), "frames": list(run.frames)} for run in runs], sys.stdout
    )


if __name__ == "__main__":
    main()
