"""The tables of `transient` for people."""

from __future__ import annotations

from thalweg.experiments.studies.runner.result import Row, StudyResult
from thalweg.experiments.studies.runner.table import told
from thalweg.experiments.studies.transient.fit import CLASSES
from thalweg.experiments.studies.transient.series import StepReaction

REACTION = (
    "buffer",
    "controller",
    "step",
    "converged",
    "area",
    "p95",
    "overshoot",
    "undershoot",
    "settled",
    "net",
    "lost",
    "reaction",
    "p95",
    "level",
    "as coded",
)
DAMPING = ("ratio", "frequency", "R2", "undamped", "under", "critical", "over", "no such")
WORDS = 3
"""The first columns hold words, the others numbers."""
HEADERS = (*REACTION, *DAMPING)
"""Of both tables in one."""
LEGEND = (
    "Medians of the trials. Area: the Normalized Area, mean gap to the available bandwidth until the "
    "convergence point over the change of the bandwidth; it is overshoot (sent above what was available) plus "
    "undershoot (not delivered of it). Settled: the part of this gap that stays from the convergence point on; "
    "net: the area less that part. A trial that did not converge is worse than all that did. Lost: the "
    "area before it is divided by the reaction time. Level: what was delivered when steady, of what was "
    "available. As coded: the number of the authors' tool, gap in equivalents of 12 Mbps. Ratio, frequency "
    "(radians a second), R2: the fitted second-order response of what was sent; ratio and frequency are "
    "medians of the trials that have a damping class; then in how many trials it is undamped, under-damped, "
    "critically damped, over-damped, or explains less than half of the variance."
)


def table_rows(result: StudyResult) -> list[list[str]]:
    """One line for each row, under HEADERS."""
    pairs = zip(reaction_rows(result), damping_rows(result), strict=True)
    return [[*reaction, *damping[WORDS:]] for reaction, damping in pairs]


def reaction_rows(result: StudyResult) -> list[list[str]]:
    """How fast and how well, under REACTION."""
    return [
        [
            *_name(row),
            f"{row['converged']} of {row['n']}",
            _number(row, "area_median"),
            _number(row, "area_p95"),
            _number(row, "overshoot"),
            _number(row, "undershoot"),
            _number(row, "settled"),
            _number(row, "net_median"),
            _number(row, "lost_s", "s"),
            _number(row, "reaction_median_s", "s"),
            _number(row, "reaction_p95_s", "s"),
            _number(row, "level"),
            _number(row, "as_coded_median"),
        ]
        for row in result.rows
    ]


def damping_rows(result: StudyResult) -> list[list[str]]:
    """The form of the reaction, under the names of a row and DAMPING."""
    return [
        [
            *_name(row),
            _number(row, "damping_ratio"),
            _number(row, "natural_frequency"),
            _number(row, "fit_quality"),
            *(str(row[column(name)]) for name in CLASSES),
        ]
        for row in result.rows
    ]


def column(damping_class: str) -> str:
    """The column of a damping class.

    >>> column("critically damped")
    'critically_damped'
    """
    return damping_class.replace(" ", "_").replace("-", "_")


def _name(row: Row) -> list[str]:
    return [str(row[name]) for name in ("buffer", "controller", "step")]


def _number(row: Row, name: str, unit: str = "") -> str:
    return "no end" if row[name] == float("inf") else told(row, name, unit, 3)


FINDINGS = {"by other numbers": "name", "measured": "measured", "here": "answer", "why": "reason"}
"""What the poster says by other numbers, and whether they say the same: header -> part of a finding."""

SERIES = (
    "step",
    "converged",
    "area",
    "overshoot",
    "undershoot",
    "settled",
    "net",
    "lost",
    "reaction",
    "level",
    "damping",
    "ratio",
    "frequency",
    "R2",
)


def series_row(reaction: StepReaction) -> Row:
    """One step of a measurement of one's own, as plain data."""
    reactions, fit = reaction.reactions, reaction.fit
    return {
        "step_s": reaction.at_s,
        "converged": int(reactions.converged[0]),
        "area": float(reactions.area[0]),
        "overshoot": float(reactions.overshoot[0]),
        "undershoot": float(reactions.undershoot[0]),
        "settled": _known(reactions.settled[0]),
        "net": _known(reactions.net[0]),
        "lost_s": float(reactions.lost[0]),
        "reaction_s": float(reactions.reaction_s[0]),
        "level": float(reactions.level[0]),
        "damping": fit.classes[0],
        "damping_ratio": _known(fit.damping[0]),
        "natural_frequency": _known(fit.frequency[0]),
        "fit_quality": _known(fit.quality[0]),
    }


def _known(value: float) -> float | None:
    return float(value) if value == value else None  # noqa: PLR0124 - nan is not itself


def series_line(row: Row) -> list[str]:
    """A step of a measurement under SERIES."""
    return [
        _number(row, "step_s", "s"),
        "yes" if row["converged"] else "did not converge",
        *(_number(row, name) for name in ("area", "overshoot", "undershoot", "settled", "net")),
        _number(row, "lost_s", "s"),
        _number(row, "reaction_s", "s"),
        _number(row, "level"),
        str(row["damping"]),
        *(_number(row, name) for name in ("damping_ratio", "natural_frequency", "fit_quality")),
    ]
