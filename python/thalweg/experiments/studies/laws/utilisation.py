"""Utilisation of a single flow, over rates and round-trip times, with a buffer of one BDP.

The start is excluded: of a trial of T the second half counts, and T is 60 round trips or more (slow start needs
19 to double from 10 packets to the largest window here, HyStart++ and C4 more), at least 0.6 s (C4 measures
rates over 1 ms or more, so that its start takes some hundred milliseconds however short the path), and 12 s
where that is cheap, so that BBR's ProbeRTT, every 5 or 10 s, is in. On a path of less than the initial window
of RFC 9002 section 7.2 the buffer holds that window: a BDP of a fraction of a packet is not a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.base.quantity import text
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity, TrialRecord
from thalweg.experiments.studies.laws.scenarios import INITIAL_WINDOW, WIRE, bulk, header, path
from thalweg.experiments.studies.runner.parameters import file_name

LAW = "utilisation alone"
LEAST = 0.9
ROUNDS = 60
SHORTEST_S = 0.6
LONGEST_S = 12.0
CHEAP = 30_000
"""Packets of a trial up to which it is made longer than it has to be, by as much on both stacks."""
_BINS = 60
_FLOW = "main"
Point = tuple[float, float]
"""Rate in bits per second, RTT in seconds."""


def duration_s(point: Point) -> float:
    """How long a trial lasts.

    >>> duration_s((10e6, 0.01)), duration_s((1e9, 0.1))
    (12.0, 6.0)
    """
    rate_bps, rtt_s = point
    cheap_s = CHEAP * WIRE * 8 / rate_bps
    return max(ROUNDS * rtt_s, SHORTEST_S, min(LONGEST_S, cheap_s))


def packets(point: Point) -> float:
    """About as many as a trial sends."""
    return point[0] * duration_s(point) / 8 / WIRE


def experiments(
    points: Sequence[Point], controllers: Sequence[str], stacks: Sequence[str], trials: int
) -> Iterator[Experiment]:
    """Every controller by itself at every point on every stack."""
    for stack in stacks:
        for point in points:
            for controller in controllers:
                yield experiment(controller, stack, point, trials)


def experiment(controller: str, stack: str, point: Point, trials: int) -> Experiment:
    """One controller by itself on one path."""
    rate_bps, rtt_s = point
    length_s = duration_s(point)
    name = file_name("alone", controller, stack, text(rate_bps, "bps"), text(rtt_s, "s"))
    buffer = max(round(rate_bps * rtt_s / 8), INITIAL_WINDOW)

    def numbers(record: TrialRecord) -> dict[str, float]:
        received = record.outcomes.series(record.index, _FLOW).received[_BINS // 2 : _BINS].sum()
        return {"used": float(received / record.outcomes.capacity(record.index, "down")[_BINS // 2 : _BINS].sum())}

    least, (clause, arithmetic) = least_use(controller, rtt_s)
    used = Quantity(
        LAW,
        f"RFC 9743 section 5.1 (one algorithm alone); {clause}",
        controller,
        stack,
        f"{text(rate_bps, 'bps')}, {text(rtt_s, 's')}",
        expected=1.0,
        low=least,
        # A packet that began before the span counts whole.
        high=1 + WIRE * 8 / (rate_bps * length_s / 2),
        unit="%",
        arithmetic=arithmetic,
        always=True,
        compared=True,
    )
    keys = header(name, length_s, rtt_s, length_s / _BINS) | path(rate_bps, rtt_s, f"{buffer} B")
    keys |= {"flow": [bulk(_FLOW, controller, stack)]}
    return Experiment(name, scenario_text(keys), trials, False, numbers, {"used": used})


def least_use(controller: str, rtt_s: float) -> tuple[float, tuple[str, str]]:
    """The least utilisation that the documents allow for, its clause and its arithmetic.

    BBR empties the pipe on purpose, every 5 s down to half and every 10 s down to four packets, for 200 ms and
    a round trip, and needs up to another round trip until the pipe is full again. On long paths that is more
    than a tenth.

    >>> least_use("cubic", 0.6)[0], least_use("bbr", 0.01)[0], round(least_use("bbr1", 0.6)[0], 3)
    (0.9, 0.9, 0.877)
    """
    low_s = 0.2 + 2 * rtt_s
    if controller == "bbr":
        # Half of the BDP in flight; the pacing margin of 1 % (section 2.5) all the time.
        least = 0.99 * (1 - 0.5 * low_s / (5 + low_s))
        if least < LEAST:
            shown = f"0.99 (1 - 1/2 {low_s:.1f} / (5 + {low_s:.1f})) = {least:.1%}"
            return least, ("draft-ietf-ccwg-bbr-06 section 5.3.4", f"ProbeRTT: at least {shown}")
    if controller == "bbr1":
        least = 1 - low_s / (10 + low_s)
        if least < LEAST:
            shown = f"1 - {low_s:.1f} / (10 + {low_s:.1f}) = {least:.1%}"
            return least, (
                "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.5",
                f"ProbeRTT: at least {shown}",
            )
    return LEAST, ("the buffer is one BDP", f"at least {LEAST:.0%}, at most the capacity")
