"""Numbers that are made of metrics in Python: of several flows, of a trace, of a pair of trials.

They and the metrics of the engine are all that tables name: a name is one quantity everywhere. The page
docs/reference/metrics.md has them. What had a name that means another quantity elsewhere has a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from thalweg.judging.measures import LIMITS, METRICS, Better, Measure, Of

_ROWS: Mapping[Of, tuple[tuple[str, str, Better | None, str], ...]] = {
    "flow": (
        ("min-rtt", "s", "lower", "smallest RTT sample of the sender of data"),
        (
            "slowdown",
            "",
            "lower",
            "completion over its floor, both from the start of the flow; the end if unfinished",
        ),
        (
            "capacity-starvation",
            "s",
            "lower",
            "longest run of bins of 50 ms with under 1/10 of an equal share of links",
        ),
        ("unfairness", "share", "lower", "what it lacks of an equal share: `1 - share * flows`"),
        ("missed-frames", "share", "lower", "frames that were late or skipped, of all of its streams"),
        ("packets-per-rtt", "", "lower", "packets sent from when a change came, per round trip without queues"),
        ("spacing", "s", "higher", "longest time without a packet sent after a change, to the end"),
    ),
    "flows": (
        ("jain", "", "higher", "of the bytes of the flows while all were active"),
        (
            "flow-completion-time",
            "s",
            "lower",
            "geometric mean of the times of short flows; the end if unfinished",
        ),
        ("least-share", "", "higher", "least `share` of a flow, over an equal share, in all trials"),
    ),
    "pair": (
        ("regret", "", "lower", "rate of the flow with a reference controller over its own"),
        ("taken", "share", "lower", "rate that another flow loses as the flow is not of the reference controller"),
        ("harm", "share", "lower", "what a flow loses to another one, of what it has alone"),
    ),
}
_WORDS = {
    "jain": "Jain's index",
    "flow-completion-time": "completion of short flows",
    "packets-per-rtt": "packets sent per round trip",
    "spacing": "longest spacing of packets",
}


def _all() -> Iterator[Measure]:
    for of, rows in _ROWS.items():
        for name, unit, better, meaning in rows:
            column = name.replace("-", "_") + ("_s" if unit == "s" else "")
            yield Measure(name, unit, of, better, meaning, column, words=_WORDS.get(name, ""))
    for name in ("rate", "p95-queue-delay", "drops"):
        metric = METRICS[name]
        words, meaning = f"{metric.heading} of the others", f"`{name}` of the flows that are not under test"
        yield Measure(f"victim-{name}", metric.unit, "flows", metric.better, meaning, words=words)
    for limit in LIMITS.values():
        meaning = f'`limited` with `by = "{limit.name}"`'
        yield Measure(f"limited-by-{limit.name}", "share", "flow", None, meaning, limit.column)
    meaning = "`load`, where too little is worse"
    yield replace(METRICS["load"], name="least-load", better="higher", meaning=meaning, words="load from below")


DERIVED: Mapping[str, Measure] = {one.name: one for one in _all()}
"""All of them by name."""
NAMED: Mapping[str, Measure] = {**METRICS, **DERIVED}
"""Every number that has a name."""
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "dossier": {
        "queue-delay": "p95-queue-delay",
        "completion": "flow-completion-time",
        "victim-delay": "victim-p95-queue-delay",
        "frames": "p95-delay",
    },
    "hunt": {
        "completion": "slowdown",
        "starvation": "capacity-starvation",
        "harm": "taken",
        "frames": "missed-frames",
    },
    "score": {
        "starvation": "least_share",
        "harm": "taken",
        "goodput_bps": "mean_rate_bps",
        "delay_s": "mean_rtt_s",
    },
}


def renamed(of: str, name: str) -> str | None:
    """What became of a name of a dossier, a hunt or a score, and what the old one is elsewhere.

    >>> renamed("dossier", "queue-delay")
    'queue-delay is now p95-queue-delay; queue-delay means: mean time that the packets of data waited in queues'
    """
    new = _RENAMED[of].get(name)
    if new is None:
        return None
    elsewhere = f"; {name} means: {NAMED[name].meaning}" if name in NAMED else ""
    return f"{name} is now {new}{elsewhere}"
