"""Compares our distributions with the peer's: writes docs/evidence/fidelity.md and its two figures.

`fidelity.toml` says which scenario is compared with which spec of the peer, the tolerances, and the reasons of
values that are not inside them. Such a value without a reason gives status 1.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import thalweg
from pages.draft_04 import of_draft_04
from pages.made import DOCS, ROOT, made
from pages.peer import reasons
from pages.peer.agreement import (
    Agreement,
    agreement,
    difference_of_shares,
    ratio_of_quantiles,
    sample_of,
    share_above,
    split,
)
from pages.peer.reasons import OpenValue
from thalweg.base.quantity import percent
from thalweg.judging.statistics.digits import ranged
from thalweg.judging.statistics.interval import CONFIDENCE, Interval, Values
from thalweg.pages.figures.downsample import downsample
from thalweg.pages.figures.figure import Chart, save
from thalweg.pages.figures.theme import BLUE, CONFIG, VERMILION

HERE = Path(__file__).resolve().parent
REFERENCE = ROOT / "tests" / "reference"
QUANTILES = {"p5": 5, "p25": 25, "median": 50, "p75": 75, "p95": 95}
SHOWN = ("p5", "median", "p95")
JUDGED = {"median": ("median",), "tails": ("p5", "p95"), "quartiles": ("p25", "p75")}
"""The quantiles that a tolerance is of."""
SLOW_S = 7.5
"""Between both kinds of trials on bad Wi-Fi: one flow waits for the other, or does not."""
STREAMS = {"a1": "audio", "vlow": "video", "vmid": "video-high"}
PEERS_SETTINGS = {"transport.mtu_fallback": "true", "noise.handshake": "0 B", "noise.phase": "0 s"}
"""What the peer's transport does and ours on request only, and draws of the suites that the peer does not have:
the introduction of the page says so."""
PEER, OURS = "peer", "Thalweg"
COLOURS = alt.Scale(domain=[PEER, OURS], range=[VERMILION, BLUE])


@dataclass(frozen=True)
class Row:
    """One metric of one scenario, the peer's and ours."""

    spec: str
    metric: str
    unit: str
    peer: dict[str, float]
    ours: dict[str, float]
    tolerance: dict[str, float]
    """In percent, by quantile; a quantile that is not there is shown and not judged."""
    drops: tuple[Values, Values] | None
    """Packets that the queue towards the client dropped in each trial, theirs and ours."""
    trials: tuple[Values, Values]
    """The values of each trial, theirs and ours."""
    ratios: dict[str, Interval]
    """Ours over the peer's with their intervals, by judged quantile."""

    @property
    def by_quartiles(self) -> bool:
        """Whether its trials are of two kinds."""
        return "p25" in self.tolerance

    def difference(self, quantile: str) -> float:
        """In percent of the peer's value."""
        return 100.0 * (self.ours[quantile] / self.peer[quantile] - 1.0)

    def answered(self, answer: Agreement) -> list[str]:
        """The judged quantiles with this answer."""
        return [q for q, most in self.tolerance.items() if agreement(self.ratios[q], most) == answer]

    def answer(self) -> Agreement:
        """The agreement over all its judged quantiles."""
        return "outside" if self.answered("outside") else "undecided" if self.answered("undecided") else "inside"

    def ratio_of_drops(self) -> Interval | None:
        """The median of our drops over the peer's; None where drops are not judged."""
        if self.drops is None or not np.median(self.drops[0]):
            return None
        peer, ours = self.drops
        return ratio_of_quantiles(ours, peer, "median")

    def open_values(self, tolerance_of_drops: float) -> Iterator[OpenValue]:
        """What is not inside, of the quantiles and of the drops."""
        judged = [(f"{self.metric}, {q}", self.ratios[q], most) for q, most in self.tolerance.items()]
        if ratio := self.ratio_of_drops():
            judged.append(("drops, median", ratio, tolerance_of_drops))
        for what, ratio, most in judged:
            if (answer := agreement(ratio, most)) != "inside":
                yield OpenValue(self.spec, what, ratio, most, answer)


