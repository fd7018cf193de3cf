"""The parameters of `harm` in two blocks, of the test and of the short flows, as ccafct prints them."""

from __future__ import annotations

import math

from thalweg.base.quantity import seconds, size, text
from thalweg.experiments.studies.harm.parameters import Parameters, path_buffer

Blocks = dict[str, dict[str, str]]
"""Title of a block -> name of a parameter -> its value in words."""

_Z95 = 1.645
"""95th percentile of the standard normal distribution, as ccafct and the arrivals of our scenarios have it."""


def mean_length(p5: float, p95: float) -> float:
    """Mean of the log-normal distribution with these percentiles, in bytes: exp(mu + sigma^2 / 2).

    >>> round(mean_length(65536, 2097152))
    645683
    """
    mu = (math.log(p5) + math.log(p95)) / 2
    sigma = (math.log(p95) - math.log(p5)) / (2 * _Z95)
    return math.exp(mu + sigma**2 / 2)


def parameter_blocks(of: Parameters) -> Blocks:
    """The parameters, with the names of ccafct's sample output. Estimated bandwidth: mean length over mean gap.

    >>> parameter_blocks(Parameters())["Short flow workload"]["estimated bandwidth"]
    '25.83 Mbps'
    """
    p5, p95, gap = size(of.p5, "--p5"), size(of.p95, "--p95"), seconds(of.mean_gap, "--mean-gap")
    mean = mean_length(p5, p95)
    return {
        "Test": {
            "controllers under test": ", ".join(of.competitors),
            "RTTs": ", ".join(of.rtts),
            "bandwidth": of.rate,
            "queue": of.queue,
            "buffer": path_buffer(of),
            "slow start delay": of.head_start,
        },
        "Short flow workload": {
            "controller": ", ".join(of.controllers),
            "duration": text(of.count * gap, "s"),
            "flows": str(of.count),
            "mean arrival time": of.mean_gap,
            "gaps": of.gap,
            "estimated bandwidth": text(8 * mean / gap, "bps") if gap else "-",
            "flow lengths": f"P5 {p5} B, mean {mean:.0f} B, P95 {p95} B",
            "time limit": of.time_limit,
        },
    }
