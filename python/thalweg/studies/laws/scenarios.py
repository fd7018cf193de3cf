"""The scenarios of the study, as scenario files have them.

Flow control is wide open, so that the controller alone limits a flow; everything else is the default, the rules
of the RFCs for the modelled endpoint among it. Flows start up to a round trip late, drawn anew in each trial.
"""

from __future__ import annotations

PACKET = 1440
"""Bytes of a full packet as windows count them: the UDP payload after path MTU discovery."""
WIRE = PACKET + 28
"""Bytes of the same on a link: with IP and UDP headers."""
INITIAL_WINDOW = 10 * WIRE
"""The initial window of RFC 9002 section 7.2 on a link: the least buffer, so that a path takes the first
flight."""


def header(name: str, duration_s: float, rtt_s: float, sample_s: float | None = None) -> str:
    """What every scenario begins with."""
    sample = f"sample = {time(sample_s)}\n" if sample_s else ""
    return (
        f'title = "{name}"\n{sample}time_limit = {time(duration_s)}\nnoise = {{ start = {time(rtt_s)} }}\n'
        '[transport]\ninitial_max_data = "4 GiB"\ninitial_max_stream_data = "4 GiB"\n'
    )


def path(rate_bps: float, rtt_s: float, buffer: str, queue: str = "drop-tail", loss: float = 0.0) -> str:
    """The path. Loss is in the direction of the data alone: acknowledgements arrive."""
    lines = [
        "[path]",
        f'rate = "{rate_bps:.0f} bps"',
        f"rtt = {time(rtt_s)}",
        f'buffer = "{buffer}"',
        f'queue = {{ model = "{queue}" }}',
    ]
    if loss:
        lines += [
            f'loss = {{ model = "random", rate = "{loss:.9f}" }}',
            'up = { loss = { model = "random", rate = "0" } }',
        ]
    return "\n".join(lines) + "\n"


def bulk(name: str, controller: str, stack: str) -> str:
    """A flow that always has data."""
    return (
        f'[[flow]]\nname = "{name}"\ncontroller = "{controller}"\nstack = "{stack}"\n'
        'download = "100000 GB"\nbackground = true\n'
    )


def time(value_s: float) -> str:
    """A time as a scenario file has it.

    >>> time(0.0001)
    '"100000 ns"'
    """
    return f'"{round(value_s * 1e9)} ns"'