def main(trials: int) -> int:
    """Runs everything and writes the page; 1 if a value that is not inside has no reason."""
    plan = tomllib.loads((HERE / "fidelity.toml").read_text(encoding="utf-8"))
    peer = pl.read_csv(REFERENCE / "peer_trials.csv")
    rows: list[Row] = []
    for compare in plan["compare"]:
        print(compare["spec"], file=sys.stderr)
        rows += compared(compare, plan["tolerance"][compare["tolerance"]], peer, trials)
    save(distributions(rows), DOCS / "images" / "fidelity-distributions.svg")
    save(series(plan["series"], trials), DOCS / "images" / "fidelity-series.svg")
    text = page(plan, rows, [checked(check, trials) for check in plan["check"]], trials)
    (DOCS / "evidence" / "fidelity.md").write_text(text, encoding="utf-8")
    wrong = list(reasons.complaints(reasons.reasons_of(plan), open_values(plan, rows)))
    for line in wrong:
        print(line, file=sys.stderr)
    return min(len(wrong), 1)


def open_values(plan: dict[str, Any], rows: list[Row]) -> list[OpenValue]:
    """All that is not inside."""
    return [value for row in rows for value in row.open_values(plan["tolerance_of_drops"])]


def differences(plan: dict[str, Any], rows: list[Row], trials: int) -> list[str]:
    """Why values are not inside, with trials that are varied as the reasons ask."""
    compares = {compare["spec"]: compare for compare in plan["compare"]}
    of_peer = {row.spec: row for row in rows if row.drops}

    def peers(spec: str) -> reasons.Numbers:
        drops, _ = of_peer[spec].drops or ((), ())
        return f"{of_peer[spec].peer['median']:.3f} s", f"{np.median(drops):.0f}"

    def ours(spec: str, settings: dict[str, str]) -> reasons.Numbers:
        compare = compares[spec]
        outcomes = load({**compare, "set": {**compare.get("set", {}), **settings}}).trials(trials, seed=1)
        closed = outcomes.flows.filter(flow="main")["closed_s"].to_numpy()
        drops = outcomes.links.filter(link="down")["dropped_packets"].to_numpy()
        return f"{np.median(closed):.3f} s", f"{np.median(drops):.0f}"

    head, *values = reasons.section(reasons.reasons_of(plan), open_values(plan, rows), peers, ours)
    return [head, plan["differences"].strip(), *values]


def load(entry: dict[str, Any]) -> thalweg.Scenario:
    """The scenario of an entry of fidelity.toml."""
    overrides = {**PEERS_SETTINGS, **entry.get("set", {})}
    return of_draft_04(entry["scenario"], overrides, entry.get("controllers", {}))


def compared(
    compare: dict[str, Any], tolerance: dict[str, float], peer: pl.DataFrame, trials: int
) -> Iterator[Row]:
    """The metrics of one scenario."""
    outcomes = load(compare).trials(trials, seed=1)
    flows = outcomes.flows.filter(pl.col("flow") == "main")
    down = outcomes.links.filter(pl.col("link") == "down")
    theirs = peer.filter(pl.col("spec") == compare["spec"])
    one_by_one = each_trial(compare["spec"])
    judged = {q: most for which, most in tolerance.items() for q in JUDGED[which]}

    def row(name: str, metric: str, unit: str, column: pl.Series, limits: dict[str, float], drops: bool) -> Row:
        line = theirs.row(by_predicate=pl.col("metric") == name, named=True)
        values = column.to_numpy() * (1e3 if unit == "ms" else 1.0)
        of_peer = sample_of(line, line["n"])
        dropped = None
        if drops:
            known = theirs.row(by_predicate=pl.col("metric") == "pkts_down_dropped", named=True)
            of_link = sample_of(known, known["n"])
            if one_by_one.height:
                of_peer, of_link = (one_by_one[name].to_numpy() for name in ("closed_s", "dropped_packets"))
            dropped = (of_link, down["dropped_packets"].to_numpy())
        return Row(
            compare["spec"],
            metric,
            unit,
            {q: float(line[q]) for q in QUANTILES},
            {q: float(np.percentile(values, p)) for q, p in QUANTILES.items()},
            limits,
            dropped,
            (of_peer, values),
            {q: ratio_of_quantiles(values, of_peer, q) for q in limits},
        )

    if compare["tolerance"].startswith("media"):
        # The peer counts all frames of audio, and the frames of video from the start of measurement.
        since = {stream: "_from_start" if stream == "audio" else "" for stream in STREAMS.values()}
        for delay, short_delay, limits in (("mean", "avg", judged), ("max", "max", {})):
            for short, stream in STREAMS.items():
                of_stream = outcomes.streams.filter(pl.col("flow") == "main", pl.col("stream") == stream)
                column = of_stream[f"{delay}_delay{since[stream]}_s"]
                yield row(f"{short}_{short_delay}_ms", f"{stream}, {delay}", "ms", column, limits, False)
    else:
        yield row("completion_s", "closed", "s", flows["closed_s"], judged, True)


