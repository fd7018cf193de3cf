"""Compares the modelled endpoint with the real QUIC stack, over many kinds of paths: goodput and losses.

    python -m pages.model_and_stack [--points N] [--seconds S] [--out FILE.json]   measures
    python -m pages.model_and_stack --page FILE.json                               writes the page

The paths are the first N points of a Sobol sequence over seven axes, so that any number of them covers each axis
and each pair of axes evenly. All flows of a path have the same controller and move the same. What it says of a
point are intervals, not medians: at 5 % loss a trial says little, and a difference that chance explains is none.
Flow-control windows are as wide as the stack's, and neither side looks for a larger path MTU.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import qmc, t

from pages.made import DOCS, commit
from thalweg import Scenario

PAGE = DOCS / "evidence" / "model-and-stack.md"
GOODPUT, LOSSES, FEW = 0.05, 0.20, 10
"""Bounds of the two differences, and the number of packets that makes no difference."""
LEAST_SEEDS, MOST_SEEDS = 5, 20
"""Trials of each stack: as many as decide, between these."""
MOST_PACKETS = 8_000
"""A flow moves what its path carries in 50 round trips, up to this many packets, and 200 at least."""
TIME_LIMIT_S = 600
SEED = 12
"""Scrambles the Sobol sequence."""

AXES: dict[str, tuple[float | str | bool, ...]] = {
    "rate_mbps": (1, 10, 100, 1000, 10_000),
    "rtt_ms": (0.1, 5, 40, 150, 600),
    "loss_percent": (0, 1, 5, 20, 40),
    "queue": ("drop-tail", "red", "codel", "fq-codel", "pie", "dualpi2"),
    "reorder": (False, True),
    "flows": (1, 3),
    "controller": ("cubic", "bbr", "c4:variant=draft-04"),
}
"""What is varied, in the order of the fields of a case."""


@dataclass(frozen=True)
class Case:
    """One path, and who uses it."""

    rate_mbps: float
    rtt_ms: float
    loss_percent: float
    queue: str
    reorder: bool
    flows: int
    controller: str

    def megabytes(self) -> float:
        """Bytes of each flow."""
        packets = self.rate_mbps * self.rtt_ms * 1e3 / 8 / 1400 * 50
        return min(max(packets, 200), MOST_PACKETS) * 1400 / 1e6

    def text(self, stack: str) -> str:
        """The scenario."""
        lines = [
            'title = "model and stack"',
            f'time_limit = "{TIME_LIMIT_S} s"',
            "[transport]",
            'initial_mtu = "1252 B"',
            'initial_max_data = "128 MiB"',
            'initial_max_stream_data = "128 MiB"',
            "[path]",
            f'rate = "{self.rate_mbps:g} Mbps"',
            f'rtt = "{self.rtt_ms:g} ms"',
            'buffer = "1 bdp"' if self.rate_mbps * self.rtt_ms > 100 else 'buffer = "20 packets"',
            f'queue = {{ model = "{self.queue}" }}',
        ]
        if self.loss_percent:
            lines.append(f'loss = {{ model = "random", rate = "{self.loss_percent:g} %" }}')
        if self.reorder:
            lines += [
                f'jitter = {{ model = "uniform", min = "0 s", max = "{self.rtt_ms / 8:g} ms" }}',
                "reorder = true",
            ]
        for flow in range(self.flows):
            lines += [
                "[[flow]]",
                f'name = "f{flow}"',
                f'controller = "{self.controller}"',
                f'download = "{self.megabytes():g} MB"',
                f'stack = "{stack}"',
            ]
        return "\n".join(lines)


def points(count: int) -> Iterator[Case]:
    """The first paths of the sequence, each once."""
    seen = set()
    for point in qmc.Sobol(len(AXES), rng=SEED).random(count):
        values = [levels[int(u * len(levels))] for u, levels in zip(point, AXES.values(), strict=True)]
        case = Case(*values)  # type: ignore[arg-type]
        if case not in seen:
            seen.add(case)
            yield case


@dataclass(frozen=True)
class Interval:
    """A ratio of model to stack, and where it lies with 95 % confidence."""

    ratio: float
    low: float
    high: float

    def judge(self, bound: float) -> str:
        """`alike` or `differs` where the interval lies inside or outside the bounds, else `open`."""
        least, most = 1 / (1 + bound), 1 + bound
        if least <= self.low and self.high <= most:
            return "alike"
        return "differs" if self.high < least or self.low > most else "open"


def compare(model: list[float], stack: list[float]) -> Interval:
    """Geometric means: Welch's interval of the difference of logarithms."""
    a, b = np.log(model), np.log(stack)
    middle = float(a.mean() - b.mean())
    va, vb = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    if va + vb < 1e-18:
        return Interval(*[math.exp(middle)] * 3)
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    half = float(t.ppf(0.975, freedom)) * math.sqrt(va + vb)
    return Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


