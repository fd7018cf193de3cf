"""Measures the verdicts of the C4 of draft -04 on `c4` and `c4-as-printed`, and writes docs/evidence/verdicts.md.

`verdicts.toml` holds the words, and why a scenario fails. One that fails without a reason there gives status 1.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import thalweg
from pages.draft_04 import of_draft_04
from pages.made import DOCS, made
from thalweg.base.quantity import percent, text
from thalweg.engine.catalogue import Suite
from thalweg.engine.outcome import Outcomes
from thalweg.judging.statistics.digits import bracketed, low_bound
from thalweg.judging.statistics.rates import rate_interval
from thalweg.judging.statistics.repetition import has_rate
from thalweg.judging.verdict import Statistics

HERE = Path(__file__).resolve().parent
TRIALS = 1000
BLOCK = 100
"""Default number of trials of a suite."""
OFFSET = "100 ms"
LATER_S = (2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0)
"""When the capacity of low-and-up doubles; 2.5 s in the draft."""
STACK = {"flow.*.stack": "quic"}
STACK_TRIALS = 20
"""Trials of the real QUIC stack, which takes several times as long as the model."""
Measured = Mapping[str, Outcomes]


def main(trials: int) -> int:
    """Runs everything and writes the page; 1 if a scenario fails for no reason that is given."""
    words = tomllib.loads((HERE / "verdicts.toml").read_text(encoding="utf-8"))
    shipped, stack, late, printed = (
        measure("c4", trials),
        measure("c4", min(trials, STACK_TRIALS), STACK),
        measure("c4", trials, {"noise.start": OFFSET}),
        measure("c4-as-printed", trials),
    )
    failing = [name for name, outcomes in shipped.items() if outcomes.verdict().answer == "fails"]
    unexplained = [name for name in failing if name not in words["reasons"]]
    facts = {**counted(shipped, trials), **of_bad_wifi(trials), **shares(shipped), "offset": OFFSET}
    facts |= {"printed": said(printed), "stack": said(stack), "stack_trials": min(trials, STACK_TRIALS)}
    facts["parted"] = parted(shipped, stack)

    def told(key: str) -> str:
        return str(words[key]).strip().format(**facts)

    reasons = [
        f"**{name}.** {words['reasons'][name].strip().format(**facts)}"
        for name in failing
        if name in words["reasons"]
    ]
    parts = [
        told("introduction"),
        table(
            (*VERDICTS, STACK_HEADER),
            [line for name, of in shipped.items() for line in verdict_rows(name, of, stack[name])],
        ),
        told("ends"),
        table(ENDS, list(end_rows(shipped))),
        told("why"),
        *reasons,
        *(f"**{name}.** Not explained." for name in unexplained),
        told("later"),
        table(("change at", "closed", "over the floor"), later_rows()),
        told("as_printed"),
        table(
            VERDICTS, [verdict_row(name, criterion) for name, of in printed.items() for criterion in deciding(of)]
        ),
        told("printed_differences"),
        told("audio"),
        table(
            ("scenario", "audio from the start of measurement: mean", "max", "all audio: mean", "max"),
            audio_rows(shipped),
        ),
        told("start_offset"),
        table(OFFSETS, list(offset_rows(shipped, late))),
        told("other_numbers"),
        made("verdicts"),
    ]
    (DOCS / "evidence" / "verdicts.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    for name in unexplained:
        print(f"{name} fails, and verdicts.toml does not say why", file=sys.stderr)
    return 1 if unexplained else 0


def measure(suite: str, trials: int, overrides: Mapping[str, str] | None = None) -> dict[str, Outcomes]:
    """All scenarios of a suite."""
    return {entry.name: of_draft_04(entry, overrides).trials(trials) for entry in Suite.find(suite).entries}


def deciding(outcomes: Outcomes) -> list[Statistics]:
    """The criteria that the verdict rests on."""
    return [criterion for criterion in outcomes.verdict().criteria if not criterion.informative]


def said(suite: Measured) -> str:
    """How many scenarios of a suite pass, fail and are infeasible."""
    answers = [outcomes.verdict().answer for outcomes in suite.values()]
    counts = [(sum(answer == given for given in answers), words) for answer, words in ANSWERS.items()]
    return f"of {len(answers)} scenarios " + ", ".join(f"{count} {word}" for count, word in counts if count)


ANSWERS = {"holds": "hold", "fails": "fail", "infeasible": "are infeasible"}


def counted(suite: Measured, trials: int) -> dict[str, Any]:
    """The summary of the whole suite."""
    starts = range(0, trials - BLOCK + 1, BLOCK)
    blocks = [sum(fails_in(outcomes, start) for outcomes in suite.values()) for start in starts]
    return {
        "trials": trials,
        "version": thalweg.__version__,
        "answers": said(suite),
        "blocks": ", ".join(map(str, blocks)) or "-",
        "block": BLOCK,
    }


def fails_in(outcomes: Outcomes, start: int) -> bool:
    """Whether a scenario fails in the block of trials that begins there."""
    rows = outcomes.flows.filter((outcomes.flows["trial"] >= start) & (outcomes.flows["trial"] < start + BLOCK))
    return replace(outcomes, flows=rows).verdict().answer == "fails"


VERDICTS = ("scenario", "criterion", "target", "median", "p95", "worst", "failures", "rate", "outcomes")
STACK_HEADER = "QUIC stack"


def parted(model: Measured, stack: Measured) -> str:
    """The scenarios in which model and stack have different verdicts."""
    pairs = ((name, of.verdict().answer, stack[name].verdict().answer) for name, of in model.items())
    names = [f"{name} ({ours} in the model, {real} with the stack)" for name, ours, real in pairs if ours != real]
    return ", ".join(names) or "none"


def verdict_rows(name: str, outcomes: Outcomes, stack: Outcomes) -> list[list[str]]:
    """The criteria of a scenario that decide, and what the QUIC stack makes of each."""
    return [
        [*verdict_row(name, criterion), stack_cell(real)]
        for criterion, real in zip(deciding(outcomes), deciding(stack), strict=True)
    ]


def stack_cell(criterion: Statistics) -> str:
    """The answer for the QUIC stack, its median, and its failures if there are any."""
    failures = f", {criterion.failures} of {criterion.n} fail" if criterion.failures else ""
    return f"{criterion.answer}: {bracketed(criterion.median_interval, criterion.unit)}{failures}"


def verdict_row(name: str, criterion: Statistics) -> list[str]:
    """A criterion with all its intervals."""
    worst = f"{text(criterion.worst, criterion.unit)} (≥ {low_bound(criterion.worst_at_least, criterion.unit)})"
    failures = f"{criterion.failures}" if criterion.answer != "infeasible" else "infeasible"
    target = text(criterion.bound, criterion.unit)
    middle, tail = (
        bracketed(each, criterion.unit) for each in (criterion.median_interval, criterion.p95_interval)
    )
    return [
        name,
        criterion.subject,
        target,
        middle,
        tail,
        worst,
        failures,
        rate(criterion),
        outcomes_text(criterion),
    ]


def outcomes_text(criterion: Statistics) -> str:
    """How many of the trials can be told apart."""
    return f"{criterion.effective_n} outcome{'' if criterion.effective_n == 1 else 's'}"


def rate(criterion: Statistics) -> str:
    """The rate of failures with its interval, by the trials that can be told apart."""
    if not has_rate(criterion.effective_n, criterion.n):
        return "-"
    interval = rate_interval(
        round(criterion.failures * criterion.effective_n / criterion.n), criterion.effective_n
    )
    return f"{percent(criterion.failures / criterion.n)} [{percent(interval.low)}, {percent(interval.high)}]"


ENDS = (
    "scenario",
    "target",
    "`closed`: median",
    "worst",
    "failures",
    "`completion`: median",
    "worst",
    "failures",
    "reference runs",
)


def end_rows(suite: Measured) -> Iterator[list[str]]:
    """The close next to the last byte, where one of them is over the target."""
    for name, outcomes in suite.items():
        criteria = outcomes.verdict().criteria
        closed = next(
            (criterion for criterion in criteria if criterion.metric == "closed" and not criterion.informative),
            None,
        )
        last = next(
            (criterion for criterion in criteria if criterion.metric == "completion" and criterion.informative),
            None,
        )
        theirs = next((criterion for criterion in criteria if criterion.source == "reference runs"), None)
        if closed is None or last is None or not closed.failures + last.failures:
            continue
        row = [name, text(closed.at_most, "s")]
        for criterion in (closed, last):
            row += [bracketed(criterion.median_interval, "s"), text(criterion.worst, "s"), str(criterion.failures)]
        peer = "-" if theirs is None else f"{text(theirs.at_most, 's')}: {theirs.failures} failures"
        yield [*row, peer]


def of_bad_wifi(trials: int) -> dict[str, Any]:
    """Common properties of slow trials of bad-wifi: time to the first megabyte, drops and queue delay."""
    outcomes = of_draft_04("c4/bad-wifi", {"sample": "10 ms"}).trials(min(trials, 200))
    (criterion,) = (criterion for criterion in deciding(outcomes))
    closed = outcomes.flows["closed_s"].to_numpy()
    first = []
    for trial in range(outcomes.n):
        series = outcomes.series(trial, "main")
        first.append(float(np.argmax(np.cumsum(series.received) >= 1e6)) * series.every_s)
    early, slow = np.array(first), closed > criterion.bound
    dropped, waited = (outcomes.flows[name].to_numpy() for name in ("packets_lost", "mean_queue_delay_s"))

    def of(values: Any, which: Any, unit: str, mean: bool = True) -> str:
        return text(float((np.mean if mean else np.median)(values[which])), unit, 3) if which.any() else "-"

    return {
        "first_correlation": f"{np.corrcoef(early, closed)[0, 1]:.2f}",
        "first_slow": of(early, slow, "s", mean=False),
        "first_others": of(early, ~slow, "s", mean=False),
        "lost_slow": of(dropped, slow, ""),
        "lost_others": of(dropped, ~slow, ""),
        "waited_slow": of(waited, slow, "s"),
        "waited_others": of(waited, ~slow, "s"),
    }


def shares(suite: Measured) -> dict[str, str]:
    """For each competition, how completion goes with the share of the main flow while both are there."""
    found = {}
    for name in ("c4-short", "c4-background-first", "c4-bad-wifi", "cubic-bad-wifi", "bbr-bad-wifi"):
        flows = suite[name].flows
        rows = flows.filter((flows["flow"] == "main") & flows["finished"] & flows["share"].is_not_null())
        share, closed = rows["share"].to_numpy(), rows["closed_s"].to_numpy()
        key = name.replace("-", "_")
        found[f"{key}_correlation"] = f"{np.corrcoef(share, closed)[0, 1]:.2f}"
        low, high = np.quantile(share, (0.05, 0.95))
        found[f"{key}_share"] = (
            f"{100 * share.mean():.0f} % on average (5th to 95th percentile {100 * low:.0f} to {100 * high:.0f} %)"
        )
    return found


def later_rows() -> list[list[str]]:
    """Where in its cycle C4 meets the change of low-and-up."""
    rows = []
    for at in LATER_S:
        outcomes = of_draft_04("c4/low-and-up", {"path.change.0.at": f"{at:g} s"}).trials(20)
        criterion = deciding(outcomes)[0]
        over = criterion.median - (criterion.floor or math.nan)
        rows.append([f"{at:.1f} s", text(criterion.median, "s"), text(over, "s", 3)])
    return rows


def audio_rows(suite: Measured) -> list[list[str]]:
    """Audio as the draft measures it and as the reference does, medians."""
    columns = ("mean_delay_s", "max_delay_s", "mean_delay_from_start_s", "max_delay_from_start_s")
    rows = []
    for name, outcomes in suite.items():
        audio = outcomes.streams.filter(pl.col("flow") == "main", pl.col("stream") == "audio")
        if audio.height and audio["mean_delay_s"].is_not_nan().all():
            medians = [float(np.median(audio[column].to_numpy())) for column in columns]
            rows.append([name, *(text(median, "s", 4) for median in medians)])
    return rows


OFFSETS = (
    "scenario",
    "criterion",
    "as shipped: range",
    "failures",
    "outcomes",
    "starts within 100 ms: range",
    "failures",
    "outcomes",
)


def offset_rows(fixed: Measured, late: Measured) -> Iterator[list[str]]:
    """Effect of a start offset: the range of the first criterion, its failures, the trials that differ."""
    for name in fixed:
        pair = [deciding(suite[name])[0] for suite in (fixed, late)]
        row = [name, pair[0].subject]
        for criterion in pair:
            row += [
                text(criterion.worst - criterion.min, criterion.unit, 3),
                str(criterion.failures),
                outcomes_text(criterion),
            ]
        yield row


def table(headers: tuple[str, ...], rows: list[list[str]]) -> str:
    """A table in Markdown; the first column holds words."""
    marks = [":--", *["--:"] * (len(headers) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [headers, marks, *rows])
