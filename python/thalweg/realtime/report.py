"""The report of a run in real time, in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeAlias

from thalweg.base.files.whole_file import whole_file
from thalweg.base.quantity import text

Report: TypeAlias = dict[str, Any]
"""What a run says about itself; docs/how-to/live.md explains it."""
_MICROSECONDS = re.compile(r"\b(\d+) us\b")


def is_faithful(report: Report) -> bool:
    """Whether the run was what the scenario describes."""
    return not report["unfaithful"]


def reasons(report: Report) -> list[str]:
    """Why a run was not what the scenario describes, its times with a fitting unit.

    >>> reasons({"unfaithful": ["1 packet in 1000 was released at least 40894 us late; the bound is 1 ms"]})
    ['1 packet in 1000 was released at least 40.89 ms late; the bound is 1 ms']
    """
    return [_MICROSECONDS.sub(lambda m: text(int(m[1]) / 1e6, "s"), reason) for reason in report["unfaithful"]]


def faithfulness(report: Report) -> list[str]:
    """Lines for people: packets, lateness, and whether the run was faithful."""
    lines = []
    for link in report["links"]:
        parts = [f"{link['offered_packets']} packets offered", f"{link['dropped_packets']} dropped by the model"]
        if link["lost_packets"]:
            parts.append(f"{link['lost_packets']} lost by the model")
        if link["marked_packets"]:
            parts.append(f"{link['marked_packets']} marked")
        parts.append(f"{link['host_dropped_packets']} dropped by the host")
        lines.append(f"{link['name']}: {', '.join(parts)}")
    late = ", ".join(
        f"{name} {text(report[f'lateness_{key}_s'], 's')}"
        for name, key in (("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"), ("max", "max"))
    )
    missed = f"{report['missed_deadlines']} later than {text(report['bound_s'], 's')}"
    lines.append(f"released late by: {late}; {missed}")
    if report["late_starts"]:
        latest = text(report["start_lateness_max_s"], "s")
        lines.append(
            f"connections that started later than {text(report['bound_s'], 's')}: {report['late_starts']}, "
            f"at most {latest} late"
        )
    if report["trace_cut"]:
        lines.append(f"the trace is cut: {report['trace_cut']}")
    if report["realtime_refused"]:
        lines.append(f"real-time scheduling was refused: {report['realtime_refused']}")
    lines += [f"unfaithful: {reason}" for reason in reasons(report)]
    return lines


def write_report(report: Any, file: Path) -> None:
    """Writes the reports of one or more runs as JSON. Raises RequestError."""
    with whole_file(file) as partial:
        partial.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
