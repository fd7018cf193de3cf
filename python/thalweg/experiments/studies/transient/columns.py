"""The columns of `transient`: of its rows, of every run, and of a measurement of one's own."""

from __future__ import annotations

from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.runner.table import Column, number_text
from thalweg.experiments.studies.transient.fit import CLASSES
from thalweg.experiments.studies.transient.measure import class_column


def endless(row: Row, key: str) -> str:
    """A number of a reaction, in seconds where its key says so; one that is infinite has no end."""
    unit = "s" if key.endswith("_s") else ""
    return "no end" if row[key] == float("inf") else number_text(row, key, unit, 3)


COLUMNS = (
    Column("buffer", "buffer", kind=str),
    Column("controller", "controller", kind=str),
    Column("step", "step", kind=str),
    Column("converged", "converged", kind=int, format=lambda row, key: f"{row[key]} of {row['n']}"),
    Column(
        "area_median",
        "area",
        meaning="the Normalized Area, mean gap to the available bandwidth until the convergence point over the "
        "change of the bandwidth; it is overshoot (sent above what was available) plus undershoot (not delivered "
        "of it)",
        format=endless,
    ),
    Column("area_p95", "p95", format=endless),
    Column("overshoot", "overshoot", format=endless),
    Column("undershoot", "undershoot", format=endless),
    Column(
        "settled",
        "settled",
        meaning="the part of this gap that stays from the convergence point on; net: the area less that part. A "
        "trial that did not converge is worse than all that did",
        format=endless,
    ),
    Column("net_median", "net", format=endless),
    Column("lost_s", "lost", "s", "the area before it is divided by the reaction time", format=endless),
    Column("reaction_median_s", "reaction", "s", format=endless),
    Column("reaction_p95_s", "p95", "s", format=endless),
    Column("level", "level", meaning="what was delivered when steady, of what was available", format=endless),
    Column(
        "as_coded_median",
        "as coded",
        meaning="the number of the authors' tool, gap in equivalents of 12 Mbps",
        format=endless,
    ),
    Column(
        "damping_ratio",
        "ratio",
        meaning="Ratio, frequency (radians a second), R2: the fitted second-order response of what was sent; "
        "ratio and frequency are medians of the trials that have a damping class; then in how many trials it is "
        "undamped, under-damped, critically damped, over-damped, or explains less than half of the variance",
        format=endless,
        table=1,
    ),
    Column("natural_frequency", "frequency", "rad/s", format=endless, table=1),
    Column("fit_quality", "R2", format=endless, table=1),
    *(
        Column(class_column(name), heading, kind=int, table=1)
        for name, heading in zip(CLASSES, ("undamped", "under", "critical", "over", "no such"), strict=True)
    ),
    Column("n", kind=int, meaning="trials"),
    Column("as_coded_converged", kind=int, meaning="trials in which the authors' tool found a steady point"),
)
"""Columns of a cell and step."""

_RUN_COLUMNS = (
    Column(
        "converged",
        "converged",
        kind=int,
        meaning="whether there is a convergence point",
        format=lambda row, key: "yes" if row[key] else "did not converge",
    ),
    Column("area", "area", meaning="the Normalized Area", format=endless),
    Column("overshoot", "overshoot", meaning="sent above what was available", format=endless),
    Column("undershoot", "undershoot", meaning="not delivered of what was available", format=endless),
    Column("settled", "settled", meaning="the gap from the convergence point on", format=endless),
    Column("net", "net", meaning="the area less the gap that stays", format=endless),
    Column("lost_s", "lost", "s", "the area before it is divided by the reaction time", format=endless),
    Column("reaction_s", "reaction", "s", "time from the step to the convergence point", format=endless),
    Column("level", "level", meaning="what was delivered when steady, of what was available", format=endless),
    Column("damping", "damping", kind=str, meaning="damping class of the fitted response"),
    Column("damping_ratio", "ratio", meaning="of the fitted response", format=endless),
    Column("natural_frequency", "frequency", "rad/s", "of the fitted response", format=endless),
    Column("fit_quality", "R2", meaning="part of the variance that the fitted response explains", format=endless),
)
SERIES_COLUMNS = (Column("step_s", "step", "s", format=endless), *_RUN_COLUMNS)
"""Columns of a step of a measurement."""
REACTION_COLUMNS = (
    *COLUMNS[:3],
    Column("trial", kind=int, meaning="number of the trial, from 0 on"),
    Column("seed", kind=int),
    *_RUN_COLUMNS,
    Column("dead_s", unit="s", meaning="dead time of the fitted response"),
    Column("as_coded", meaning="the number of the authors' tool"),
    Column("as_coded_converged", kind=int, meaning="whether the authors' tool found a steady point"),
)
"""Columns of every run, in `reactions.parquet`."""