@dataclass(frozen=True)
class Trials:
    """What the trials of one stack have given, all flows together."""

    goodput_bps: list[float]
    lost: list[float]
    dropped: list[float]
    spurious: list[float]


def play(case: Case, stack: str, seeds: int) -> Trials:
    """Runs trials. The goodput of an unfinished flow is that until the limit."""
    flows = Scenario.from_toml(case.text(stack), "model-and-stack").trials(seeds).flows
    told = Trials([], [], [], [])
    for _, trial in flows.group_by("trial", maintain_order=True):
        told.goodput_bps.append(max(sum(trial["mean_rate_bps"].to_list()), 1.0))
        told.lost.append(float(trial["packets_lost"].sum()))
        told.dropped.append(
            float(sum(trial["packets_dropped"].to_list()) + sum(trial["packets_lost_at_random"].to_list()))
        )
        told.spurious.append(float(trial["spurious_losses"].sum()))
    return told


@dataclass(frozen=True)
class Point:
    """A case that was measured."""

    case: Case
    model: Trials
    stack: Trials
    seconds: float

    @property
    def goodput(self) -> Interval:
        """The difference in goodput of all flows together."""
        return compare(self.model.goodput_bps, self.stack.goodput_bps)

    @property
    def losses(self) -> Interval:
        """Packets declared lost; a few more on both sides, so that a few make no difference."""
        more = FEW / LOSSES
        return compare([x + more for x in self.model.lost], [x + more for x in self.stack.lost])

    @property
    def verdicts(self) -> tuple[str, str]:
        """The verdicts on goodput and on losses."""
        return self.goodput.judge(GOODPUT), self.losses.judge(LOSSES)


def measure(case: Case, most: int = MOST_SEEDS) -> Point:
    """Doubles the number of trials until both figures are decided or there are enough."""
    seeds, began = LEAST_SEEDS, time.process_time()
    while True:
        point = Point(case, play(case, "model", seeds), play(case, "quic", seeds), time.process_time() - began)
        if "open" not in point.verdicts or seeds * 2 > most:
            return point
        seeds *= 2


def example(title: str, rate: str, loss: str, controller: str, size: str, flows: int) -> tuple[str, str]:
    """One of the four cases with which the comparison began, as a scenario without its stacks."""
    lines = [f'title = "{title}"', 'time_limit = "600 s"', "[path]", f'rate = "{rate}"', 'rtt = "40 ms"']
    if loss != "0 %":
        lines.append(f'loss = {{ model = "random", rate = "{loss}" }}')
    for flow in range(flows):
        lines += ["[[flow]]", f'name = "f{flow}"', f'controller = "{controller}"', f'download = "{size}"']
    return title, "\n".join(lines)


EXAMPLES = (
    example("2 MB by BBR at 20 % loss", "20 Mbps", "20 %", "bbr", "2 MB", 1),
    example("200 kB by CUBIC at 40 % loss", "20 Mbps", "40 %", "cubic", "200 kB", 1),
    example("2 MB by CUBIC at 5 % loss", "20 Mbps", "5 %", "cubic", "2 MB", 1),
    example("20 MB by CUBIC against CUBIC, 50 Mbps", "50 Mbps", "0 %", "cubic", "20 MB", 2),
)
EXAMPLE_SEEDS = 21


def measure_examples() -> list[list[str | float]]:
    """Medians of completion and lost packets of the first flow, and where the ratio of mean completions lies."""
    rows: list[list[str | float]] = []
    for title, text in EXAMPLES:
        told = []
        for stack in ("model", "quic"):
            scenario = Scenario.from_toml(text, "example", {"flow.*.stack": stack})
            flows = scenario.trials(EXAMPLE_SEEDS).flows.filter(pl.col("flow") == "f0")
            times = [TIME_LIMIT_S if x is None else x for x in flows["completion_s"].to_list()]
            told.append((times, float(np.median(flows["packets_lost"].to_list()))))
        ratio = compare(told[0][0], told[1][0])
        times = [float(np.median(times)) for times, _ in told]
        rows.append([title, *times, ratio.ratio, ratio.low, ratio.high, *(lost for _, lost in told)])
    return rows


CAUSES = {
    "reordering": "late packets, and pacing",
    "loss": "timeouts, and pacing",
    "": "pacing, or not found",
}


def cause(case: Case) -> str:
    """The section of the page that a point which differs belongs to."""
    return CAUSES["reordering" if case.reorder else "loss" if case.loss_percent >= 20 else ""]


def pooled(found: list[Point], figure: Callable[[Point], Interval]) -> str:
    """Geometric mean of the ratios of many points."""
    return f"{math.exp(float(np.mean([math.log(figure(point).ratio) for point in found]))):.2f}" if found else "-"


