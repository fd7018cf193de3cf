"""Measures the tables of docs/evidence/l4s.md and draws its figure. The scenarios are in docs/evidence/l4s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import altair as alt
import numpy as np
import polars as pl

import thalweg
from pages.draft_04 import DRAFT_04
from pages.made import DOCS, fill, made, row
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.figure import save
from thalweg.pages.figures.theme import BLUE, CONFIG, GREEN, VERMILION

TRIALS = 5
PAGE = DOCS / "evidence" / "l4s.md"
SCENARIOS = DOCS / "evidence" / "l4s"
CONTROLLERS = ("prague", "cubic", DRAFT_04)
QUEUES = {"dualpi2": "DualPI2", "codel": "CoDel", "fq-codel": "FQ-CoDel"}
PAIRS = (
    ("prague", "cubic"),
    ("prague", "prague"),
    ("cubic", "cubic"),
    (DRAFT_04, "cubic"),
    (DRAFT_04, DRAFT_04),
)
SUCCESSOR = (("c4", "cubic"), ("c4", "c4"))
STUCK_TRIALS = 20
STUCK_BPS = 1.3e6
"""Between two and three packets each round trip of 20 ms: 1.1 and 1.7 Mbps."""
STUCK: tuple[tuple[str, dict[str, str]], ...] = (
    ("the RFCs", {}),
    ("the RFCs, the QUIC stack", {"flow.*.stack": "quic"}),
    ("the RFCs, each packet acknowledged", {"transport.ack_every": "1"}),
    ("the RFCs, acknowledgements wait 5 ms", {"transport.max_ack_delay": "5 ms"}),
    ("picoquic", {"transport.rules": "picoquic"}),
)
_PICOQUIC = {"transport.rules": "picoquic"}
SETTINGS: tuple[tuple[str, dict[str, str]], ...] = (
    ("DualPI2", {}),
    ("DualPI2 with a step of 20 ms", {"path.queue.step": "20 ms"}),
    ("DualPI2 without its PI controller", {"path.queue.target": "5 s"}),
    ("drop-tail, 200 ms", {"path.queue.model": "drop-tail", "path.buffer": "200 ms"}),
)
"""What C4 does alone by the rules of picoquic."""
BESIDE_TRIALS = 20
BESIDE: tuple[tuple[str, dict[str, str]], ...] = (
    ("as above", {}),
    ("a buffer of 1 BDP", {"path.buffer": "1 bdp"}),
    ("20 Mbps, 40 ms", {"path.rate": "20 Mbps", "path.rtt": "40 ms"}),
)
"""What C4 has against CUBIC over DualPI2."""
TWINS: tuple[tuple[str, dict[str, str]], ...] = (("the RFCs", {}), ("picoquic", _PICOQUIC))
FALLBACK = (
    ("prague:classic_fallback=on", "cubic"),
    ("prague:classic_fallback=on,loss=cubic", "cubic"),
)


def scenario(name: str, queue: str, **controllers: str) -> thalweg.Scenario:
    """A scenario with another queue and other controllers."""
    return thalweg.Scenario.load(
        str(SCENARIOS / f"{name}.toml"), overrides={"path.queue.model": queue}, controllers=controllers
    )


def one_flow(queue: str, controller: str) -> str:
    """A line of the table of single flows."""
    outcomes = scenario("one-flow", queue, main=controller).trials(TRIALS)
    link = outcomes.links.filter(pl.col("link") == "down")
    marked = 100 * mean(link, "marked_packets") / mean(link, "delivered_packets")
    return row(
        controller,
        QUEUES[queue],
        percent(link, "utilisation", 1),
        f"{1e3 * median(outcomes.flows, 'mean_queue_delay_s'):.1f}",
        f"{marked:.2f} %",
        f"{median(link, 'dropped_packets'):.0f}",
    )


def two_flows(queue: str, first: str, second: str) -> str:
    """A line of the table of pairs, the first flow 5 s ahead."""
    flows = scenario("two-flows", queue, first=first, second=second).trials(TRIALS).flows
    by_name = [flows.filter(pl.col("flow") == name) for name in ("first", "second")]
    waits = [f"{1e3 * median(flow, 'mean_queue_delay_s'):.1f}" for flow in by_name]
    return row(first, second, QUEUES[queue], percent(by_name[0], "share", 0), *waits)


def stuck(rules: str, settings: dict[str, str], controller: str = DRAFT_04) -> str:
    """A line of the table of C4's trials that end, in their last ten seconds, at its least window."""
    settings = {"path.queue.model": "dualpi2", "sample": "10 s", **settings}
    scenario = thalweg.Scenario.load(
        str(SCENARIOS / "one-flow.toml"), overrides=settings, controllers={"main": controller}
    )
    outcomes = scenario.trials(STUCK_TRIALS)
    tens = [outcomes.series(trial, "main") for trial in range(STUCK_TRIALS)]
    ends = sum(8 * series.received[5] / series.every_s < STUCK_BPS for series in tens)
    return row(rules, percent(outcomes.links.filter(pl.col("link") == "down"), "utilisation", 1), str(ends))