def each_trial(spec: str) -> pl.DataFrame:
    """The trials of a spec of the peer one by one; none if only their quantiles are kept."""
    found = pl.read_csv(REFERENCE / "peer_each_trial.csv").select(pl.col(f"^{spec} .*$"))
    return found.rename(lambda name: name.removeprefix(f"{spec} "))


def checked(check: dict[str, Any], trials: int) -> list[str]:
    """A line of the table of check values: means, the only data of the peer."""
    flows = load(check).trials(trials, seed=1).flows.filter(pl.col("flow") == "main")
    ours = float(flows["closed_s"].to_numpy().mean())
    return [
        check["spec"],
        *run_with(check),
        f"{check['mean']:.3f}",
        f"{ours:.3f}",
        f"{100 * (ours / check['mean'] - 1):+.1f}",
    ]


def uncompared(compares: list[dict[str, Any]]) -> list[str]:
    """The scenarios of the suite without a reference for the main flow's controller."""
    suite = Path(thalweg.__file__).parent / "suites" / "c4"
    names = {f"c4/{path.stem}" for path in suite.glob("*.toml")} - {"c4/suite"}
    return sorted(names - {c["scenario"] for c in compares if "main" not in c.get("controllers", {})})


# ---- the figures --------------------------------------------------------------------------------


def distributions(rows: list[Row]) -> Chart:
    """Quantile bars of both, in percent of the peer's median."""
    completion = [row for row in rows if row.metric == "closed"]
    media = [row for row in rows if row.metric.endswith("mean")]
    panels = [
        quantile_bars(completion, "completion, with the close exchange: difference from the peer's median", 25),
        quantile_bars(media, "mean delay of frames: difference from the peer's median", 50),
    ]
    title = alt.Title(
        "A hundred trials of each, peer and Thalweg",
        subtitle="thin bar 5th to 95th percentile, thick bar the middle half, line median; cut at the frame",
    )
    figure: Chart = alt.vconcat(*panels, title=title).configure(**CONFIG)
    return figure


def quantile_bars(rows: list[Row], title: str, reach: int) -> alt.LayerChart | alt.FacetChart:
    """One line for each row, two bars in it."""
    table = []
    for row in rows:
        label = row.spec if row.metric == "closed" else f"{row.spec} {row.metric.removesuffix(', mean')}"
        for who, values in ((PEER, row.peer), (OURS, row.ours)):
            relative = {q: 100.0 * (v / row.peer["median"] - 1.0) for q, v in values.items()}
            cut = {q: min(max(v, -reach), reach) for q, v in relative.items()}
            table.append({"label": label, "who": who, **cut})
    base = alt.Chart(pl.DataFrame(table)).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("who:N", sort=[PEER, OURS]),
        color=alt.Color("who:N", scale=COLOURS, sort=[PEER, OURS], legend=alt.Legend(title=None, orient="top")),
    )
    x = alt.X("p5:Q", title=f"{title} (%)", scale=alt.Scale(domain=[-reach, reach]))
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color="#8a8f98", strokeDash=[3, 3]).encode(x="x:Q")
    return alt.layer(
        zero,
        base.mark_rule(strokeWidth=1.5).encode(x=x, x2="p95:Q"),
        base.mark_rule(strokeWidth=5, opacity=0.55).encode(x="p25:Q", x2="p75:Q"),
        base.mark_tick(thickness=2.5, height=8).encode(x="median:Q"),
    ).properties(width=560, height=alt.Step(9))


PANELS = {
    "window": ("window (kB)", "cwnd_bytes", "window_bytes", 1e-3, 1e-3),
    "in flight": ("in flight (kB)", "bytes_in_flight", "in_flight_bytes", 1e-3, 1e-3),
    "RTT": ("smoothed RTT (ms)", "smoothed_rtt_ms", "smoothed_rtt_s", 1.0, 1e3),
    "pacing": ("pacing (Mbps)", "pacing_rate_bps", "pacing_bps", 1e-6, 1e-6),
}
"""Title, the peer's column and ours, and the factors to the unit of the axis."""
UNPACED = 1e5
"""Pacing rates above this many Mbps stand for none."""