def counts(found: list[Point], index: int) -> str:
    """How many are alike, open and different."""
    told = [point.verdicts[index] for point in found]
    return ", ".join(str(told.count(word)) for word in ("alike", "open", "differs"))


def axis_table(found: list[Point]) -> list[str]:
    """Agreement for each value of each axis."""
    lines = [
        "| axis | value | points | goodput: alike, open, differs | mean ratio | losses: alike, open, differs |"
        " mean ratio |",
        "|--|--|--:|--:|--:|--:|--:|",
    ]
    for axis, levels in AXES.items():
        for level in levels:
            part = [point for point in found if getattr(point.case, axis) == level]
            if part:
                lines.append(
                    f"| {axis} | {level} | {len(part)} | {counts(part, 0)} | {pooled(part, lambda p: p.goodput)} |"
                    f" {counts(part, 1)} | {pooled(part, lambda p: p.losses)} |"
                )
    return lines


def point_table(found: list[Point]) -> list[str]:
    """The points that differ."""
    lines = [
        "| Mbps | ms | loss % | queue | reorders | flows | controller | trials | goodput, model over stack |"
        " losses | of them spurious | see |",
        "|--:|--:|--:|--|--|--:|--|--:|--:|--:|--:|--|",
    ]
    for point in found:
        if "differs" not in point.verdicts:
            continue
        case, goodput, losses = point.case, point.goodput, point.losses
        spurious = [sum(t.spurious) / max(sum(t.lost), 1) for t in (point.model, point.stack)]
        lines.append(
            f"| {case.rate_mbps:g} | {case.rtt_ms:g} | {case.loss_percent:g} | {case.queue} |"
            f" {'yes' if case.reorder else 'no'} | {case.flows} | {case.controller} | {len(point.model.lost)} |"
            f" {goodput.ratio:.2f} ({goodput.low:.2f} to {goodput.high:.2f}) |"
            f" {losses.ratio:.2f} ({losses.low:.2f} to {losses.high:.2f}) |"
            f" {spurious[0]:.0%}, {spurious[1]:.0%} | {cause(case)} |"
        )
    return lines


def read(file: Path) -> tuple[str, list[Point], list[list[str | float]]]:
    """What was measured."""
    told = json.loads(file.read_text())
    found = [
        Point(Case(**point["case"]), Trials(**point["model"]), Trials(**point["stack"]), point["seconds"])
        for point in told["points"]
    ]
    return told["commit"], found, told["examples"]


def page(file: Path) -> None:
    """Writes the page."""
    made_with, found, examples = read(file)
    in_order = [point for point in found if not point.case.reorder]
    late = [point for point in found if point.case.reorder]
    clean = [point for point in in_order if point.case.loss_percent == 0]
    text = PAGE.read_text()
    numbers = [
        f"Made with commit {made_with}: {len(found)} points, {sum(len(p.model.lost) for p in found)} trials of"
        f" each stack, {sum(p.seconds for p in found) / 60:.0f} minutes of processor time.",
        "",
        f"Points with goodput alike, open and different: {counts(clean, 0)} of the {len(clean)} without loss and"
        f" reordering; {counts(in_order, 0)} of the {len(in_order)} without reordering; {counts(late, 0)} of the"
        f" {len(late)} with it.",
        "",
        "### Without reordering",
        "",
        *axis_table(in_order),
        "",
        "### With reordering",
        "",
        *axis_table(late),
        "",
        "### Points that differ",
        "",
        *point_table(found),
        "",
        "### The examples",
        "",
        f"20 Mbps and 40 ms unless stated, medians of {EXAMPLE_SEEDS} trials.",
        "",
        "| | model, s | stack, s | ratio of geometric means | lost, model | lost, stack |",
        "|--|--:|--:|--:|--:|--:|",
        *(
            f"| {title} | {model:.3g} | {stack:.3g} | {ratio:.2f} ({low:.2f} to {high:.2f}) | {a:g} | {b:g} |"
            for title, model, stack, ratio, low, high, a, b in examples
        ),
    ]
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([before + BEGIN, "", *numbers, "", END + after]))


BEGIN, END = "<!-- measured -->", "<!-- end -->"


def walk(count: int, seconds: float, out: Path) -> None:
    """Measures the examples, then points until the time is over; writes after each."""
    end = time.monotonic() + seconds
    found: list[dict[str, object]] = []
    told = {"commit": commit(), "points": found, "examples": measure_examples()}
    for case in points(count):
        if time.monotonic() > end:
            break
        point = measure(case)
        found.append(asdict(point))
        print(case, "goodput {}, losses {}".format(*point.verdicts), file=sys.stderr, flush=True)
        out.write_text(json.dumps(told))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--out", type=Path, default=Path("model-and-stack.json"))
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    if given.page:
        page(given.page)
    else:
        walk(given.points, given.seconds, given.out)


if __name__ == "__main__":
    main()