def setting(what: str, settings: dict[str, str]) -> str:
    """A line of the table of settings."""
    keys = {"path.queue.model": "dualpi2", **_PICOQUIC, **settings}
    one = thalweg.Scenario.load(str(SCENARIOS / "one-flow.toml"), keys, controllers={"main": DRAFT_04})
    outcomes = one.trials(TRIALS)
    rate, delay_s = (median(outcomes.flows, column) for column in ("mean_rate_bps", "mean_queue_delay_s"))
    used = percent(outcomes.links.filter(link="down"), "utilisation", 1)
    return row(what, used, f"{rate / 1e6:.1f}", f"{1e3 * delay_s:.1f}")


def beside(what: str, settings: dict[str, str]) -> str:
    """A line of the table of C4 against CUBIC."""
    keys = {"path.queue.model": "dualpi2", **settings}
    flows = _two(keys, DRAFT_04, "cubic").trials(BESIDE_TRIALS).flows
    return row(what, percent(flows.filter(flow="first"), "share", 0))


def twins(rules: str, settings: dict[str, str]) -> str:
    """A line of the table of two C4 flows behind CoDel."""
    flows = _two({"path.queue.model": "codel", **settings}, DRAFT_04, DRAFT_04).trials(TRIALS).flows
    waits = (f"{1e3 * median(flows.filter(flow=name), 'mean_queue_delay_s'):.1f}" for name in ("first", "second"))
    return row(rules, *waits)


def _two(keys: dict[str, str], first: str, second: str) -> thalweg.Scenario:
    return thalweg.Scenario.load(
        str(SCENARIOS / "two-flows.toml"), keys, controllers={"first": first, "second": second}
    )


def percent(table: pl.DataFrame, column: str, digits: int) -> str:
    """The median of a column, and the least and the most where a trial is 2 % or more from it.

    A mean of trials that end in two ways is the number of no trial.
    """
    least, middle, most = (f"{100 * value:.{digits}f}" for value in np.quantile(table[column], (0, 0.5, 1)))
    varies = max(float(most) - float(middle), float(middle) - float(least)) >= 2
    return f"{middle} % ({least} to {most})" if varies else f"{middle} %"


def median(table: pl.DataFrame, column: str) -> float:
    """The median of a column."""
    return float(np.median(table[column].to_numpy()))


def mean(table: pl.DataFrame, column: str) -> float:
    """The mean of a column."""
    return float(table[column].to_numpy().mean())


Part = tuple[str, Callable[[], str]]


def single(controllers: Sequence[str] = CONTROLLERS) -> list[Part]:
    """The lines of a table of single flows; over FQ-CoDel, one flow is as over CoDel."""
    return [
        (f"{controller} over {queue}", partial(one_flow, queue, controller))
        for queue in ("dualpi2", "codel")
        for controller in controllers
    ]


def pairs(chosen: Sequence[tuple[str, str]]) -> list[Part]:
    """The lines of a table of pairs."""
    return [
        (f"{first} and {second} over {queue}", partial(two_flows, queue, first, second))
        for queue in QUEUES
        for first, second in chosen
    ]


def ends(controller: str = DRAFT_04) -> list[Part]:
    """The lines of that table."""
    return [
        (f"{controller} by the rules of {rules}", partial(stuck, rules, settings, controller))
        for rules, settings in STUCK
    ]


def parts() -> list[Part]:
    """All lines, by what they are about."""
    return [
        *single(),
        *single(["c4"]),
        *ends(),
        *ends("c4"),
        *pairs(PAIRS),
        *pairs(SUCCESSOR),
        *pairs(FALLBACK),
    ]


