"""The behaviour required of queue disciplines: CoDel, FQ-CoDel, PIE and DualPI2.

Probabilities are not in outcomes or traces. They are counted: drops and marks against packets sent, from when
the start is over. Queues are played with the modelled endpoint, and where senders matter with the real stack
too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from thalweg.engine.scenario_text import nanoseconds, scenario_text
from thalweg.engine.trace import Trace
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord, around
from thalweg.experiments.studies.laws.scenarios import bulk, header, path
from thalweg.experiments.studies.laws.window_law import RENO, RENO_RANDOM
from thalweg.judging.statistics.interval import Values

_RATE_BPS = 100e6
_STEADY_S = 5.0
"""From then on queues and flows are in their steady state."""
INTERVAL_S = 0.1
"""CoDel's INTERVAL, RFC 8289 section 4.2."""
_TARGET_S = 0.015
"""QDELAY_REF of PIE, RFC 8033 section 4.2."""
_K = 2.0
"""The coupling factor of DualPI2, RFC 9332 appendix A.1."""


def codel(trials: int) -> Experiment:
    """CoDel under unresponsive overload: many short downloads, 1.3 times the capacity."""
    length_s, size = 2.0, 100_000
    gap_s = size * 8 / (_RATE_BPS * 1.3)
    requests = {
        "count": math.ceil(length_s / gap_s),
        "mean_gap": nanoseconds(gap_s),
        "gap": "constant",
        "p5": f"{size} B",
        "p95": f"{size} B",
    }
    load = {"name": "load", "controller": "reno:ecn=off", "background": True, "requests": requests}
    keys = header("codel", length_s, 0.02) | path(_RATE_BPS, 0.02, "100 MB", "codel") | {"flow": [load]}

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        drops = record.trace.drops.filter((pl.col("link") == "down") & (pl.col("reason") == "aqm"))
        scaled = scaled_gaps(drops["time_s"].to_numpy())
        return {"mean": float(scaled.mean()), "first": float(scaled[:10].mean())}

    def quantity(case: str, arithmetic: str) -> Quantity:
        source = "RFC 8289 sections 3.3 and 5.6"
        return Quantity("drop spacing", source, "codel", "model", case, *around(1.0, 0.05), "", arithmetic)

    quantities = {
        "mean": quantity("all gaps", "mean over the episode of gap sqrt(count) / INTERVAL"),
        "first": quantity("first ten", "the same of the first ten gaps, 100 ms, 70.7 ms, 57.7 ms, ..."),
    }
    return Experiment("codel", scenario_text(keys), trials, True, numbers, quantities)


def scaled_gaps(drops_s: Values) -> Values:
    """Gaps between the drops of a first episode, each times sqrt(count) / INTERVAL: all 1 by the control law.

    >>> scaled_gaps(np.array([0.0, 0.1, 0.1 + 0.1 / 2**0.5])).round(6).tolist()
    [1.0, 1.0]
    """
    gaps = np.diff(drops_s)
    scaled: Values = gaps * np.sqrt(np.arange(1, len(gaps) + 1)) / INTERVAL_S
    return scaled


def pie(flows: int, stack: str, trials: int, length_s: float) -> Experiment:
    """PIE with long Reno flows: its delay, and the probability that Reno's law requires."""
    rtt_s = 0.02
    name = f"pie-{flows}-{stack}"
    senders = [bulk(f"c{number}", "reno", stack) for number in range(flows)]
    keys = header(name, length_s, rtt_s) | path(_RATE_BPS, rtt_s, "1 s", "pie") | {"flow": senders}

    def numbers(record: TrialRecord) -> dict[str, float]:
        assert record.trace is not None
        delay_s = mean_delay(record.trace.links, _STEADY_S)
        sent = count(record.trace, "c", _STEADY_S)
        window = sent / (length_s - _STEADY_S) / flows * (rtt_s + delay_s)
        share = _drops(record.trace, _STEADY_S) / sent
        return {"delay": delay_s, "constant": window * math.sqrt(share)}

    case = f"{flows} Reno flows"
    quantities = {
        "delay": Quantity(
            "queue delay",
            "RFC 8033 section 4.2: QDELAY_REF 15 ms",
            "pie",
            stack,
            case,
            *around(_TARGET_S, 0.1),
            "s",
            "an integral controller leaves no error: 15 ms, +-10 %",
        ),
        "constant": Quantity(
            "probability",
            "RFC 8033 section 4.2; RFC 5348 section 3.1",
            "pie",
            stack,
            case,
            (RENO + RENO_RANDOM) / 2,
            0.9 * RENO,
            1.1 * RENO_RANDOM,
            "",
            f"sqrt(p) times the window, between periodic {RENO:.2f} and random {RENO_RANDOM:.2f} loss, +-10 %",
        ),
    }
    return Experiment(name, scenario_text(keys), trials, True, numbers, quantities)