def series(entries: list[dict[str, Any]], trials: int) -> Chart:
    """Time series of one trial of each, laid over each other."""
    table = pl.concat([part for entry in entries for part in trial_series(entry, trials)])
    grid = []
    for panel, (title, *_) in PANELS.items():
        line = []
        for entry in entries:
            part = table.filter((pl.col("panel") == panel) & (pl.col("trial") == entry["file"]))
            top = float(np.percentile(part["value"].to_numpy(), 99.5)) * 1.1
            line.append(
                alt.Chart(part, title=entry["file"] if panel == "window" else "")
                .mark_line(strokeWidth=1, interpolate="step-after", clip=True)
                .encode(
                    x=alt.X("time_s:Q", title="time (s)" if panel == "pacing" else None),
                    y=alt.Y(
                        "value:Q", title=title if entry is entries[0] else None, scale=alt.Scale(domain=[0, top])
                    ),
                    color=alt.Color("who:N", scale=COLOURS, legend=alt.Legend(title=None, orient="top")),
                )
                .properties(width=230, height=110)
            )
        grid.append(alt.hconcat(*line))
    figure: Chart = alt.vconcat(*grid).configure(**CONFIG)
    return figure


def trial_series(entry: dict[str, Any], trials: int) -> Iterator[pl.DataFrame]:
    """The peer's series and the series of our trial whose end is nearest to our median."""
    theirs = pl.read_csv(REFERENCE / "series" / f"{entry['file']}.csv", infer_schema_length=None)
    scenario = load(entry)
    ends = scenario.trials(trials, seed=1).flows.filter(pl.col("flow") == "main")["closed_s"].to_numpy()
    trace = scenario.run(1 + int(np.argmin(abs(ends - np.median(ends)))), trace=True).trace
    assert trace is not None
    ours = trace.flows.filter(pl.col("flow") == "main")
    for panel, (_, peer_column, column, peer_factor, factor) in PANELS.items():
        for who, frame, name, scale in ((PEER, theirs, peer_column, peer_factor), (OURS, ours, column, factor)):
            values = frame.select(
                pl.lit(entry["file"]).alias("trial"),
                pl.lit(panel).alias("panel"),
                pl.lit(who).alias("who"),
                pl.col("time_s").cast(pl.Float64),
                (pl.col(name).cast(pl.Float64) * scale).alias("value"),
            )
            yield downsample(values.filter(pl.col("value") < UNPACED), "value", [], buckets=65)


# ---- the page --------------------------------------------------------------------------------


def run_with(entry: dict[str, Any]) -> list[str]:
    """The scenario of an entry, and what is set in it."""
    changes = {**entry.get("controllers", {}), **entry.get("set", {})}
    return [entry["scenario"], ", ".join(f"{key}={value}" for key, value in changes.items())]


def page(plan: dict[str, Any], rows: list[Row], checks: list[list[str]], trials: int) -> str:
    """The page in Markdown; differences in percent."""
    compares = plan["compare"]
    missing = uncompared(compares)
    judged = [row for row in rows if row.tolerance]
    answers = [row.answer() for row in judged]
    parts = [
        plan["introduction"].strip(),
        f"Of {len(judged)} judged metrics, {answers.count('inside')} are inside, "
        f"{answers.count('outside')} outside and {answers.count('undecided')} undecided; "
        f"{trials} trials of each, seeds 1 to {trials}, version {thalweg.version()}.",
        "![Quantile bars of the peer and of Thalweg for each scenario](../images/fidelity-distributions.svg)",
        "## What is compared with what",
        table(
            ["peer's spec", "scenario", "with", "tolerance"],
            [
                [compare["spec"], *run_with(compare), limits(plan["tolerance"][compare["tolerance"]])]
                for compare in compares
            ],
        ),
        "## What has no reference",
        f"{len(missing)} of the suite's scenarios are not judged here: {', '.join(missing)}.",
        plan["uncompared"].strip(),
        "## Completion",
        "Seconds from the start of the trial to the end of the close exchange; `drops` are packets that the queue "
        "towards the client dropped, medians.",
        table(
            [
                "spec",
                "p5 peer",
                "ours",
                "%",
                "median peer",
                "ours",
                "%",
                "p95 peer",
                "ours",
                "%",
                "drops peer",
                "ours",
                "inside",
            ],
            [cells(row) for row in rows if row.metric == "closed" and not row.by_quartiles],
        ),
        plan["jitter"].strip().format(slow=f"{SLOW_S:g} s"),
        table(
            [
                "spec",
                "p25 peer",
                "ours",
                "%",
                "p75 peer",
                "ours",
                "%",
                "drops peer",
                "ours",
                f"slower than {SLOW_S:g} s",
                "inside",
            ],
            [cells(row) for row in rows if row.by_quartiles],
        ),
        "## Drops",
        plan["drops"].strip().format(tolerance=plan["tolerance_of_drops"]),
        table(
            ["spec", "median peer", "ours", "ours over peer", "answer", "two modes", "share of the upper one"],
            [drop_cells(row, plan["tolerance_of_drops"]) for row in rows if row.drops],
        ),
        "## Media",
        "Delays of frames in milliseconds. Largest delays are shown and not judged: each is one frame.",
        table(
            ["spec", "metric", *(cell for q in SHOWN for cell in (f"{q} peer", "ours", "%")), "inside"],
            [cells(row) for row in rows if row.metric != "closed"],
        ),
        "## Check values",
        plan["checks"].strip(),
        table(["spec", "scenario", "with", "mean peer", "ours", "%"], checks),
        "## Two flows that start at once",
        plan["together"].strip(),
        *differences(plan, rows, trials),
        "## Time series",
        "One trial of the peer, and of ours the one that ends nearest to our median. Trials of bad Wi-Fi "
        "cannot coincide, their jitter being drawn independently: compare levels and shapes.",
        "![Window, bytes in flight, smoothed RTT and pacing rate of both](../images/fidelity-series.svg)",
        made("fidelity"),
    ]
    return "\n\n".join(parts) + "\n"