def settings_parts() -> list[Part]:
    """The lines of the tables of settings."""
    return [
        *((f"C4 alone: {what}", partial(setting, what, keys)) for what, keys in SETTINGS),
        *((f"C4 against CUBIC: {what}", partial(beside, what, keys)) for what, keys in BESIDE),
        *((f"two C4 flows by the rules of {what}", partial(twins, what, keys)) for what, keys in TWINS),
    ]


def make_settings() -> None:
    """Measures the tables of settings."""
    for part, head, measure, chosen in (
        ("settings", ("C4 alone over", "utilisation", "rate, Mbps", "queue delay, ms"), setting, SETTINGS),
        ("share", ("C4 against CUBIC over DualPI2", f"share of C4, {BESIDE_TRIALS} trials"), beside, BESIDE),
        ("twins", ("rules", "queue delay of the first C4, ms", "of the second"), twins, TWINS),
    ):
        marks = [":--", *["--:"] * (len(head) - 1)]
        fill(PAGE, part, "\n".join([row(*head), row(*marks), *(measure(what, keys) for what, keys in chosen)]))
    fill(PAGE, "settings made", made("l4s-settings"))


def queue_delay(name: str, queue: str, controller: str, span_s: tuple[float, float], bin_s: float) -> pl.DataFrame:
    """Queue delay of the bottleneck over time, in bins."""
    controllers = {flow["name"]: controller for flow in scenario(name, queue).flows}
    trace = scenario(name, queue, **controllers).run(seed=1, trace=True).trace
    assert trace is not None
    down = trace.links.filter((pl.col("link") == "down") & pl.col("time_s").is_between(*span_s))
    bins = (down["time_s"].to_numpy() // bin_s) * bin_s
    return (
        pl.DataFrame({"time_s": bins, "delay_ms": 1e3 * down["queue_delay_s"].to_numpy()})
        .group_by("time_s")
        .mean()
        .sort("time_s")
        .with_columns(pl.lit(controller).alias("controller"))
    )


def panel(title: str, data: pl.DataFrame, scale: alt.Scale) -> alt.Chart:
    """One panel of the figure."""
    colour = alt.Scale(domain=list(CONTROLLERS), range=[BLUE, GREEN, VERMILION])
    chart: alt.Chart = (
        alt.Chart(rows(data), title=title, width=380, height=240)
        .mark_line(strokeWidth=1.4)
        .encode(
            x=alt.X("time_s:Q", title="time (s)", scale=alt.Scale(nice=False)),
            y=alt.Y("delay_ms:Q", title="queue delay (ms)", scale=scale),
            color=alt.Color("controller:N", title=None, scale=colour),
        )
    )
    return chart


def figure() -> None:
    """Queue delay over time: one flow over DualPI2, two flows behind CoDel."""
    alone = pl.concat([queue_delay("one-flow", "dualpi2", name, (10, 14), 0.02) for name in CONTROLLERS])
    twins = pl.concat([queue_delay("two-flows", "codel", name, (0, 60), 0.25) for name in CONTROLLERS])
    twins = twins.with_columns(pl.col("delay_ms").clip(lower_bound=0.1))
    left = panel("One flow over DualPI2", alone, alt.Scale())
    log = alt.Scale(type="log", domain=[0.1, float(np.ceil(twins["delay_ms"].to_numpy().max()))])
    right = panel("Two flows of one controller behind CoDel, the second from 5 s", twins, log)
    save(alt.hconcat(left, right).resolve_scale(color="shared").configure(**CONFIG), DOCS / "images" / "l4s.svg")


def make() -> None:
    """Measures the tables and draws the figure."""
    one_head = ("one flow", "over", "utilisation", "queue delay, ms", "marked", "dropped packets")
    stuck_head = ("rules", "utilisation", f"of {STUCK_TRIALS} trials end below 1.3 Mbps")
    two_head = ("first flow", "second", "queue", "share of the first", "its queue delay, ms", "of the second")
    for part, head, words, lines in (
        ("one flow", one_head, 2, single()),
        ("stuck", stuck_head, 1, ends()),
        ("two flows", two_head, 3, pairs(PAIRS)),
        ("fallback", two_head, 3, pairs(FALLBACK)),
        ("successor alone", one_head, 2, single(["c4"])),
        ("successor ends", stuck_head, 1, ends("c4")),
        ("successor in pairs", two_head, 3, pairs(SUCCESSOR)),
    ):
        marks = [":--"] * words + ["--:"] * (len(head) - words)
        fill(PAGE, part, "\n".join([row(*head), row(*marks), *(line() for _, line in lines)]))
    figure()
    fill(PAGE, "commit", made("l4s"))