def dualpi2(flows: int, stack: str, trials: int, length_s: float) -> Experiment:
    """DualPI2 with as many Reno flows without ECN as Prague flows: drops are Classic, marks are L4S."""
    rtt_s = 0.04
    name = f"dualpi2-{flows}-{stack}"
    classic = [bulk(f"c{number}", "reno:ecn=off", stack) for number in range(flows)]
    l4s = [bulk(f"l{number}", "prague", stack) for number in range(flows)]
    keys = header(name, length_s, rtt_s) | path(_RATE_BPS, rtt_s, "1 s", "dualpi2") | {"flow": classic + l4s}

    def numbers(record: TrialRecord) -> dict[str, float]:
        trace = record.trace
        assert trace is not None
        sent_c, sent_l = count(trace, "c", _STEADY_S), count(trace, "l", _STEADY_S)
        p_c, p_cl = _drops(trace, _STEADY_S) / sent_c, _marks(trace, _STEADY_S) / sent_l
        delay = record.outcomes.flows
        rtts = {
            kind: float(delay.filter(pl.col("flow").str.starts_with(kind))["mean_rtt_s"].to_numpy().mean())
            for kind in "cl"
        }
        # W_L = 2 / p_CL, W_C = sqrt(3/2) / sqrt(p_C); rates are windows over RTTs.
        predicted = (2 / p_cl / rtts["l"]) / (RENO / math.sqrt(p_c) / rtts["c"])
        return {"coupling": p_cl / (_K * math.sqrt(p_c)), "balance": sent_l / sent_c / predicted}

    # After an answer Prague waits for the next mark: x = W p_CL marks a round trip, one answer in 1 + 1/x of
    # them, so that x = 2 (1 + 1/x), x = 1 + sqrt(3), at the most, and 2 with a mark always at hand.
    most = (1 + math.sqrt(3)) / 2
    case = f"{flows} + {flows} flows"
    quantities = {
        "coupling": Quantity(
            "coupling",
            "RFC 9332 section 2.1: p_C = p'^2, p_CL = k p'",
            "dualpi2",
            stack,
            case,
            *around(1.0, 0.05),
            "",
            "share of marks over 2 sqrt(share of drops): k p' / (k sqrt(p'^2)) = 1, +-5 %",
        ),
        "balance": Quantity(
            "balance",
            "RFC 9332 section 2.1; draft-briscoe-iccrg-prague-congestion-control-04",
            "dualpi2",
            stack,
            case,
            (1 + most) / 2,
            0.9,
            1.1 * most,
            "",
            f"L4S over Classic rate by (2 / p_CL / R_L) / (1.22 / sqrt(p_C) / R_C): 1 to {most:.2f}, +-10 %",
        ),
    }
    return Experiment(name, scenario_text(keys), trials, True, numbers, quantities)


def fq_codel(controllers: Sequence[str], stack: str, trials: int, length_s: float) -> Experiment:
    """FQ-CoDel under one flow of each controller, all always backlogged: the RTT equals CoDel's target."""
    rtt_s, sample_s = 0.005, 0.1
    name = f"fq-codel-{stack}"
    senders = [bulk(controller, controller, stack) for controller in controllers]
    keys = header(name, length_s, rtt_s, sample_s) | path(_RATE_BPS, rtt_s, "1 s", "fq-codel") | {"flow": senders}
    first = round(length_s / 2 / sample_s)

    def numbers(record: TrialRecord) -> dict[str, float]:
        got = np.array(
            [record.outcomes.series(record.index, controller).received[first:].sum() for controller in controllers]
        )
        shares = got / got.sum() * len(controllers)
        return {"least": float(shares.min()), "most": float(shares.max())}

    arithmetic = "backlogged flows have equal turns: 1 / n of what leaves, +-5 %"
    source, bounds = "RFC 8290 section 4.2", around(1.0, 0.05)
    quantities = {
        name: Quantity("fair shares", source, "fq-codel", stack, f"the {name}", *bounds, "", arithmetic)
        for name in ("least", "most")
    }
    return Experiment(name, scenario_text(keys), trials, False, numbers, quantities)


def experiments(
    controllers: Sequence[str], stacks: Sequence[str], trials: int, length_s: float
) -> Iterator[Experiment]:
    """All of them."""
    yield codel(trials)
    for stack in stacks:
        yield pie(10, stack, trials, length_s)
        yield dualpi2(10, stack, trials, length_s)
        yield fq_codel(controllers, stack, trials, length_s)


def mean_delay(links: pl.DataFrame, begin_s: float) -> float:
    """The mean over time of the delay of the queue of the data."""
    late = links.filter((pl.col("link") == "down") & (pl.col("time_s") >= begin_s))
    time_s, delay = late["time_s"].to_numpy(), late["queue_delay_s"].to_numpy()
    spans = np.diff(time_s)
    return float((delay[:-1] * spans).sum() / spans.sum())


def count(trace: Trace, kind: str, begin_s: float) -> int:
    """Packets that flows whose name begins with `kind` send from `begin_s` on."""
    packets = trace.packets
    late = (pl.col("event") == "sent") & (pl.col("time_s") >= begin_s) & pl.col("flow").str.starts_with(kind)
    return packets.filter(late).height


def _drops(trace: Trace, begin_s: float) -> int:
    drops = trace.drops
    return drops.filter(
        (pl.col("link") == "down") & (pl.col("reason") == "aqm") & (pl.col("time_s") >= begin_s)
    ).height


def _marks(trace: Trace, begin_s: float) -> int:
    marks = trace.links.filter((pl.col("link") == "down") & (pl.col("time_s") >= begin_s))["marked_packets"]
    return int(marks[-1]) - int(marks[0])
