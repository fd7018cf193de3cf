"""Published harm to flow completion times: the sample output of ccafct.

ccafct ran Linux TCP through network namespaces: short CUBIC flows alone, and with one long flow of CUBIC or
Prague, through `fq_codel flows 1` at 50 Mbps. One run for each line, with the same arrivals and lengths in all.
"""

from __future__ import annotations

from dataclasses import dataclass

CCAFCT = "ccafct, README.md, Sample Output"
CONTROLLER = "cubic"
"""The controller of the short flows."""


@dataclass(frozen=True)
class Line:
    """Times in seconds, in the order geometric mean, median, P95; harm is None for the flows alone."""

    geomean_s: float
    median_s: float
    p95_s: float
    geomean_harm: float | None = None
    median_harm: float | None = None
    p95_harm: float | None = None


LINES: dict[tuple[float, str | None], Line] = {
    (0.010, None): Line(0.1762, 0.1543, 1.0613),
    (0.010, "cubic"): Line(0.3393, 0.3149, 2.0027, 0.481, 0.510, 0.470),
    (0.010, "prague"): Line(1.1713, 1.1317, 7.3052, 0.850, 0.864, 0.855),
    (0.020, None): Line(0.2430, 0.2115, 1.1553),
    (0.020, "cubic"): Line(0.3766, 0.3517, 1.9860, 0.355, 0.399, 0.418),
    (0.020, "prague"): Line(1.3941, 1.3853, 8.4548, 0.826, 0.847, 0.863),
    (0.040, None): Line(0.3692, 0.3178, 1.6347),
    (0.040, "cubic"): Line(0.4757, 0.4239, 2.1799, 0.224, 0.250, 0.250),
    (0.040, "prague"): Line(1.6438, 1.6377, 9.8793, 0.775, 0.806, 0.835),
    (0.080, None): Line(0.5999, 0.5545, 2.1356),
    (0.080, "cubic"): Line(0.9067, 0.8469, 3.7094, 0.338, 0.345, 0.424),
    (0.080, "prague"): Line(2.3848, 2.2284, 12.1599, 0.748, 0.751, 0.824),
    (0.160, None): Line(0.9766, 0.9764, 3.4651),
    (0.160, "cubic"): Line(1.1277, 1.0432, 4.2078, 0.134, 0.064, 0.177),
    (0.160, "prague"): Line(2.4719, 2.1744, 14.4188, 0.605, 0.551, 0.760),
}
"""By round-trip time in seconds and competitor; None for the short flows alone."""
