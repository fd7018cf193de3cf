"""Whether a controller keeps to what every controller must, on paths drawn at random.

Each case is a download over a path of its own: rate, RTT, buffer, queue, losses, jitter, on every third an
outage of five seconds, and on every third FQ-CoDel with a deep buffer, which marks what carries ECT. What must
hold:

- the download ends (progress on every path);
- the window never falls below two packets (RFC 9002 section 7.2, kMinimumWindow);
- after an outage that loses all feedback, the window is smaller than its largest before (RFC 9002 section 7.6);
- marks are answered (RFC 9002 section 7.1): where packets are marked, the queue is not much longer than where the
  same queue drops them;
- what is decided is a number (the simulator refuses all else).

Limits: trials run in virtual time, so a handler that takes for ever is stopped only by Ctrl-C.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from thalweg.base.errors import ControllerError
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario

FLOW = "main"
_MTU = 1440
_OUTAGE_S = (2.0, 7.0)
_SPAN_S = 60.0
_MARKING = 'queue = { model = "fq-codel" }'
_DROPPING = 'queue = { model = "fq-codel", ecn = false }'
_MOST_QUEUE, _SLACK_S = 9.0, 0.01
"""How much longer the queue may be with marks than with drops: C4, which answers marks from a share of a tenth
on, has eight times as much, and who ignores them forty."""


@dataclass(frozen=True)
class Violation:
    """What did not hold, and the scenario that shows it."""

    case: int
    what: str
    toml: str
    seed: int


def cases(seed: int, n: int) -> Iterator[tuple[int, str]]:
    """Scenario files with a path drawn at random each; a seed always draws the same ones.

    >>> [text for _, text in cases(1, 2)] == [text for _, text in cases(1, 2)] != [text for _, text in cases(2, 2)]
    True
    """
    for case in range(n):
        draw = random.Random(f"{seed}/{case}")
        rate_bps = 10 ** draw.uniform(5.5, 8.0)
        rtt_s = 10 ** draw.uniform(-2.0, -0.7)
        has_outage = case % 3 == 2
        # About five seconds of the link, or until an outage is over.
        size = rate_bps / 8 * (20 if has_outage else 5)
        buffer = max(10, round(rate_bps * rtt_s / 8 / _MTU * draw.uniform(0.2, 3)))
        if case % 3 == 1:  # room for a second beyond what is in flight
            buffer = max(20, round(rate_bps * (rtt_s + 1.0) / 8 / _MTU))
        lines = [
            f'title = "case {case}"',
            f'time_limit = "{_SPAN_S + 300:.0f} s"',
            "[path]",
            f'rate = "{rate_bps / 1e3:.0f} kbps"',
            f'rtt = "{rtt_s * 1e3:.0f} ms"',
            f'buffer = "{buffer} packets"',
        ]
        if not has_outage:
            queue = draw.choice(("drop-tail", "codel", "red"))
            lines += [_MARKING if case % 3 == 1 else f'queue = {{ model = "{queue}" }}']
            lines += [f'loss = {{ model = "random", rate = "{draw.choice((0, 0, 0.1, 1)):g} %" }}']
            lines += ['jitter = { model = "wifi", mean = "7 ms" }'] if draw.random() < 0.3 else []
        else:
            # A queue of one packet loses what a suspended link would only delay.
            ends = (("0 bps", 1), (f"{rate_bps / 1e3:.0f} kbps", buffer))
            for at_s, (rate, packets) in zip(_OUTAGE_S, ends, strict=True):
                lines += ["[[path.change]]", f'at = "{at_s:.0f} s"', f'rate = "{rate}"']
                lines += [f'buffer = "{packets} packets"']
        lines += ["[[flow]]", f'name = "{FLOW}"', 'controller = "cubic"', f'download = "{size / 1e3:.0f} kB"']
        yield case, "\n".join(lines) + "\n"


def check_controller(controller: str, seed: int = 1, n: int = 30) -> Iterator[Violation | None]:
    """Plays the cases of a seed one after the other; of each, what did not hold. Raises RequestError."""
    for case, text in cases(seed, n):
        scenario = Scenario.from_toml(text, f"case-{case}", controllers={FLOW: controller})
        try:
            trial = scenario.run(seed=seed, trace=True)
            what = _wrong(trial, case) or _ignores_marks(trial, text, controller, seed)
        except ControllerError as error:
            what = str(error)
        yield Violation(case, what, scenario.toml, seed) if what else None


def _ignores_marks(trial: Trial, text: str, controller: str, seed: int) -> str | None:
    """What a queue that marks shows, compared with one that drops and is otherwise the same."""
    down = trial.links.row(0, named=True)
    if not down["marked_packets"]:
        return None
    dropping = Scenario.from_toml(text.replace(_MARKING, _DROPPING), "dropping", controllers={FLOW: controller})
    marked_s = down["mean_queue_delay_s"]
    dropped_s = dropping.run(seed=seed).links.row(0, named=True)["mean_queue_delay_s"]
    if marked_s <= _MOST_QUEUE * dropped_s + _SLACK_S:
        return None
    with_marks = f"with {down['marked_packets']} packets marked the queue was {marked_s * 1e3:.0f} ms long"
    accepted = f"at most {_MOST_QUEUE:g} times as long, and {_SLACK_S * 1e3:.0f} ms"
    return (
        f"marks are not answered: {with_marks}, and {dropped_s * 1e3:.0f} ms where it drops them; "
        f'accepted: {accepted}; reduce the window in on_ecn, or set ecn = "none"'
    )


def _wrong(trial: Trial, case: int) -> str | None:
    flow = trial.flows.row(0, named=True)
    if not flow["finished"]:
        return f"no progress: {flow['bytes_delivered']} bytes were delivered within {_SPAN_S + 300:.0f} s"
    assert trial.trace is not None
    windows = trial.trace.flows.filter(pl.col("flow") == FLOW).select("time_s", "window_bytes")
    low = windows.filter(pl.col("window_bytes") < 2 * _MTU)
    if not low.is_empty():
        time_s, window = low.row(0)
        return f"the window is {window} bytes at {time_s:.6f} s; accepted: two packets ({2 * _MTU}) or more"
    if case % 3 == 2 and flow["completion_s"] > _OUTAGE_S[1]:
        time_s, window = pl.col("time_s"), pl.col("window_bytes")
        before = windows.filter(time_s < _OUTAGE_S[0]).select(window.max()).item()
        after = windows.filter(time_s.is_between(_OUTAGE_S[0], _OUTAGE_S[1] + 15)).select(window.min()).item()
        if before is not None and after is not None and after >= before > 2 * _MTU:
            return f"no back-off: the window was {before} bytes before an outage of 5 s and no less after it"
    return None