def limits(tolerance: dict[str, float]) -> str:
    """A tolerance in words.

    >>> limits({"median": 10, "tails": 20})
    'median 10 %, p5 and p95 20 %'
    """
    return ", ".join(f"{' and '.join(JUDGED[which])} {most:g} %" for which, most in tolerance.items())


def cells(row: Row) -> list[str]:
    """One line of a table."""
    digits = 3 if row.unit == "s" else 1
    out = [row.spec] if row.metric == "closed" else [row.spec, row.metric]
    for q in JUDGED["quartiles"] if row.by_quartiles else SHOWN:
        out += [f"{row.peer[q]:.{digits}f}", f"{row.ours[q]:.{digits}f}", f"{row.difference(q):+.1f}"]
    if row.drops:
        out += [f"{np.median(values):.0f}" for values in row.drops]
    if not row.tolerance:
        return [*out, "shown"]
    if row.by_quartiles:
        out.append(shares_text(*row.trials, SLOW_S))
    answer = row.answer()
    which = f": {', '.join(row.answered(answer))}"
    return [*out, {"inside": "yes", "outside": f"**no{which}**", "undecided": f"undecided{which}"}[answer]]


def shares_text(peer: Values, ours: Values, at: float) -> str:
    """The shares of trials above a value, and whether they differ."""
    theirs, own = (share_above(values, at, CONFIDENCE) for values in (peer, ours))
    difference = difference_of_shares(ours, peer, at)
    told = "" if difference.low <= 0 <= difference.high else ", **differ**"
    return f"peer {share_text(theirs)}, ours {share_text(own)}{told}"


def drop_cells(row: Row, tolerance: float) -> list[str]:
    """Drops of both: the medians, their ratio, and the shares of trials in the upper of two modes."""
    assert row.drops
    peer, ours = row.drops
    medians = [f"{np.median(values):.0f}" for values in row.drops]
    modes = ["-", "-"]
    at = split(peer)
    if at is None:
        at = split(ours)
    if at is not None:
        modes = [f"around {at:.0f}", shares_text(peer, ours, at)]
    ratio = row.ratio_of_drops()
    if ratio is None:
        return [row.spec, *medians, "-", "shown", *modes]
    answer = agreement(ratio, tolerance)
    return [row.spec, *medians, ranged(ratio), f"**{answer}**" if answer == "outside" else answer, *modes]


def share_text(share: Interval) -> str:
    """A share of trials with its interval."""
    return f"{percent(share.value)} [{percent(share.low)}, {percent(share.high)}]"


def table(headers: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown; columns of numbers are right-aligned."""
    numeric = [
        all(line[i].replace("-", "").replace("+", "").replace(".", "").isdigit() for line in lines)
        for i in range(len(headers))
    ]
    marks = ["--:" if number else ":--" for number in numeric]
    return "\n".join(f"| {' | '.join(line)} |" for line in [headers, marks, *lines])
