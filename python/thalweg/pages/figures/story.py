"""What happened in a trial, in a sentence or two: which frames of a call failed, what delayed a transfer.

The reason of bad frames is what happened to packets from the first moment at which one of them was due until the
last one arrived: how long links held packets back, how long queues became, what was dropped. Facts, not a
judgement: it names the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from thalweg.base.quantity import percent, text
from thalweg.base.toml import read_toml
from thalweg.engine.outcome import Trial
from thalweg.engine.trace import DROP_REASONS, Trace
from thalweg.judging.verdict import without_offset
from thalweg.pages.figures.frames import IN_TIME, LATE, NEVER, fates, freezes
from thalweg.pages.figures.panel import link_called
from thalweg.pages.figures.queues import longest

_MOST_FLOWS = 4
_WORDS = {"wifi": "Wi-Fi"}
"""Names of jitter by its model."""


def story(trial: Trial) -> list[str]:
    """A sentence for each flow of the trial, of at most four."""
    trace = trial.trace
    if trace is None:
        return []
    calls = set(trace.frames["flow"].to_list())
    flows = without_offset(trial.flows, trial.outcomes.scenario.starts_s).unique("flow", maintain_order=True)
    sentences = []
    for row in flows.head(_MOST_FLOWS).iter_rows(named=True):
        of = trace.frames.filter(pl.col("flow") == row["flow"])
        words = _call(of, trial, trace) if row["flow"] in calls else _transfer(row, trial, trace)
        sentences.append(f"{row['flow']}: {words}." if flows.height > 1 else f"{words[0].upper()}{words[1:]}.")
    return sentences


def _call(frames: pl.DataFrame, trial: Trial, trace: Trace) -> str:
    rows = fates(frames)
    counted = rows.filter(pl.col("counted"))
    bad = counted.filter(pl.col("fate") != IN_TIME)
    stalls = [
        stretch for (_,), stream in rows.group_by("stream", maintain_order=True) for stretch in freezes(stream)
    ]
    if bad.is_empty() and not stalls:
        slowest = float(counted["delay_s"].max() or 0.0)  # type: ignore[arg-type]
        all_of = f" (of {rows.height}: those due from {text(_first(counted), 's', 3)} on)"
        since = all_of if counted.height < rows.height else ""
        return f"all {counted.height} frames{since} came in time, the slowest after {text(slowest, 's', 3)}"
    parts = []
    for fate, noun in ((LATE, "late"), (NEVER, "that never came")):
        of = bad.filter(pl.col("fate") == fate)
        if of.height:
            streams = of.group_by("stream", maintain_order=True).len()
            where = ", ".join(f"{count} of {stream}" for stream, count in streams.iter_rows())
            frames_ = "frame" if of.height == 1 else "frames"
            parts.append(
                f"{of.height} late {frames_} ({where})"
                if fate == LATE
                else f"{of.height} {frames_} {noun} ({where})"
            )
    if stalls:
        longest_s = max(end - begin for begin, end in stalls)
        times = "once" if len(stalls) == 1 else f"{len(stalls)} times"
        parts.append(f"frozen {times}, {text(longest_s, 's', 3)} at the most")
    begins = [float(bad["time_s"].min())] if bad.height else []  # type: ignore[arg-type]
    arrived = bad.filter(pl.col("delay_s").is_not_nan())
    until = [float((arrived["time_s"] + arrived["delay_s"]).max())] if arrived.height else []  # type: ignore[arg-type]
    begin = min([*begins, *(start for start, _ in stalls)])
    end = max([*until, *(stop for _, stop in stalls), *([float(bad["time_s"].max())] if bad.height else [])])  # type: ignore[arg-type]
    causes = "; ".join(_causes(trace, trial.outcomes.scenario.toml, begin, end))
    return f"{', '.join(parts)}; from {text(begin, 's', 3)} to {text(end, 's', 3)}, {causes}"


def _first(frames: pl.DataFrame) -> float:
    """When the first of some frames was due."""
    return float(frames["time_s"].min() or 0.0)  # type: ignore[arg-type]


def _causes(trace: Trace, toml: str, begin: float, end: float) -> Iterator[str]:
    """What happened to packets in a stretch of time, the longest delay first."""

    def within(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("time_s").is_between(begin, end))

    held = within(trace.held)
    by_jitter = float(held["held_s"].max() or 0.0) if held.height else 0.0  # type: ignore[arg-type]
    most = longest(within(trace.links))
    queue = max(most, key=lambda name: most[name], default="")
    in_queue = most.get(queue, 0.0)
    found = []
    if by_jitter > 0:
        found.append((by_jitter, f"packets held back up to {text(by_jitter, 's', 2)} by {jitter(toml)}"))
    small = in_queue < by_jitter
    found.append(
        (in_queue, f"queues never exceeded {text(in_queue, 's', 2)}" if small else _queue(queue, in_queue))
    )
    yield from (words for _, words in sorted(found, reverse=True))
    yield from _dropped(within(trace.drops))


def _queue(link: str, longest_s: float) -> str:
    """How long the queue of a link became."""
    if math.isinf(longest_s):
        return f"the {link_called(link)} carried nothing for a while"
    return f"the queue of the {link_called(link)} grew to {text(longest_s, 's', 2)}"


def _dropped(drops: pl.DataFrame) -> Iterator[str]:
    if drops.height:
        reasons = drops.group_by("reason", maintain_order=True).len().sort("len", descending=True)
        where = ", ".join(
            f"{count} by {DROP_REASONS.get(reason, reason)}" for reason, count in reasons.iter_rows()
        )
        if reasons.height == 1:
            where = where.partition(" ")[2]
        noun = "packet" if drops.height == 1 else "packets"
        yield f"{drops.height} {noun} dropped {where if reasons.height == 1 else f'({where})'}"


def jitter(toml: str) -> str:
    """The name of the jitter of a scenario."""
    models = set(_models(read_toml(toml, "scenario")))
    return " and ".join(sorted(_WORDS.get(model, "jitter") for model in models)) if len(models) == 1 else "jitter"


def _models(value: object) -> Iterator[str]:
    """The models of jitter in a document."""
    if isinstance(value, dict):
        own = value.get("jitter")
        model = own.get("model") if isinstance(own, dict) else own
        if isinstance(model, str) and model != "none":
            yield model
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _models(inner)


def _transfer(row: dict[str, object], trial: Trial, trace: Trace) -> str:
    completion, floor = row["completion_s"], trial.outcomes.scenario.floor_s
    rate = row.get("mean_rate_bps")
    parts = []
    if row["finished"] and isinstance(completion, float) and math.isfinite(completion):
        parts.append(f"done after {text(completion, 's')}")
        first = trial.outcomes.scenario.flows[0]["name"] == row["flow"]
        if first and floor is not None and completion >= floor > 0:
            parts[0] += f", {percent(completion / floor - 1)} more than the least that the path allows"
    else:
        parts.append("not done when the trial ended")
    if isinstance(rate, float) and math.isfinite(rate):
        parts[0] += f", at {text(rate, 'bps', 3)}"
    most = longest(trace.links)
    if most:
        name = max(most, key=lambda link: most[link])
        parts.append(_queue(name, most[name]))
    if trace.held.height:
        worst = float(trace.held["held_s"].max())  # type: ignore[arg-type]
        parts.append(f"packets held back up to {text(worst, 's', 2)} by {jitter(trial.outcomes.scenario.toml)}")
    parts += _dropped(trace.drops.filter(pl.col("flow").str.replace(r"/\d+$", "") == row["flow"]))
    return "; ".join(parts)
